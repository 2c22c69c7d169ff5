#include "nets/cel/typed.hpp"

#include "nets/cel/literal.hpp"
#include "nets/cel/times.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace nets::cel {

namespace {

std::string_view typed_name(Kind kind) {
    switch (kind) {
        case Kind::null:
            return "null";
        case Kind::timestamp:
            return "timestamp";
        case Kind::duration:
            return "duration";
        case Kind::optional:
            return "optional";
        case Kind::boolean:
        case Kind::integer:
        case Kind::uinteger:
        case Kind::real:
        case Kind::string:
        case Kind::bytes:
        case Kind::list:
        case Kind::map:
        case Kind::type:
            break;
    }
    return name(kind);
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char c : bytes)
        fmt::format_to(std::back_inserter(text), "{:02x}", static_cast<unsigned char>(c));
    return text;
}

std::optional<std::string> from_hex(std::string_view text) {
    std::string bytes;
    if (text.size() % 2 != 0) return std::nullopt;
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const auto byte = read_uinteger("0x" + std::string(text.substr(i, 2)));
        if (!byte) return std::nullopt;
        bytes += static_cast<char>(*byte);
    }
    return bytes;
}

std::unexpected<base::Error> malformed(const base::Json& typed) {
    return base::fail(
        base::ErrorCode::validation,
        "not a typed value: " + typed.dump(-1, ' ', false, base::Json::error_handler_t::replace)
    );
}

base::Result<Value> list_from_typed(const base::Json& typed) {
    std::vector<Value> elements;
    for (const auto& child : typed.at("value")) {
        auto element = from_typed(child);
        if (!element) return element;
        elements.push_back(std::move(*element));
    }
    return Value::list(std::move(elements));
}

base::Result<Value> map_from_typed(const base::Json& typed) {
    std::vector<std::pair<Value, Value>> entries;
    for (const auto& pair : typed.at("value")) {
        if (!pair.is_array() || pair.size() != 2) return malformed(typed);
        auto key = from_typed(pair[0]);
        if (!key) return key;
        auto value = from_typed(pair[1]);
        if (!value) return value;
        entries.emplace_back(std::move(*key), std::move(*value));
    }
    return Value::map(std::move(entries));
}

base::Result<Value> text_from_typed(
    std::string_view type, const std::string& text, const base::Json& typed
) {
    if (type == "string") return Value::string(text);
    if (type == "type") return Value::type(text);
    if (type == "timestamp") return read_timestamp(text);
    if (type == "duration") return read_duration(text);
    if (type == "int") {
        if (const auto value = read_integer(text)) return Value::integer(*value);
    } else if (type == "uint") {
        if (const auto value = read_uinteger(text)) return Value::uinteger(*value);
    } else if (type == "double") {
        if (const auto value = read_real(text)) return Value::real(*value);
    }
    return malformed(typed);
}

// The length of a scalar's text, about.
std::size_t text_bytes(const Value& value) {
    if (value.is(Kind::string) || value.is(Kind::type)) return value.text().size();
    return value.is(Kind::bytes) ? 2 * value.text().size() : 0;
}

class TypedWriter {
public:
    explicit TypedWriter(const WriteLimits& limits) : limits_(limits) {}

    base::Result<base::Json> write(const Value& value, std::size_t depth) {
        bytes_ += bytes_of_an_object + text_bytes(value);
        if (bytes_ > limits_.bytes_max) {
            return base::fail(
                base::ErrorCode::limit,
                fmt::format("the value is over {} bytes as typed JSON", limits_.bytes_max)
            );
        }
        if (depth > limits_.depth_max) {
            return base::fail(
                base::ErrorCode::limit,
                fmt::format("the value is nested over {} deep", limits_.depth_max)
            );
        }
        if (value.is(Kind::list)) return write_list(value, depth);
        if (value.is(Kind::map)) return write_map(value, depth);
        if (value.is(Kind::optional)) return write_optional(value, depth);
        return scalar(value);
    }

private:
    /// {"type":"int","value":""}
    static constexpr std::size_t bytes_of_an_object = 25;

    static base::Json object(const Value& value) { return {{"type", typed_name(value.kind())}}; }

