#pragma once

#include "base/files.hpp"
#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

/// The nets of the Model Checking Contest with their published answers.
namespace pnml_corpus {

struct Case {
    std::string name;
    std::string xml;
    base::Json answer;
};

inline std::filesystem::path folder() {
    const char* const given = std::getenv("NETWRIGHT_CORPORA");
    const std::filesystem::path corpora =
        given != nullptr
            ? std::filesystem::path(given)
            : std::filesystem::path(NETWRIGHT_SOURCE_DIR) / ".." / "shared" / "corpora";
    return corpora / "pnml";
}

/// Empty, after a loud word, when the corpus is not there.
inline std::vector<Case> cases() {
    const auto answers_text = base::read_file(folder() / "answers.json", 1U << 20U);
    if (!answers_text) {
        std::cerr << "\n*** SKIPPED: no PNML corpus at " << folder()
                  << "; set NETWRIGHT_CORPORA to the folder that holds pnml/ ***\n\n";
        return {};
    }
    // Counts beyond 64 bits become doubles here: those nets are limit tests.
    const base::Json answers = base::Json::parse(*answers_text);
    std::vector<Case> found;
    for (const auto& [name, answer] : answers.items()) {
        auto xml = base::read_file(folder() / name, 64U << 20U);
        found.push_back({name, xml.value_or(""), answer});
    }
    return found;
}

}  // namespace pnml_corpus
