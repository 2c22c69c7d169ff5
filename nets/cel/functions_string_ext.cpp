#include "nets/cel/functions.hpp"
#include "nets/cel/string_format.hpp"
#include "nets/cel/text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <optional>

// The functions of cel-spec's strings extension.
namespace nets::cel {

namespace {

std::unexpected<base::Error> out_of_text(std::int64_t index, std::size_t size) {
    return wrong(fmt::format("the index {} is outside a string of {} characters", index, size));
}

// Where the character with that index starts; the index just behind the last one is fine.
base::Result<std::size_t> byte_at(std::string_view text, std::int64_t index) {
    const std::size_t size = character_count(text);
    if (index < 0 || static_cast<std::uint64_t>(index) > size) return out_of_text(index, size);
    return byte_of_character(text, static_cast<std::size_t>(index));
}

Value character_index(std::string_view text, std::size_t byte) {
    if (byte == std::string_view::npos) return Value::integer(-1);
    return Value::integer(static_cast<std::int64_t>(character_count(text.substr(0, byte))));
}

Value text_value(std::string_view text) {
    return Value::string(std::string(text));
}

base::Result<Value> char_at(Arguments arguments, Budget& budget) {
    const std::string_view text = arguments[0].text();
    if (!spend_text(budget, text.size())) return out_of_steps();
    const auto byte = byte_at(text, arguments[1].as_integer());
    if (!byte) return std::unexpected(byte.error());
    return text_value(text.substr(*byte, byte_of_character(text.substr(*byte), 1)));
}

base::Result<Value> index_of(Arguments arguments, Budget& budget) {
    const std::string_view text = arguments[0].text();
    if (!spend_text(budget, text.size() + arguments[1].text().size())) return out_of_steps();
    const auto from = byte_at(text, arguments.size() > 2 ? arguments[2].as_integer() : 0);
    if (!from) return std::unexpected(from.error());
    return character_index(text, find_text(text, arguments[1].text(), *from));
}

base::Result<Value> last_index_of(Arguments arguments, Budget& budget) {
    const std::string_view text = arguments[0].text();
    if (!spend_text(budget, text.size() + arguments[1].text().size())) return out_of_steps();
    std::size_t from = text.size();
    if (arguments.size() > 2) {
        const auto byte = byte_at(text, arguments[2].as_integer());
        if (!byte) return std::unexpected(byte.error());
        from = *byte;
    }
    return character_index(text, find_text_back(text, arguments[1].text(), from));
}

base::Result<Value> substring(Arguments arguments, Budget& budget) {
    const std::string_view text = arguments[0].text();
    if (!spend_text(budget, text.size())) return out_of_steps();
    const auto begin = byte_at(text, arguments[1].as_integer());
    if (!begin) return std::unexpected(begin.error());
    if (arguments.size() < 3) return text_value(text.substr(*begin));
    const auto end = byte_at(text, arguments[2].as_integer());
    if (!end) return std::unexpected(end.error());
    if (*end < *begin) {
        return wrong(fmt::format(
            "substring() ends at {}, before it starts at {}",
            arguments[2].as_integer(),
            arguments[1].as_integer()
        ));
    }
    return text_value(text.substr(*begin, *end - *begin));
}

std::size_t count_limit(Arguments arguments, std::size_t at) {
    if (arguments.size() <= at || arguments[at].as_integer() < 0) {
        return std::numeric_limits<std::size_t>::max();
    }
    return static_cast<std::size_t>(arguments[at].as_integer());
}

base::Result<Value> replace(Arguments arguments, Budget& budget) {
    const std::string_view text = arguments[0].text();
    const std::string_view old = arguments[1].text();
    const std::string_view with = arguments[2].text();
    const std::size_t limit = count_limit(arguments, 3);
    if (!spend_text(budget, text.size() + old.size())) return out_of_steps();
    std::string out;
    std::size_t from = 0;
    for (std::size_t count = 0; count < limit; ++count) {
        const std::size_t found = find_text(text, old, from);
        if (found == std::string_view::npos) break;
        if (!spend(budget, 1) || !spend_text(budget, with.size())) return out_of_steps();
        out.append(text, from, found - from).append(with);
        from = found + old.size();
        if (!old.empty()) continue;
        // An empty text is found before every character and at the end.
        if (from >= text.size()) break;
        const std::size_t next = from + byte_of_character(text.substr(from), 1);
        out.append(text, from, next - from);
        from = next;
    }
    out.append(text, std::min(from, text.size()));
    return Value::string(std::move(out));
}

base::Result<Value> split(Arguments arguments, Budget& budget) {
    const std::string_view text = arguments[0].text();
    const std::string_view separator = arguments[1].text();
    const std::size_t limit = count_limit(arguments, 2);
    if (!spend_text(budget, text.size() + separator.size())) return out_of_steps();
    std::vector<Value> parts;
    if (limit == 0 || (text.empty() && separator.empty())) return Value::list(std::move(parts));
    std::size_t from = 0;
    while (parts.size() + 1 < limit) {
        const std::size_t found = separator.empty() ? from + byte_of_character(text.substr(from), 1)
                                                    : find_text(text, separator, from);
        if (found == std::string_view::npos || (separator.empty() && found >= text.size())) break;
        if (!spend(budget, 1)) return out_of_steps();
        parts.push_back(text_value(text.substr(from, found - from)));
        from = found + separator.size();
    }
    parts.push_back(text_value(text.substr(from)));
    return Value::list(std::move(parts));
}

base::Result<Value> join(Arguments arguments, Budget& budget) {
    const Value& list = arguments[0];
    const std::string_view separator = arguments.size() > 1 ? arguments[1].text() : "";
    std::string out;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const Value element = list.at(i);
        if (!element.is(Kind::string)) {
            return wrong(fmt::format("join() takes strings, not {}", a_kind(element.kind())));
        }
        if (!spend(budget, 1) || !spend_text(budget, element.text().size() + separator.size())) {
            return out_of_steps();
        }
        if (i > 0) out.append(separator);
        out.append(element.text());
    }
    return Value::string(std::move(out));
}

template <char first, char last, char offset_to>
base::Result<Value> ascii_case(Arguments arguments, Budget& budget) {
    std::string text(arguments[0].text());
    if (!spend_text(budget, text.size())) return out_of_steps();
    for (char& c : text) {
        if (c >= first && c <= last) c = static_cast<char>(c - first + offset_to);
    }
    return Value::string(std::move(text));
}

base::Result<Value> trim(Arguments arguments, Budget& budget) {
    if (!spend_text(budget, arguments[0].text().size())) return out_of_steps();
    return text_value(trimmed(arguments[0].text()));
}

base::Result<Value> reverse(Arguments arguments, Budget& budget) {
    if (!spend_text(budget, arguments[0].text().size())) return out_of_steps();
    const auto all = characters(arguments[0].text());
    std::string out;
    out.reserve(arguments[0].text().size());
    for (std::size_t i = all.size(); i-- > 0;)
        out.append(all[i]);
    return Value::string(std::move(out));
}

base::Result<Value> quote(Arguments arguments, Budget& budget) {
    constexpr std::string_view plain = "\a\b\f\n\r\t\v\\\"";
    constexpr std::string_view letters = "abfnrtv\\\"";
    if (!spend_text(budget, arguments[0].text().size())) return out_of_steps();
    std::string out = "\"";
    for (const char c : arguments[0].text()) {
        const auto at = plain.find(c);
        if (at == std::string_view::npos) {
            out += c;
        } else {
            out += '\\';
            out += letters[at];
        }
    }
    out += '"';
    return Value::string(std::move(out));
}

base::Result<Value> format(Arguments arguments, Budget& budget) {
    return format_text(arguments[0].text(), arguments[1], budget);
}

}  // namespace

