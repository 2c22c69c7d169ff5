#include "base/json_schema_suite.hpp"

#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <set>

namespace {

void run_draft(base::SchemaDraft draft, std::uint64_t cases_min) {
    const auto suite = tests::corpus("json-schema");
    if (!suite) return;
    const auto folder = *suite / base::name(draft);
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
