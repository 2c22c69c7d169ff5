#include "engine/data_directory.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using engine::DataDirectory;

TEST_CASE("a data directory is made with its folders, for its owner only") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "data";
    const auto data = DataDirectory::open(path);
    REQUIRE(data);
    for (const auto& made : {data->log(), data->blobs(), data->snapshots()}) {
        CHECK(std::filesystem::is_directory(made));
    }
    CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms::owner_all);
    CHECK(data->admin_token_file() == path / "admin.token");
}

TEST_CASE("a second master refuses, naming the pid that holds the directory") {
    const base::TemporaryFolder folder;
    const auto data = DataDirectory::open(folder.path());
    REQUIRE(data);
    const auto second = DataDirectory::open(folder.path());
    REQUIRE_FALSE(second);
    CHECK(second.error().code == base::ErrorCode::conflict);
    CHECK(second.error().message.find(std::to_string(::getpid())) != std::string::npos);
}

TEST_CASE("a killed master's lock ends with it") {
    const base::TemporaryFolder folder;
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto held = DataDirectory::open(folder.path());
        const char byte = held ? '1' : '0';
        if (::write(ready[1], &byte, 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    CHECK(byte == '1');
    const auto refused = DataDirectory::open(folder.path());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.find(std::to_string(child)) != std::string::npos);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK(DataDirectory::open(folder.path()));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("a directory of a newer format is refused and left alone") {
    const base::TemporaryFolder folder;
    CHECK(DataDirectory::open(folder.path()));
    const auto format = folder.path() / "format";
    REQUIRE(base::write_file_atomically(format, "99\n"));
    const auto refused = DataDirectory::open(folder.path());
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == base::ErrorCode::unsupported);
    CHECK(refused.error().message.find("99") != std::string::npos);
    CHECK(base::read_file(format, 10).value() == "99\n");
}

TEST_CASE("a format that is no number, or is missing beside a log, is refused") {
    const base::TemporaryFolder folder;
    CHECK(DataDirectory::open(folder.path()));
    const auto format = folder.path() / "format";
    for (const char* const text : {"", "x", "1x", "0", "-1"}) {
        REQUIRE(base::write_file_atomically(format, text));
        CHECK_FALSE(DataDirectory::open(folder.path()));
    }
    std::filesystem::remove(format);
    CHECK_FALSE(DataDirectory::open(folder.path()));
}
