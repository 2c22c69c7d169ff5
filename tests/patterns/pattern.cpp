#include "tests/patterns/pattern.hpp"

#include "base/files.hpp"
#include "base/json.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace patterns {
namespace {

namespace filesystem = std::filesystem;

std::string bytes(const filesystem::path& path) {
    auto text = base::read_file(path, std::size_t{1} << 20U);
    REQUIRE_MESSAGE(text.has_value(), path.string());
    return std::move(*text);
}

base::Json json(const filesystem::path& path) {
    auto value = base::parse_json(bytes(path));
    REQUIRE_MESSAGE(value, path.string(), ": ", (value ? "" : value.error().message));
    return std::move(*value);
}

void add_scripts(const base::Json& given, bool refused, std::vector<Script>& into) {
    for (const auto& script : given) {
        Script& made = into.emplace_back();
        made.that = script.at("that").get<std::string>();
        for (const auto& step : script.at("steps"))
            made.steps.push_back(step.get<std::string>());
        made.refused = refused;
        CAPTURE(made.that);
        REQUIRE(script.size() == 2);
        REQUIRE(!made.steps.empty());
    }
}

Pattern read(const filesystem::path& folder) {
    Pattern pattern;
    pattern.folder = folder.filename().string();
    CAPTURE(pattern.folder);
    pattern.document = bytes(folder / "net.json");
    pattern.net = json(folder / "net.json").at("net").get<std::string>();
    const auto facts = json(folder / "pattern.json");
    pattern.number = facts.at("number").get<int>();
    pattern.check = base::canonical(facts.at("check"));
    pattern.cases_meet = facts.value("casesMeet", "");
    const auto script = json(folder / "script.json");
    add_scripts(script.at("accept"), false, pattern.scripts);
    add_scripts(script.at("refuse"), true, pattern.scripts);
    REQUIRE(script.size() == 2);
    REQUIRE(script.at("accept").size() > 0);
    REQUIRE(script.at("refuse").size() > 0);
    return pattern;
}

}  // namespace

filesystem::path root() {
    return filesystem::path(NETWRIGHT_SOURCE_DIR) / "nets/patterns";
}

std::vector<Pattern> read_all() {
    std::vector<filesystem::path> folders;
    for (const auto& entry : filesystem::directory_iterator(root()))
        if (entry.is_directory()) folders.push_back(entry.path());
    std::ranges::sort(folders);
    std::vector<Pattern> patterns;
    for (const auto& folder : folders)
        patterns.push_back(read(folder));
    return patterns;
}

}  // namespace patterns
