#include "nets/cel/conformance.hpp"

#include "base/files.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

// Cases that are allowed to fail, each with the reason. One that starts to pass has to go.
const std::map<std::string, std::set<std::string>>& known_failures() {
    static const std::map<std::string, std::set<std::string>> all = {};
    return all;
}

}  // namespace

TEST_CASE("the conformance cases of cel-spec pass") {
    const auto corpus = tests::corpus("cel");
    if (!corpus) return;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(*corpus)) {
        if (entry.path().extension() != ".json") continue;
        ++files;
        const std::string file = entry.path().filename().string();
        CAPTURE(file);
        const auto text = base::read_file(entry.path(), base::JsonLimits{}.bytes_max);
        REQUIRE(text);
        const auto cases = base::parse_json(*text);
        REQUIRE(cases);
        const auto result = nets::cel::run_cases(*cases);
        REQUIRE_MESSAGE(result, result.error().message);
        std::set<std::string> failed;
        const auto known = known_failures().find(file);
        for (const auto& failure : result->failures) {
            failed.insert(failure.name);
            if (known != known_failures().end() && known->second.contains(failure.name)) continue;
            FAIL_CHECK(
                failure.name << ": " << failure.expression << "\n  wanted " << failure.wanted
                             << "\n  got    " << failure.got
            );
        }
        if (known == known_failures().end()) continue;
        for (const std::string& name : known->second) {
            CHECK_MESSAGE(failed.contains(name), name << " passes now: take it off the list");
        }
    }
    CHECK(files >= 21);
}