void add_string_extensions(std::vector<Function>& all) {
    const Kinds text = kinds(Kind::string);
    const Kinds index = kinds(Kind::integer);
    const Kinds list = kinds(Kind::list);
    const auto add =
        [&](std::string_view name, std::vector<Kinds> parameters, Kind result, auto call) {
            all.push_back({name, true, std::move(parameters), result, call});
        };
    add("charAt", {text, index}, Kind::string, char_at);
    add("indexOf", {text, text}, Kind::integer, index_of);
    add("indexOf", {text, text, index}, Kind::integer, index_of);
    add("lastIndexOf", {text, text}, Kind::integer, last_index_of);
    add("lastIndexOf", {text, text, index}, Kind::integer, last_index_of);
    add("substring", {text, index}, Kind::string, substring);
    add("substring", {text, index, index}, Kind::string, substring);
    add("replace", {text, text, text}, Kind::string, replace);
    add("replace", {text, text, text, index}, Kind::string, replace);
    add("split", {text, text}, Kind::list, split);
    add("split", {text, text, index}, Kind::list, split);
    add("join", {list}, Kind::string, join);
    add("join", {list, text}, Kind::string, join);
    add("lowerAscii", {text}, Kind::string, ascii_case<'A', 'Z', 'a'>);
    add("upperAscii", {text}, Kind::string, ascii_case<'a', 'z', 'A'>);
    add("trim", {text}, Kind::string, trim);
    add("reverse", {text}, Kind::string, reverse);
    add("format", {text, list}, Kind::string, format);
    all.push_back({"strings.quote", false, {text}, Kind::string, quote});
}

}  // namespace nets::cel
