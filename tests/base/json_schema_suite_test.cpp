#include "base/json_schema_suite.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>

namespace {

std::filesystem::path corpus() {
    const char* given = std::getenv("NETWRIGHT_CORPORA");
    const std::filesystem::path root =
        given == nullptr ? std::filesystem::path(NETWRIGHT_SOURCE_DIR) / ".." / "shared" / "corpora"
                         : std::filesystem::path(given);
    return root / "json-schema";
}

void run_draft(base::SchemaDraft draft, std::uint64_t cases_min) {
    const auto folder = corpus() / base::name(draft);
    if (!std::filesystem::is_directory(folder)) {
        MESSAGE("SKIPPED: no JSON Schema test suite at " << folder.string());
        return;
    }
    std::uint64_t passed = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const auto report = base::run_schema_suite_file(entry.path(), {.draft = draft});
        if (!report) FAIL(report.error().message);
        passed += report->passed;
        for (const auto& failure : report->failures) {
            FAIL_CHECK(
                entry.path().filename().string()
                << ": " << failure.group << ": " << failure.test << ": " << failure.found
            );
        }
    }
    CHECK(passed >= cases_min);
}

}  // namespace

TEST_CASE("the official suite of 2020-12 passes") {
    run_draft(base::SchemaDraft::draft2020_12, 1029);
}

TEST_CASE("the official suite of draft-07 passes") {
    run_draft(base::SchemaDraft::draft7, 765);
}
