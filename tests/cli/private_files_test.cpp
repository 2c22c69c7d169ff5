#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <sys/stat.h>

using tests::cli::Json;
using tests::cli::Lab;

namespace {

namespace fs = std::filesystem;

unsigned mode_of(const fs::path& path) {
    struct stat status{};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    return status.st_mode & 0777U;
}

}  // namespace

TEST_CASE("no other user can read what a master writes, whatever its directory was") {
    Lab lab;
    fs::create_directory(lab.data());
    fs::permissions(lab.data(), fs::perms{0755});
    lab.start_master({"--with-executor"});
    lab.deploy(tests::cli::calling_net("calling", "noop"));
    lab.json({"case", "start", "calling", "--value", R"({"a": 1})", "--wait", "60s"});
    CHECK(mode_of(lab.data()) == 0700);
    CHECK(lab.diary("master").contains("had the mode 755"));
    for (const auto& entry : fs::recursive_directory_iterator(lab.data())) {
        // Only the executor's work folder has a mode of its own; nobody else can enter it.
        const auto name = entry.path().lexically_relative(lab.data());
        if (*name.begin() == "executor" && name != "executor") continue;
        CHECK_MESSAGE((mode_of(entry.path()) & 077U) == 0, name.string());
    }
    CHECK(mode_of(lab.data() / "executor") == 0700);
}

TEST_CASE("a directory that holds something else is not closed to other users, but refused") {
    Lab lab;
    fs::create_directory(lab.data());
    lab.write("netwright/notes.txt", "of somebody");
    fs::permissions(lab.data(), fs::perms{0755});
    CHECK(lab.launch_master().wait() != 0);
    CHECK(mode_of(lab.data()) == 0755);
    CHECK(lab.diary("master").contains("other users could read the log"));
    fs::permissions(lab.data(), fs::perms{0700});
    lab.start_master();
}

TEST_CASE("tool register uploads regular files of the tool's directory only, and lists the others"
) {
    Lab lab;
    lab.start_master();
    const auto tool =
        Json{{"id", "leak"}, {"name", "Leak"}, {"runtime", "sh"}, {"file", "tool.sh"}};
    lab.write("secret", "the key");
    const auto directory = lab.path("leak");
    const auto attempt = [&] { return lab.run({"tool", "register", directory.string()}); };
    fs::create_directory(directory);
    lab.write("leak/tool.json", tool.dump());
    const auto script = directory / "tool.sh";
    fs::create_symlink(lab.path("secret"), script);
    CHECK(attempt().exit == 2);
    fs::remove(script);
    // Opening it would wait for a writer.
    REQUIRE(::mkfifo(script.c_str(), 0600) == 0);
    const auto fifo = attempt();
    CHECK(fifo.exit == 2);
    CHECK(fifo.err.contains("not a regular file"));
    fs::remove(script);
    fs::create_directory_symlink(lab.path(""), directory / "sub");
    for (const char* outside : {"sub/secret", "../secret", "/etc/passwd"}) {
        auto other = tool;
        other["file"] = outside;
        lab.write("leak/tool.json", other.dump());
        CHECK_MESSAGE(attempt().exit == 2, outside);
    }
    fs::remove(directory / "sub");
    fs::remove(directory / "tool.json");
    lab.write("elsewhere.json", tool.dump());
    fs::create_symlink(lab.path("elsewhere.json"), directory / "tool.json");
    lab.write("leak/tool.sh", "cat");
    CHECK(attempt().exit == 2);
    fs::remove(directory / "tool.json");
    lab.write("leak/tool.json", tool.dump());
    lab.write("leak/lib.sh", "true");
    lab.write("leak/README.md", "# Leak");
    const auto good = attempt();
    CHECK(good.exit == 0);
    CHECK(good.err.contains("lib.sh"));
    CHECK_FALSE(good.err.contains("README.md"));
}

TEST_CASE("a tool's id is neither empty nor that of a built-in tool") {
    Lab lab;
    lab.start_master();
    for (const char* id : {"", "noop"}) {
        lab.write(
            "tool.json",
            Json{{"id", id}, {"name", "N"}, {"runtime", "sh"}, {"content", "cat"}}.dump()
        );
        const auto said = lab.run({"tool", "register", lab.path("tool.json").string()});
        CHECK_MESSAGE(said.exit == 3, said.out);
        CHECK(said.err.contains("/id"));
    }
}
