#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <vector>

namespace base {

namespace {

// Builds the value while the text is read, so that every limit is kept before memory is spent.
class Builder final : public nlohmann::json_sax<Json> {
public:
    explicit Builder(const JsonLimits& limits) : limits_(limits) {}

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
            return refuse_integer(fmt::format("{}", value));
        }
        return add(static_cast<std::int64_t>(value));
    }
    bool number_float(number_float_t value, const string_t& text) override {
        if (text.find_first_of(".eE") == string_t::npos) {
            return refuse_integer(text);
        }
        return add(value);
    }
    bool string(string_t& value) override { return add(std::move(value)); }
    bool binary(binary_t& /*value*/) override { return refuse("binary data"); }
    bool start_object(std::size_t /*size*/) override { return open(Json::object()); }
    bool key(string_t& value) override {
        if (stack_.back()->contains(value)) {
            key_ = std::move(value);
            return refuse("the key '" + key_ + "' given twice");
        }
        key_ = std::move(value);
        return true;
    }
    bool end_object() override { return close(); }
    bool start_array(std::size_t /*size*/) override { return open(Json::array()); }
    bool end_array() override { return close(); }
    bool parse_error(
        std::size_t /*position*/,
        const std::string& /*token*/,
        const nlohmann::detail::exception& error
    ) override {
        what_ = error.what();
        return false;
    }

    Json take() { return std::move(root_); }
    [[nodiscard]] const std::string& refused() const { return refused_; }
    [[nodiscard]] bool too_many() const { return too_many_; }
    /// Where the value stands, or would have stood, that ended the reading.
    [[nodiscard]] std::string pointer() const {
        std::string pointer;
        for (std::size_t i = 0; i < stack_.size(); ++i) {
            const Json* child = i + 1 < stack_.size() ? stack_[i + 1] : nullptr;
            pointer = pointer_child(pointer, step(*stack_[i], child));
        }
        return pointer;
    }
    [[nodiscard]] const std::string& what() const { return what_; }

private:
    Json* place(Json value) {
        if (stack_.empty()) {
            root_ = std::move(value);
            return &root_;
        }
        Json& parent = *stack_.back();
        if (parent.is_array()) {
            parent.push_back(std::move(value));
            return &parent.back();
        }
        Json& slot = parent[key_];
        slot = std::move(value);
        return &slot;
    }
    bool add(Json value) {
        if (!count()) return false;
        place(std::move(value));
        return true;
    }
    bool open(Json container) {
        if (stack_.size() >= limits_.depth_max) {
            return refuse(fmt::format("more than {} levels of nesting", limits_.depth_max));
        }
        if (!count()) return false;
        stack_.push_back(place(std::move(container)));
        return true;
    }
    bool count() {
        if (++nodes_ <= limits_.nodes_max) return true;
        too_many_ = true;
        return refuse(fmt::format("more than {} values", limits_.nodes_max));
    }
    bool close() {
        stack_.pop_back();
        return true;
    }
    /// From a container to `child` in it, or to the value that comes next.
    [[nodiscard]] std::string step(const Json& container, const Json* child) const {
        if (container.is_array()) {
            return fmt::to_string(child == nullptr ? container.size() : container.size() - 1);
        }
        if (child == nullptr) return key_;
        for (const auto& [key, value] : container.items()) {
            if (&value == child) return key;
        }
        return {};
    }
    bool refuse_integer(std::string_view text) {
        using Limits = std::numeric_limits<std::int64_t>;
        constexpr std::size_t digits_shown = 40;
        return refuse(fmt::format(
            "the integer {}{}: integers are from {} to {}",
            text.substr(0, digits_shown),
            text.size() > digits_shown ? "..." : "",
            Limits::min(),
            Limits::max()
        ));
    }
    bool refuse(std::string why) {
        refused_ = std::move(why);
        return false;
    }

    const JsonLimits& limits_;
    std::size_t nodes_ = 0;
    bool too_many_ = false;
    Json root_;
    std::vector<Json*> stack_;
    std::string key_;
    std::string refused_;
    std::string what_;
};

// nlohmann's text is "[json.exception.parse_error.101] parse error at line 1, column 2: ...".
std::string without_prefix(const std::string& what) {
    const auto end = what.find("] ");
    return end == std::string::npos ? what : what.substr(end + 2);
}

// Digits and exponent of the shortest text that reads back as `value`, laid out as ECMAScript does.
void append_shortest(std::string& out, double value) {
    char buffer[40];
    const auto end =
        std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
    std::string_view text(buffer, static_cast<std::size_t>(end - buffer));
    if (text.front() == '-') {
        out += '-';
        text.remove_prefix(1);
    }
    const auto e = text.find('e');
    std::string digits(1, text[0]);
    if (e > 2) digits += text.substr(2, e - 2);
    int exponent = 0;
    const bool plus = text[e + 1] == '+';
    std::from_chars(text.data() + e + (plus ? 2 : 1), text.data() + text.size(), exponent);
    const int point = exponent + 1;  // where the decimal point stands, counted in digits
    const int count = static_cast<int>(digits.size());
    if (point > 21 || point < -5) {
        out += digits[0];
        if (count > 1) out.append(".").append(digits, 1);
        out += fmt::format("e{}{}", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    } else if (point <= 0) {
        out += "0.";
        out.append(static_cast<std::size_t>(-point), '0').append(digits);
    } else if (count <= point) {
        out.append(digits).append(static_cast<std::size_t>(point - count), '0').append(".0");
    } else {
        out.append(digits, 0, static_cast<std::size_t>(point)).append(".");
        out.append(digits, static_cast<std::size_t>(point));
    }
}

// RFC 8785 sorts by UTF-16 code units. That differs from byte order only when a key has a character
// beyond the Basic Multilingual Plane (lead byte F0 or more) next to one from U+E000 to U+FFFF.
std::u16string utf16(std::string_view text) {
    std::u16string units;
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
        std::uint32_t point = length == 1 ? lead : lead & (0x7FU >> length);
        for (std::size_t k = 1; k < length && i + k < text.size(); ++k) {
            point = (point << 6U) | (static_cast<unsigned char>(text[i + k]) & 0x3FU);
        }
        if (point >= 0x10000) {
            units += static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10U));
            units += static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FFU));
        } else {
            units += static_cast<char16_t>(point);
        }
        i += length;
    }
    return units;
}

