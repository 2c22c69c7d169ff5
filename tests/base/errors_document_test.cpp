#include "base/error.hpp"
#include "base/files.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace {

/// The codes that docs/errors.md has a section for: lines that begin "### `code`".
std::multiset<std::string> described_codes() {
    const auto text = base::read_file(NETWRIGHT_SOURCE_DIR "/docs/errors.md", 1U << 20U);
    REQUIRE(text);
    const std::string mark = "\n### `";
    std::multiset<std::string> codes;
    for (auto at = text->find(mark); at != std::string::npos; at = text->find(mark, at + 1)) {
        const auto begin = at + mark.size();
        codes.insert(text->substr(begin, text->find('`', begin) - begin));
    }
    return codes;
}

}  // namespace

TEST_CASE("docs/errors.md has exactly one section for each error code") {
    std::multiset<std::string> coded;
    for (const auto code : base::all_error_codes())
        coded.emplace(base::name(code));
    CHECK(described_codes() == coded);
}
