#include "base/files.hpp"
#include "base/json.hpp"
#include "nets/analysis/command.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace analysis = nets::analysis;

namespace {

struct Example {
    std::string expected;  ///< code of a finding
    std::string text;
    bool pnml = false;
};

/// The examples of docs/analysis.md: a code block after `<!-- expect: CODE -->`.
std::vector<Example> examples() {
    const auto path = std::filesystem::path(NETWRIGHT_SOURCE_DIR) / "docs" / "analysis.md";
    const auto text = base::read_file(path, 1U << 20U);
    REQUIRE(text);
    std::vector<Example> found;
    for (const bool pnml : {false, true}) {
        const std::string mark = pnml ? "<!-- expect-pnml: " : "<!-- expect: ";
        for (auto at = text->find(mark); at != std::string::npos; at = text->find(mark, at + 1)) {
            const auto code = at + mark.size();
            const auto begin = text->find('\n', text->find("```", code)) + 1;
            found.push_back(
                {.expected = text->substr(code, text->find(' ', code) - code),
                 .text = text->substr(begin, text->find("```", begin) - begin),
                 .pnml = pnml}
            );
        }
    }
    return found;
}

}  // namespace

TEST_CASE("each wrong net of docs/analysis.md gets the finding that it is there for") {
    const auto all = examples();
    CHECK(all.size() >= 7);
    for (const Example& example : all) {
        CAPTURE(example.expected);
        analysis::CheckRequest request{
            .format = example.pnml ? analysis::CheckRequest::Format::pnml
                                   : analysis::CheckRequest::Format::net,
            .text = example.text,
            .file = "example",
            .json = true
        };
        const auto output = analysis::run_check(request);
        CAPTURE(output.out);
        const auto report = base::Json::parse(output.out);
        REQUIRE(report.contains("findings"));
        const auto& findings = report["findings"];
        const auto at = std::ranges::find_if(findings, [&](const base::Json& finding) {
            return finding["code"] == example.expected;
        });
        REQUIRE(at != findings.end());
        if ((*at)["severity"] == "error") CHECK(output.negative);
        request.json = false;
        const auto told = analysis::run_check(request);
        CHECK(told.negative == output.negative);
        CHECK(told.out.find((*at)["message"].get<std::string>()) != std::string::npos);
    }
}