    static base::Json scalar(const Value& value) {
        base::Json typed = object(value);
        if (value.is(Kind::boolean)) {
            typed["value"] = value.as_boolean();
        } else if (value.is(Kind::integer)) {
            typed["value"] = fmt::format("{}", value.as_integer());
        } else if (value.is(Kind::uinteger)) {
            typed["value"] = fmt::format("{}", value.as_uinteger());
        } else if (value.is(Kind::real)) {
            typed["value"] = real_text(value.as_real());
        } else if (value.is(Kind::string) || value.is(Kind::type)) {
            typed["value"] = value.text();
        } else if (value.is(Kind::bytes)) {
            typed["hex"] = hex(value.text());
        } else if (value.is(Kind::timestamp)) {
            typed["value"] = timestamp_text(value.as_span());
        } else if (value.is(Kind::duration)) {
            typed["value"] = duration_text(value.as_span());
        }
        return typed;
    }

    base::Result<base::Json> write_list(const Value& value, std::size_t depth) {
        base::Json typed = object(value);
        auto& list = typed["value"] = base::Json::array();
        for (std::size_t i = 0; i < value.size(); ++i) {
            auto element = write(value.at(i), depth + 1);
            if (!element) return element;
            list.push_back(std::move(*element));
        }
        return typed;
    }

    base::Result<base::Json> write_map(const Value& value, std::size_t depth) {
        base::Json typed = object(value);
        auto& list = typed["value"] = base::Json::array();
        for (const auto& [key, member] : value.entries()) {
            auto typed_key = write(key, depth + 1);
            if (!typed_key) return typed_key;
            auto typed_member = write(member, depth + 1);
            if (!typed_member) return typed_member;
            base::Json pair = base::Json::array();
            pair.push_back(std::move(*typed_key));
            pair.push_back(std::move(*typed_member));
            list.push_back(std::move(pair));
        }
        return typed;
    }

    base::Result<base::Json> write_optional(const Value& value, std::size_t depth) {
        base::Json typed = object(value);
        typed["value"] = base::Json();
        if (!value.inner()) return typed;
        auto inner = write(*value.inner(), depth + 1);
        if (!inner) return inner;
        typed["value"] = std::move(*inner);
        return typed;
    }

    const WriteLimits& limits_;
    std::size_t bytes_ = 0;
};

}  // namespace

base::Result<base::Json> to_typed(const Value& value, const WriteLimits& limits) {
    return TypedWriter(limits).write(value, 0);
}

base::Result<Value> from_typed(const base::Json& typed) {
    if (!typed.is_object() || !typed.contains("type") || !typed["type"].is_string()) {
        return malformed(typed);
    }
    const auto& type = typed["type"].get_ref<const std::string&>();
    if (type == "null") return Value();
    if (type == "bytes" && typed.contains("hex") && typed["hex"].is_string()) {
        if (auto bytes = from_hex(typed["hex"].get_ref<const std::string&>())) {
            return Value::bytes(std::move(*bytes));
        }
        return malformed(typed);
    }
    if (!typed.contains("value")) return malformed(typed);
    const auto& value = typed["value"];
    if (type == "bool" && value.is_boolean()) return Value::boolean(value.get<bool>());
    if (type == "list" && value.is_array()) return list_from_typed(typed);
    if (type == "map" && value.is_array()) return map_from_typed(typed);
    if (type == "optional") {
        if (value.is_null()) return Value::optional_none();
        auto inner = from_typed(value);
        if (!inner) return inner;
        return Value::optional_of(std::move(*inner));
    }
    if (!value.is_string()) return malformed(typed);
    return text_from_typed(type, value.get_ref<const std::string&>(), typed);
}

bool identical(const Value& left, const Value& right) {
    if (left.kind() != right.kind()) return false;
    if (left.is(Kind::real)) {
        if (std::isnan(left.as_real())) return std::isnan(right.as_real());
        return left.as_real() == right.as_real() &&
               std::signbit(left.as_real()) == std::signbit(right.as_real());
    }
    if (left.is(Kind::optional)) {
        if (!left.inner() || !right.inner()) return left.inner() == right.inner();
        return identical(*left.inner(), *right.inner());
    }
    if (!left.is(Kind::list) && !left.is(Kind::map)) return left == right;
    if (left.size() != right.size()) return false;
    if (left.is(Kind::list)) {
        for (std::size_t i = 0; i < left.size(); ++i) {
            if (!identical(left.at(i), right.at(i))) return false;
        }
        return true;
    }
    for (const auto& [key, value] : left.entries()) {
        const auto other = right.find(key);
        if (!other || !identical(value, *other)) return false;
    }
    return true;
}

}  // namespace nets::cel
