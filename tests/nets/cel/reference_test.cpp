#include "base/files.hpp"
#include "nets/cel/cel.hpp"
#include "nets/cel/functions.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace {

namespace cel = nets::cel;

std::string text_of(const std::filesystem::path& file) {
    auto text = base::read_file(file, 1U << 20U);
    REQUIRE(text);
    return std::move(*text);
}

/// The first two columns of the tables of docs/expressions.md: name and example.
std::map<std::string, std::string> documented() {
    std::istringstream lines(text_of(NETWRIGHT_SOURCE_DIR "/docs/expressions.md"));
    std::map<std::string, std::string> rows;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("## ")) inside = line == "## Functions" || line == "## Macros";
        if (!inside || !line.starts_with("| `")) continue;
        const auto name_end = line.find('`', 3);
        const auto example = line.find('`', name_end + 1) + 1;
        const auto example_end = line.find("` |", example);
        REQUIRE_MESSAGE(example_end != std::string::npos, line);
        rows[line.substr(3, name_end - 3)] = line.substr(example, example_end - example);
    }
    return rows;
}

bool registered(const std::string& name) {
    return !cel::overloads(name, false).empty() || !cel::overloads(name, true).empty();
}

/// Every name of a function that the sources of the functions spell out.
std::set<std::string> functions() {
    std::set<std::string> names;
    const auto folder = std::filesystem::path(NETWRIGHT_SOURCE_DIR) / "nets/cel";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (!entry.path().filename().string().starts_with("functions_")) continue;
        const auto text = text_of(entry.path());
        for (auto at = text.find('"'); at != std::string::npos; at = text.find('"', at + 1)) {
            const auto word = text.substr(at + 1, text.find('"', at + 1) - at - 1);
            if (registered(word)) names.insert(word);
        }
    }
    return names;
}

}  // namespace

TEST_CASE("docs/expressions.md lists every function, and nothing that does not exist") {
    const auto rows = documented();
    const auto all = functions();
    REQUIRE(all.size() > 50);
    for (const auto& name : all)
        CHECK_MESSAGE(rows.contains(name), name, " is not in docs/expressions.md");
    for (const auto& [name, example] : rows)
        CHECK_MESSAGE(example.contains(name), name, " is not in its own example");
}

TEST_CASE("every example of docs/expressions.md is true") {
    for (const auto& [name, example] : documented()) {
        CAPTURE(example);
        const auto program = cel::Program::compile(example, {});
        REQUIRE_MESSAGE(program, program.error().details.front().message);
        cel::Budget budget;
        const auto value = program->evaluate({}, budget);
        REQUIRE_MESSAGE(value, value.error().message);
        CHECK((value->is(cel::Kind::boolean) && value->as_boolean()));
    }
}
