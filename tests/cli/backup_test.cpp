#include "base/files.hpp"
#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <sys/stat.h>
#include <tuple>

using tests::cli::Json;
using tests::cli::Lab;
using tests::cli::text_of;

namespace {

namespace fs = std::filesystem;

Json small_net() {
    return {
        {"net", "small"},
        {"version", "1.0.0"},
        {"places", {{"in", Json::object()}, {"out", Json::object()}}},
        {"transitions", {{"go", {{"in", {{"x", "in"}}}, {"out", {{"out", "${x}"}}}}}}},
        {"start", "in"},
        {"end", {"out"}},
    };
}

void work(Lab& lab, int cases) {
    lab.deploy(small_net());
    for (int i = 0; i < cases; ++i)
        lab.json({"case", "start", "small", "--value", R"({"a": 1})", "--wait"});
}

unsigned mode_of(const fs::path& path) {
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 0777U;
}

/// Name -> content of every file below.
std::map<std::string, std::string> contents(const fs::path& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file())
            found[entry.path().lexically_relative(folder).string()] = text_of(entry.path());
    }
    return found;
}

/// Name -> size, inode, and when it was changed last, of everything below.
auto traces(const fs::path& folder) {
    std::map<std::string, std::tuple<off_t, ino_t, time_t, long>> found;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        struct stat status{};
        REQUIRE(::lstat(entry.path().c_str(), &status) == 0);
        found[entry.path().string()] = {
            status.st_size, status.st_ino, status.st_ctim.tv_sec, status.st_ctim.tv_nsec
        };
    }
    return found;
}

}  // namespace

TEST_CASE("a backup is a new file of mode 0600, and replaces one only with --force") {
    Lab lab;
    lab.start_master();
    work(lab, 1);
    const auto file = lab.path("b.tar.zst");
    CHECK(lab.run({"backup", file.string()}).exit == 0);
    CHECK(mode_of(file) == 0600);
    const auto first = text_of(file);
    const auto again = lab.run({"backup", file.string()});
    CHECK(again.exit == 2);
    CHECK(again.err.contains("--force"));
    CHECK(text_of(file) == first);
    lab.write("open", "public");
    fs::permissions(lab.path("open"), fs::perms{0666});
    CHECK(lab.run({"backup", lab.path("open").string(), "--force"}).exit == 0);
    CHECK(mode_of(lab.path("open")) == 0600);
    // A link that somebody laid there is not followed.
    fs::create_symlink(lab.path("elsewhere"), lab.path("link"));
    CHECK(lab.run({"backup", lab.path("link").string()}).exit == 2);
    CHECK_FALSE(fs::exists(lab.path("elsewhere")));
}

TEST_CASE("a backup with a flipped bit is refused, or restored exactly") {
    Lab lab;
    lab.start_master();
    work(lab, 3);
    const auto file = lab.path("b.tar.zst");
    REQUIRE(lab.run({"backup", file.string()}).exit == 0);
    REQUIRE(lab.run({"restore", file.string(), "--data", lab.path("good").string()}).exit == 0);
    const auto good = contents(lab.path("good"));
    CHECK(good.contains("log/heads"));
    CHECK_FALSE(good.contains("SHA256SUMS"));
    const auto bytes = text_of(file);
    std::mt19937_64 random(20261201);
    int refused = 0;
    constexpr int flips = 60;
    for (int i = 0; i < flips; ++i) {
        auto flipped = bytes;
        const auto bit = random() % (bytes.size() * 8);
        flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
        const auto archive = lab.write("flipped", flipped);
        const auto there = lab.path("there");
        const auto said = lab.run({"restore", archive, "--data", there.string()});
        if (said.exit == 0) {
            CHECK_MESSAGE(contents(there) == good, "bit ", bit);
        } else {
            ++refused;
            CHECK_MESSAGE(fs::is_empty(there), "bit ", bit, ": ", said.err);
        }
        fs::remove_all(there);
    }
    CHECK(refused > flips * 9 / 10);
    for (const std::size_t part : {bytes.size() - 1, bytes.size() / 2}) {
        const auto cut = lab.write("cut", bytes.substr(0, part));
        CHECK(lab.run({"restore", cut, "--data", lab.path("there").string()}).exit == 2);
    }
}

TEST_CASE("the backup of a running master has its heads, so a restored log that was cut is found") {
    Lab lab;
    lab.start_master();
    work(lab, 3);
    const auto restored = [&](const std::string& name) {
        const auto file = lab.path(name + ".tar.zst").string();
        const auto there = lab.path(name);
        REQUIRE(lab.run({"backup", file}).exit == 0);
        REQUIRE(lab.run({"restore", file, "--data", there.string()}).exit == 0);
        return there;
    };
    const auto early = restored("early");
    work(lab, 1);
    const auto late = restored("late");
    const std::vector<std::string> verify = {"audit", "verify", "--data", late.string()};
    CHECK(lab.run(verify).exit == 0);
    // As a MANIFEST that was cut: a sound log, which has lost its last records.
    fs::remove_all(late / "log" / "db");
    fs::rename(early / "log" / "db", late / "log" / "db");
    CHECK(lab.run(verify).exit == 1);
}

TEST_CASE("a master does not start where a restore has not finished") {
    Lab lab;
    fs::create_directories(lab.data() / "restoring");
    fs::permissions(lab.data(), fs::perms{0700});
    auto& master = lab.launch_master();
    CHECK(master.wait() != 0);
    CHECK(lab.diary("master").contains("restore"));
}

TEST_CASE("audit and backup change nothing in the directory of a stopped master") {
    Lab lab;
    lab.start_master();
    work(lab, 2);
    lab.stop_master();
    const auto before = traces(lab.data());
    const auto data = lab.data().string();
    CHECK(lab.run({"audit", "verify", "--state", "--data", data}).exit == 0);
    CHECK(lab.run({"backup", lab.path("b").string(), "--data", data}).exit == 0);
    CHECK(traces(lab.data()) == before);
}
