#include "nets/interpolation.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using nets::Piece;
using nets::split_interpolation;
using nets::without_braces;

namespace {

// "plain" and "${inside}" pieces, one after the other, separated by '|'.
std::string shown(std::string_view text) {
    const auto pieces = split_interpolation(text);
    if (!pieces) return "refused";
    std::string out;
    for (const auto& piece : *pieces) {
        if (!out.empty()) out += '|';
        out += piece.expression ? "<" + piece.text + ">" : piece.text;
    }
    return out;
}

}  // namespace

TEST_CASE("text is split at its expressions") {
    CHECK(shown("") == "");
    CHECK(shown("plain") == "plain");
    CHECK(shown("${a}") == "<a>");
    CHECK(shown("a ${b} c${d}") == "a |<b>| c|<d>");
    CHECK(shown("${a}${b}") == "<a>|<b>");
    CHECK(shown("$ { } $$ $a {b}") == "$ { } $$ $a {b}");
}

TEST_CASE("$${ writes ${") {
    CHECK(shown("$${a}") == "${a}");
    CHECK(shown("$${${a}") == "${|<a>");
    CHECK(shown("$$${a}") == "$${a}");
    CHECK(shown("cost: $$5, $${x} ${y}") == "cost: $$5, ${x} |<y>");
}

TEST_CASE("an expression ends where CEL's lexer would leave a brace over") {
    CHECK(shown("${ {'a': {'b': 1}} }x") == "< {'a': {'b': 1}} >|x");
    CHECK(shown("${'}'}") == "<'}'>");
    CHECK(shown(R"(${"\"}"}!)") == R"(<"\"}">|!)");
    CHECK(shown(R"(${r'\'}!)") == R"(<r'\'>|!)");
    CHECK(shown(R"(${b"}"+br'\'}!)") == R"(<b"}"+br'\'>|!)");
    CHECK(shown(R"(${over'}'}!)") == R"(<over'}'>|!)");
    CHECK(shown("${'''a'}b'''}!") == "<'''a'}b'''>|!");
    CHECK(shown("${\"\"\"}\"\"\"}") == "<\"\"\"}\"\"\">");
    CHECK(shown("${''}${'a'}") == "<''>|<'a'>");
    CHECK(shown("${a // }\n + b}!") == "<a // }\n + b>|!");
}

TEST_CASE("an expression that does not end is refused") {
    for (const char* text :
         {"${", "${a", "a${b", "${'}", "${'''}'}", "${{}", "${a // }", "${\"\\\"}", "${'\\"}) {
        CAPTURE(text);
        const auto pieces = split_interpolation(text);
        REQUIRE_FALSE(pieces);
        CHECK(pieces.error().code == base::ErrorCode::validation);
    }
    CHECK(split_interpolation("ab${c").error().message.find("character 3") != std::string::npos);
}

TEST_CASE("an expression may be written with or without its braces") {
    CHECK(without_braces("a > 1") == "a > 1");
    CHECK(without_braces("${a > 1}") == "a > 1");
    CHECK(without_braces("${a} > ${b}") == "${a} > ${b}");
    CHECK(without_braces("${a") == "${a");
    CHECK(without_braces("${'}'}") == "'}'");
}
