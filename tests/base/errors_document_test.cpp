#include "base/error.hpp"
#include "base/files.hpp"

#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace {

std::string document() {
    const auto text = base::read_file(NETWRIGHT_SOURCE_DIR "/docs/errors.md", 1U << 20U);
    REQUIRE(text);
    return *text;
}

/// The codes that a part of docs/errors.md has a section for: lines that begin "### `code`".
std::multiset<std::string> described_codes(std::string_view text) {
    const std::string_view mark = "\n### `";
    std::multiset<std::string> codes;
    for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
        const auto begin = at + mark.size();
        codes.emplace(text.substr(begin, text.find('`', begin) - begin));
    }
    return codes;
}

/// What stands under the heading of the second level.
std::string part(const std::string& text, const std::string& heading) {
    const auto begin = text.find("\n## " + heading + "\n");
    REQUIRE_MESSAGE(begin != std::string::npos, heading);
    return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

/// Where codes are only translated, never produced.
bool translates(const std::filesystem::path& file) {
    return file.filename() == "error.cpp" || file.filename() == "error.hpp" ||
           file.filename() == "status.cpp";
}

/// The codes that the program's sources name other than as the label of a case or in a comparison.
std::set<std::string> produced_codes() {
    namespace fs = std::filesystem;
    constexpr std::array folders = {
        "base",
        "http",
        "blobstore",
        "places",
        "nets",
        "engine",
        "catalog",
        "jobs",
        "executor",
        "transitions",
        "server",
        "cli",
    };
    std::set<std::string> codes;
    for (const auto* folder : folders) {
        const auto root = fs::path(NETWRIGHT_SOURCE_DIR) / folder;
        for (const auto& entry : fs::recursive_directory_iterator(root)) {
            if (entry.path().extension() != ".cpp" || translates(entry.path())) continue;
            const auto text = base::read_file(entry.path(), 1U << 20U);
            REQUIRE(text);
            const std::string mark = "ErrorCode::";
            for (auto at = text->find(mark); at != std::string::npos;
                 at = text->find(mark, at + 1)) {
                const auto line = text->rfind('\n', at) + 1;
                const std::string_view before(text->data() + line, at - line);
                const bool compared = before.contains("case ") || before.contains("== ");
                const auto begin = at + mark.size();
                const auto end = text->find_first_not_of("abcdefghijklmnopqrstuvwxyz_", begin);
                if (!compared) codes.insert(text->substr(begin, end - begin));
            }
        }
    }
    return codes;
}

}  // namespace

TEST_CASE("docs/errors.md has exactly one section for each error code") {
    std::multiset<std::string> coded;
    for (const auto code : base::all_error_codes())
        coded.emplace(base::name(code));
    CHECK(described_codes(document()) == coded);
}

TEST_CASE(
    "docs/errors.md says of exactly the codes that the program never produces that it does not"
) {
    const auto outside = described_codes(part(document(), "Reported by agents only"));
    const auto produced = produced_codes();
    REQUIRE(produced.size() > 10);
    for (const auto code : base::all_error_codes()) {
        const std::string name(base::name(code));
        CHECK_MESSAGE(produced.contains(name) != outside.contains(name), name);
    }
}
