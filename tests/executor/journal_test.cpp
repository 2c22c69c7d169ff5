#include "executor/journal.hpp"

#include "base/files.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

jobs::LeaseRef ref(const std::string& id) {
    return {{id}, 5, "default", {{3}, 1}};
}

executor::FinishedJob finished(const std::string& text) {
    executor::FinishedJob finished;
    finished.outcome.standard_output.text = text;
    finished.outcome.standard_output.bytes_total = text.size();
    finished.outcome.standard_output.bytes_kept = text.size();
    finished.outcome.sandbox.backend = "bwrap";
    return finished;
}

}  // namespace

TEST_CASE("after a restart the journal tells results, lost leases, and nothing that was forgotten"
) {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "journal";
    {
        const auto journal = executor::Journal::open(path).value();
        CHECK(journal->started(ref("L1")));
        CHECK(journal->started(ref("L2")));
        CHECK(journal->started(ref("L3")));
        auto with_spool = finished("two\xFF");
        with_spool.stdout_spool = "/spool/L2.stdout";
        CHECK(journal->finished(ref("L2"), with_spool));
        CHECK(journal->finished(ref("L3"), finished("three")));
        CHECK(journal->forgotten({"L3"}));
    }
    const auto left = executor::Journal::open(path).value()->left();
    REQUIRE(left.lost.size() == 1);
    CHECK(left.lost[0] == ref("L1"));
    REQUIRE(left.results.size() == 1);
    CHECK(left.results[0].ref == ref("L2"));
    CHECK(left.results[0].finished.outcome == finished("two\xFF").outcome);
    CHECK(left.results[0].finished.stdout_spool == "/spool/L2.stdout");
}

TEST_CASE("a journal cut at any byte opens and loses at most the line that was cut") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "journal";
    {
        const auto journal = executor::Journal::open(path).value();
        CHECK(journal->started(ref("L1")));
        CHECK(journal->finished(ref("L1"), finished("one")));
    }
    const auto whole = base::read_file(path, 1 << 20U).value();
    const auto first_line = whole.find('\n') + 1;
    std::vector<std::size_t> sizes{
        0, 1, first_line - 1, first_line, first_line + 1, whole.size() - 1, whole.size()
    };
    for (std::size_t size = 2; size < whole.size(); size += 37)
        sizes.push_back(size);
    for (const auto size : sizes) {
        std::ofstream(path, std::ios::trunc) << whole.substr(0, size);
        const auto journal = executor::Journal::open(path);
        REQUIRE(journal);
        const auto left = (*journal)->left();
        CHECK(left.results.size() == (size == whole.size() ? 1 : 0));
        CHECK(left.lost.size() == (size >= first_line && size < whole.size() ? 1 : 0));
    }
}

TEST_CASE("damage that is no cut end is refused with the line") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "journal";
    std::ofstream(path) << "{\"event\":\"forgotten\",\"lease\":\"L1\"}\n{\"event\":\"eaten\"}\n";
    const auto journal = executor::Journal::open(path);
    REQUIRE_FALSE(journal);
    CHECK(journal.error().message.contains("line 2"));
    CHECK(journal.error().message.contains("'eaten' is not known"));
}

TEST_CASE("many threads write at once and nothing is lost") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "journal";
    constexpr int threads_count = 8;
    constexpr int each = 20;
    {
        const auto journal = executor::Journal::open(path).value();
        std::atomic<int> faults = 0;
        std::vector<std::thread> threads;
        for (int t = 0; t < threads_count; ++t) {
            threads.emplace_back([&, t] {
                for (int i = 0; i < each; ++i) {
                    const auto id = "L" + std::to_string(t) + "-" + std::to_string(i);
                    if (!journal->started(ref(id)) || !journal->finished(ref(id), finished(id)) ||
                        (i % 2 == 0 && !journal->forgotten({id}))) {
                        ++faults;
                    }
                }
            });
        }
        for (auto& thread : threads)
            thread.join();
        CHECK(faults == 0);
    }
    const auto left = executor::Journal::open(path).value()->left();
    CHECK(left.lost.empty());
    CHECK(left.results.size() == threads_count * each / 2);
}

TEST_CASE("a journal of results that are over is written anew and stays small") {
    const base::TemporaryFolder folder;
    const auto path = folder.path() / "journal";
    const auto journal = executor::Journal::open(path).value();
    CHECK(journal->started(ref("KEPT")));
    const std::string text(100'000, 'x');
    for (int i = 0; i < 100; ++i) {
        const auto id = "L" + std::to_string(i);
        CHECK(journal->finished(ref(id), finished(text)));
        CHECK(journal->forgotten({id}));
    }
    CHECK(std::filesystem::file_size(path) < 5'000'000);
    const auto left = executor::Journal::open(folder.path() / "journal").value()->left();
    CHECK(left.results.empty());
    CHECK(left.lost.size() == 1);
}
