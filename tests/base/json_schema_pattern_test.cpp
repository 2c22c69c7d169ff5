#include "base/json_schema_pattern.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace {

struct Case {
    const char* pattern;
    std::vector<std::string> found;
    std::vector<std::string> not_found;
};

}  // namespace

TEST_CASE("patterns mean what ECMA-262 says") {
    const std::vector<Case> cases = {
        {"b", {"abc"}, {"ac"}},
        {"^\\d+$", {"09"}, {"\xE0\xA5\xA8", "1a"}},
        {"^\\w$", {"a", "_"}, {"\xC3\xA9"}},
        {"^\\W$", {"\xC3\xA9"}, {"a"}},
        {"^\\s$",
         {" ", "\t", "\v", "\xC2\xA0", "\xEF\xBB\xBF", "\xE2\x80\xA9"},
         {"a", "\xE2\x80\x8B"}},
        {"^\\S$", {"a", "\xE2\x80\x8B", "\xF0\x9F\x98\x80"}, {" ", "\xC2\xA0"}},
        {"^[\\s\\d]+$", {"1 2\xC2\xA0"}, {"a"}},
        {"^[^\\S]$", {" ", "\xC2\xA0"}, {"a"}},
        {"^.$", {"a", "\xF0\x9F\x90\xB2"}, {"\n", "\r", "\xE2\x80\xA8", "ab"}},
        {"^abc$", {"abc"}, {"abc\n"}},
        {"^\\p{Letter}+$", {"\xCF\x80\xC3\xA9z"}, {"1"}},
        {"^\\p{L}\\P{Uppercase_Letter}$", {"Aa"}, {"AA"}},
        {"^[\\p{Lu}\\p{gc=Decimal_Number}_]+$", {"A\xD9\xA1_"}, {"a"}},
        {"^\\p{Script=Greek}+$", {"\xCF\x80"}, {"p"}},
        {"^\\p{ASCII}\\P{ASCII}$", {"a\xC3\xA9"}, {"aa"}},
        {"^\\p{LC}$", {"a", "A"}, {"1"}},
        {"^\\u0041\\x42\\u{43}\\cJ\\0$", {std::string("ABC\n\0", 5)}, {"ABC"}},
        {"^\\uD83D\\uDC32$", {"\xF0\x9F\x90\xB2"}, {"x"}},
        {"^[\\u{1F600}-\\u{1F64F}]$", {"\xF0\x9F\x98\x80"}, {"x"}},
        {"^[\\b]$", {"\b"}, {"b"}},
        {"\\bfoo\\b", {"a foo b"}, {"afoo"}},
        {"^[[:alpha:]]$", {":]", "a]"}, {"b", "z"}},
        {"^[^]$", {"x", "\n"}, {""}},
        {"[]", {}, {"", "x"}},
        {"^(?<year>\\d{4})-(?:a|b)$", {"2026-a"}, {"2026-c"}},
        {"^\\$\\/\\-\\^$", {"$/-^"}, {"x"}},
        {"^a{2,3}?$", {"aa", "aaa"}, {"a", "aaaa"}},
        {"^\xC3\xA9$", {"\xC3\xA9"}, {"e"}},
        {"^x]}$", {"x]}"}, {"x"}},
    };
    for (const auto& [text, found, not_found] : cases) {
        CAPTURE(text);
        const auto pattern = base::schema::Pattern::compile(text);
        if (!pattern) FAIL(pattern.error().message);
        for (const auto& subject : found) {
            CAPTURE(subject);
            CHECK(pattern->found_in(subject));
        }
        for (const auto& subject : not_found) {
            CAPTURE(subject);
            CHECK_FALSE(pattern->found_in(subject));
        }
    }
}

TEST_CASE("patterns that RE2 cannot run are refused as unsupported, by what is in them") {
    for (const char* text :
         {"(?=a)",
          "(?!a)",
          "(?<=a)b",
          "(?<!a)b",
          "(a)\\1",
          "(?<n>a)\\k<n>",
          "\\p{Emoji}",
          "\\p{Cn}",
          "\\p{L}\\p{scx=Grek}"}) {
        CAPTURE(text);
        const auto pattern = base::schema::Pattern::compile(text);
        REQUIRE_FALSE(pattern);
        CHECK(pattern.error().code == base::ErrorCode::unsupported);
        CHECK(pattern.error().message.find(text) != std::string::npos);
        CHECK_FALSE(pattern.error().next.empty());
    }
}

TEST_CASE("patterns that ECMA-262 refuses are refused, also where RE2 would take them") {
    for (const char* text :
         {"(",
          "a)",
          "[a",
          "*a",
          "a**",
          "\\",
          "\\a",
          "\\Q.\\E",
          "\\z",
          "\\A",
          "\\C",
          "(?i)a",
          "(?P<n>a)",
          "\\c1",
          "\\x4",
          "\\u{110000}",
          "\\uD800",
          "\\u12",
          "\\p{}",
          "\\pL",
          "[z-a]",
          "(?<n",
          "\\p{Script=Klingon}"}) {
        CAPTURE(text);
        CHECK_FALSE(base::schema::Pattern::compile(text));
    }
    CHECK_FALSE(base::schema::Pattern::compile(std::string(20'000, 'a')));
    CHECK_FALSE(base::schema::Pattern::compile("((a{900}){900}){900}"));
}
