#include "base/json_schema_unicode.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace base::schema {

namespace {

// General categories that RE2 has, by their long names. Without Other and Unassigned: RE2's C lacks
// what is unassigned.
using Names = std::pair<std::string_view, std::string_view>;
constexpr auto categories = std::to_array<Names>({
    {"Letter", "L"},
    {"Uppercase_Letter", "Lu"},
    {"Lowercase_Letter", "Ll"},
    {"Titlecase_Letter", "Lt"},
    {"Modifier_Letter", "Lm"},
    {"Other_Letter", "Lo"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Nonspacing_Mark", "Mn"},
    {"Spacing_Mark", "Mc"},
    {"Enclosing_Mark", "Me"},
    {"Number", "N"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Letter_Number", "Nl"},
    {"Other_Number", "No"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Connector_Punctuation", "Pc"},
    {"Dash_Punctuation", "Pd"},
    {"Open_Punctuation", "Ps"},
    {"Close_Punctuation", "Pe"},
    {"Initial_Punctuation", "Pi"},
    {"Final_Punctuation", "Pf"},
    {"Other_Punctuation", "Po"},
    {"Symbol", "S"},
    {"Math_Symbol", "Sm"},
    {"Currency_Symbol", "Sc"},
    {"Modifier_Symbol", "Sk"},
    {"Other_Symbol", "So"},
    {"Separator", "Z"},
    {"Space_Separator", "Zs"},
    {"Line_Separator", "Zl"},
    {"Paragraph_Separator", "Zp"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Format", "Cf"},
    {"Private_Use", "Co"},
});

std::optional<std::string_view> category(std::string_view name) {
    for (const auto& [full, brief] : categories) {
        if (name == full || name == brief) return brief;
    }
    return std::nullopt;
}

bool script_name(std::string_view name) {
    return name.size() > 2 && name.front() >= 'A' && name.front() <= 'Z' &&
           std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
           });
}

}  // namespace

std::optional<std::string> re2_property(std::string_view name, bool negated) {
    const char letter = negated ? 'P' : 'p';
    const auto equals = name.find('=');
    const auto key = equals == std::string_view::npos ? "" : name.substr(0, equals);
    const auto value = equals == std::string_view::npos ? name : name.substr(equals + 1);
    if (key == "Script" || key == "sc") {
        // A script that RE2 does not have is refused when the pattern is compiled.
        if (!script_name(value)) return std::nullopt;
        return fmt::format("\\{}{{{}}}", letter, value);
    }
    if (!key.empty() && key != "General_Category" && key != "gc") return std::nullopt;
    if (const auto brief = category(value)) return fmt::format("\\{}{{{}}}", letter, *brief);
    if ((value == "Cased_Letter" || value == "LC") && !negated) return R"(\p{Lu}\p{Ll}\p{Lt})";
    if (!key.empty()) return std::nullopt;
    if (value == "Any") return negated ? std::nullopt : std::optional(R"(\x{0}-\x{10ffff})");
    if (value == "ASCII") return negated ? R"(\x{80}-\x{10ffff})" : R"(\x{0}-\x{7f})";
    if (value == "ASCII_Hex_Digit" && !negated) return "0-9A-Fa-f";
    if ((value == "White_Space" || value == "space") && !negated) {
        return R"(\t-\r \x{85}\p{Z})";
    }
    return std::nullopt;
}

}  // namespace base::schema
