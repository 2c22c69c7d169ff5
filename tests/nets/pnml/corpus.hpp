#pragma once

#include "base/files.hpp"
#include "base/json.hpp"
#include "tests/skip.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// The nets of the Model Checking Contest with their published answers.
namespace pnml_corpus {

struct Case {
    std::string name;
    std::string xml;
    base::Json answer;
};

/// Empty when the corpus is absent, which is reported (tests/skip.hpp).
inline std::vector<Case> cases() {
    const auto folder = tests::corpus("pnml");
    if (!folder) return {};
    const auto answers_text = base::read_file(*folder / "answers.json", 1U << 20U);
    REQUIRE(answers_text);
    // Counts beyond 64 bits become doubles here: those nets are limit tests.
    const base::Json answers = base::Json::parse(*answers_text);
    std::vector<Case> found;
    for (const auto& [name, answer] : answers.items()) {
        auto xml = base::read_file(*folder / name, 64U << 20U);
        found.push_back({name, xml.value_or(""), answer});
    }
    return found;
}

}  // namespace pnml_corpus
