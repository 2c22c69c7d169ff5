// kill -9 of a process that appends: what it said was durable is there.
#include "base/files.hpp"
#include "engine/audit.hpp"
#include "engine/committer.hpp"
#include "engine/rocks_log.hpp"
#include "tests/engine/log_records.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <random>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using engine::Seq;

namespace {

constexpr const char* folder_variable = "NETWRIGHT_TEST_LOG";
constexpr std::array models{"a", "b"};

/// One of these goes through the pipe for every completion: few enough bytes to be written whole.
struct Acknowledged {
    std::size_t model = 0;
    Seq seq = 0;
};

struct Child {
    pid_t pid = 0;
    base::FileDescriptor acknowledgements;
};

/// This very program, told to run the test case "(child) ..." below. Not a mere fork: a database's
/// threads would not be there in it.
Child start_child(const std::filesystem::path& folder) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    std::string program = "/proc/self/exe";
    std::string which = "--test-case=(child) appends until it is killed";
    std::string all = "--no-skip";
    const std::vector<char*> arguments{program.data(), which.data(), all.data(), nullptr};
    std::string variable = std::string(folder_variable) + "=" + folder.string();
    const std::vector<char*> environment{variable.data(), nullptr};
    Child child;
    const int failed = ::posix_spawn(
        &child.pid, program.c_str(), &actions, nullptr, arguments.data(), environment.data()
    );
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    REQUIRE(failed == 0);
    child.acknowledgements.reset(ends[0]);
    return child;
}

}  // namespace

TEST_CASE("(child) appends until it is killed" * doctest::skip()) {
    const char* const folder = std::getenv(folder_variable);
    if (folder == nullptr) return;
    auto log = engine::open_rocks_log(folder).value();
    engine::Committer committer(*log);
    const engine::CommitThread thread(committer);
    std::vector<engine::Committer::Opened> opened;
    std::vector<Seq> next;
    for (const char* const model : models) {
        opened.push_back(committer.open(model).value());
        next.push_back(opened.back().head.seq + 1);
    }
    for (std::size_t turn = 0;; ++turn) {
        const std::size_t m = turn % models.size();
        const std::size_t count = 1 + turn % 7;
        auto batch = engine::testing::records(next[m], count, opened[m].epoch);
        next[m] += count;
        const auto submitted =
            committer.submit(opened[m].lane, std::move(batch), [m](const base::Result<Seq>& seq) {
                const Acknowledged line{.model = m, .seq = seq.value()};
                if (::write(STDOUT_FILENO, &line, sizeof line) != sizeof line) ::_exit(0);
            });
        if (!submitted || *submitted == engine::Pressure::clear) continue;
        while (committer.pressure(opened[m].lane) == engine::Pressure::over_mark) {
            std::this_thread::yield();
        }
    }
}

TEST_CASE("what was acknowledged before kill -9 is there, again and again") {
    const base::TemporaryFolder folder;
    std::mt19937_64 random(11);
    std::array<Seq, models.size()> acknowledged{};
    for (int life = 0; life < 25; ++life) {
        CAPTURE(life);
        Child child = start_child(folder.path() / "log");
        std::size_t left = 1 + random() % 400;
        Acknowledged line;
        while (::read(child.acknowledgements.value(), &line, sizeof line) == sizeof line) {
            acknowledged[line.model] = std::max(acknowledged[line.model], line.seq);
            // Reads on after the kill: what stood in the pipe had been said.
            if (left > 0 && --left == 0) ::kill(child.pid, SIGKILL);
        }
        int status = 0;
        ::waitpid(child.pid, &status, 0);
        REQUIRE(WIFSIGNALED(status));
        auto log = engine::open_rocks_log(folder.path() / "log");
        REQUIRE_MESSAGE(log, (log ? "" : log.error().message));
        for (std::size_t m = 0; m < models.size(); ++m) {
            CHECK((*log)->head(models[m]).value().seq >= acknowledged[m]);
            CHECK((*log)->own(models[m]));
        }
    }
    auto log = engine::open_rocks_log(folder.path() / "log").value();
    for (const char* const model : models) {
        CHECK(log->head(model).value().seq > 25);
        CHECK(engine::verify(*log, model).value().ok());
    }
}
