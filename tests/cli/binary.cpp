#include "tests/cli/binary.hpp"

#include "base/files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>

namespace tests::cli {

namespace {

/// The words of a help text, without what follows an option's name: `--lease,-l`, `--data=DIR`.
std::set<std::string> offered(const std::string& help) {
    std::set<std::string> names;
    for (const auto& word : words(help)) {
        std::istringstream parts(word);
        for (std::string part; std::getline(parts, part, ',');)
            names.insert(part.substr(0, part.find_first_of("=[ ")));
    }
    return names;
}

bool is_subcommand_name(const std::string& word) {
    return !word.empty() &&
           std::ranges::all_of(word, [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; }) &&
           word[0] != '-';
}

}  // namespace

Ran run(const std::string& command) {
    FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe != nullptr);
    Ran ran;
    std::array<char, 4096> buffer{};
    for (auto n = buffer.size(); n > 0;) {
        n = fread(buffer.data(), 1, buffer.size(), pipe);
        ran.output.append(buffer.data(), n);
    }
    ran.status = pclose(pipe);
    return ran;
}

const std::string& binary() {
    static const std::string path = NETWRIGHT_BINARY_DIR "/netwright";
    return path;
}

bool binary_exists() {
    const bool exists = std::filesystem::exists(binary());
    CHECK_MESSAGE(exists, binary(), " is not built");
    return exists;
}

std::vector<std::string> unknown_parts(const std::vector<std::string>& command) {
    std::string line = binary();
    auto help = run(line + " --help");
    std::vector<std::string> unknown;
    std::size_t at = 0;
    // Words are subcommands as long as the help of what stands before offers one of that name.
    while (at < command.size() && is_subcommand_name(command[at]) &&
           offered(help.output).contains(command[at])) {
        line += " " + command[at];
        help = run(line + " --help");
        if (help.status != 0) unknown.push_back("'" + line + " --help' fails");
        ++at;
    }
    // Where a subcommand must follow, an argument cannot.
    const bool may_go_without = help.output.find("[SUBCOMMAND]") != std::string::npos;
    if (at < command.size() && !may_go_without &&
        help.output.find("Subcommands:") != std::string::npos) {
        unknown.push_back("'" + line + "' has no subcommand '" + command[at] + "'");
        return unknown;
    }
    const auto names = offered(help.output);
    for (; at < command.size(); ++at) {
        auto name = command[at].substr(0, command[at].find_first_of("=|]"));
        if (name.starts_with('[')) name.erase(0, 1);  // [--optional]
        if (name.starts_with("--") && name.size() > 2 && !names.contains(name)) {
            unknown.push_back("'" + line + "' has no option " + name);
        }
    }
    return unknown;
}

std::vector<std::string> words(const std::string& line) {
    std::istringstream in(line);
    std::vector<std::string> all;
    for (std::string word; in >> word;)
        all.push_back(word);
    return all;
}

std::string project_file(const std::string& name) {
    auto text = base::read_file(NETWRIGHT_SOURCE_DIR "/" + name, 1U << 20U);
    REQUIRE_MESSAGE(text, name);
    return *text;
}

}  // namespace tests::cli