void append_object(std::string& out, const Json& value) {
    const auto& object = value.get_ref<const Json::object_t&>();
    bool beyond_bmp = false;
    for (const auto& [key, child] : object) {
        for (const char c : key)
            beyond_bmp |= static_cast<unsigned char>(c) >= 0xF0;
    }
    out += '{';
    bool first = true;
    const auto member = [&](const std::string& key, const Json& child) {
        if (!first) out += ',';
        first = false;
        append_canonical_string(out, key);
        out += ':';
        append_canonical(out, child);
    };
    if (!beyond_bmp) {
        for (const auto& [key, child] : object)
            member(key, child);
    } else {
        std::vector<std::pair<std::u16string, const Json::object_t::value_type*>> sorted;
        for (const auto& entry : object)
            sorted.emplace_back(utf16(entry.first), &entry);
        std::ranges::sort(sorted, {}, [](const auto& entry) -> const auto& { return entry.first; });
        for (const auto& [units, entry] : sorted)
            member(entry->first, entry->second);
    }
    out += '}';
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
    if (text.size() > limits.bytes_max) {
        return fail(
            ErrorCode::too_large,
            fmt::format("JSON of {} bytes; the limit is {}", text.size(), limits.bytes_max)
        );
    }
    // The parser takes a zero byte for the end, whatever follows it.
    if (const auto at = text.find('\0'); at != std::string_view::npos) {
        const auto before = text.substr(0, at);
        const auto line_start = before.rfind('\n') + 1;  // npos + 1 = 0
        return fail(
            ErrorCode::validation,
            fmt::format(
                "not JSON: a zero byte at line {}, column {}",
                1 + std::ranges::count(before, '\n'),
                at - line_start + 1
            )
        );
    }
    Builder builder(limits);
    if (Json::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
    if (!builder.refused().empty()) {
        const auto pointer = builder.pointer();
        const std::string message = "JSON holds " + builder.refused();
        const auto code = builder.too_many() ? ErrorCode::too_large : ErrorCode::validation;
        return fail(Error{
            code,
            pointer.empty() ? message : fmt::format("{} (at {})", message, pointer),
            {},
            {{pointer, code, builder.refused()}}
        });
    }
    return fail(ErrorCode::validation, "not JSON: " + without_prefix(builder.what()));
}

void append_canonical_double(std::string& out, double value) {
    check(value - value == 0, "canonical JSON of NaN or infinity");
    if (value == 0) {
        out += "0.0";
        return;
    }
    append_shortest(out, value);
}

void append_canonical_string(std::string& out, std::string_view text) {
    out += '"';
    std::size_t plain = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\') continue;
        out.append(text, plain, i - plain);
        plain = i + 1;
        switch (c) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\b':
                out += "\\b";
                break;
            case '\f':
                out += "\\f";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        }
    }
    out.append(text, plain);
    out += '"';
}

void append_canonical(std::string& out, const Json& value) {
    switch (value.type()) {
        case Json::value_t::null:
            out += "null";
            break;
        case Json::value_t::boolean:
            out += value.get<bool>() ? "true" : "false";
            break;
        case Json::value_t::number_integer:
            fmt::format_to(std::back_inserter(out), "{}", value.get<std::int64_t>());
            break;
        case Json::value_t::number_unsigned:
            fmt::format_to(std::back_inserter(out), "{}", value.get<std::uint64_t>());
            break;
        case Json::value_t::number_float:
            append_canonical_double(out, value.get<double>());
            break;
        case Json::value_t::string:
            append_canonical_string(out, value.get_ref<const std::string&>());
            break;
        case Json::value_t::array: {
            out += '[';
            bool first = true;
            for (const auto& child : value) {
                if (!first) out += ',';
                first = false;
                append_canonical(out, child);
            }
            out += ']';
            break;
        }
        case Json::value_t::object:
            append_object(out, value);
            break;
        case Json::value_t::binary:
        case Json::value_t::discarded:
            check(false, "canonical JSON of a binary or discarded value");
    }
}

std::string canonical(const Json& value) {
    std::string out;
    append_canonical(out, value);
    return out;
}

std::string pointer_child(std::string_view pointer, std::string_view key) {
    std::string out(pointer);
    out += '/';
    for (const char c : key) {
        if (c == '~') {
            out += "~0";
        } else if (c == '/') {
            out += "~1";
        } else {
            out += c;
        }
    }
    return out;
}

bool valid_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        if (lead < 0x80) {
            ++i;
            continue;
        }
        const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        if (lead < 0xC2 || lead > 0xF4 || i + length > text.size()) return false;
        std::uint32_t point = lead & (0x7FU >> length);
        for (std::size_t k = 1; k < length; ++k) {
            const auto next = static_cast<unsigned char>(text[i + k]);
            if ((next & 0xC0U) != 0x80) return false;
            point = (point << 6U) | (next & 0x3FU);
        }
        if ((length == 3 && point < 0x800) || (length == 4 && point < 0x10000)) return false;
        if (point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return false;
        i += length;
    }
    return true;
}

}  // namespace base
