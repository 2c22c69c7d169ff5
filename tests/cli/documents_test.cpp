#include "tests/cli/binary.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

using tests::cli::project_file;
using tests::cli::words;

namespace {

struct Example {
    std::string where;
    std::vector<std::string> command;
};

/// Every line that calls `netwright` in the code blocks of a document.
void collect(const std::string& document, std::vector<Example>& examples) {
    std::istringstream lines(project_file(document));
    bool code = false;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (line.starts_with("```")) code = !code;
        if (!code) continue;
        auto parts = words(line.substr(0, line.find(" #")));
        if (parts.empty() || (parts[0] != "netwright" && !parts[0].ends_with("/netwright")))
            continue;
        parts.erase(parts.begin());
        examples.push_back({document + ":" + std::to_string(number), parts});
    }
}

/// What stands in backticks in the first column of the tables of docs/cli.md, save numbers.
void collect_tables(std::vector<Example>& examples) {
    const std::string document = "docs/cli.md";
    std::istringstream lines(project_file(document));
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        if (!line.starts_with("| `")) continue;
        const auto column = line.substr(0, line.find(" | "));
        for (auto at = column.find('`'); at != std::string::npos; at = column.find('`', at + 1)) {
            const auto end = column.find('`', at + 1);
            auto parts = words(column.substr(at + 1, end - at - 1));
            if (!parts.empty() && parts[0] == "netwright") parts.erase(parts.begin());
            examples.push_back({document + ":" + std::to_string(number), parts});
            at = end;
        }
    }
}

std::vector<Example> examples_in_documents() {
    namespace fs = std::filesystem;
    const fs::path root = NETWRIGHT_SOURCE_DIR;
    std::vector<Example> examples;
    collect("README.md", examples);
    collect_tables(examples);
    for (const auto* folder : {"docs", "nets/examples"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (entry.path().extension() != ".md") continue;
            collect(entry.path().lexically_relative(root).string(), examples);
        }
    }
    return examples;
}

}  // namespace

TEST_CASE("every command line shown in a document exists in the binary") {
    if (!tests::cli::binary_exists()) return;
    const auto examples = examples_in_documents();
    REQUIRE(examples.size() > 10);
    for (const auto& [where, command] : examples) {
        const auto unknown = tests::cli::unknown_parts(command);
        CHECK_MESSAGE(unknown.empty(), where, ": ", unknown.empty() ? "" : unknown[0]);
    }
}
