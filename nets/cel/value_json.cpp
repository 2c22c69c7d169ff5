#include "nets/cel/base64.hpp"
#include "nets/cel/value.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <limits>

namespace nets::cel {

namespace {

base::Result<std::string> key_as_text(const Value& key) {
    if (key.is(Kind::string)) return std::string(key.text());
    if (key.is(Kind::boolean)) return key.as_boolean() ? "true" : "false";
    if (key.is(Kind::integer)) return fmt::format("{}", key.as_integer());
    return fmt::format("{}", key.as_uinteger());
}

// Characters beyond the Basic Multilingual Plane sort before U+E000 in UTF-16, after it in UTF-8;
// canonical JSON asks for the former.
bool utf16_less(std::string_view left, std::string_view right) {
    const auto at = std::ranges::mismatch(left, right);
    if (at.in1 == left.end() || at.in2 == right.end()) return left.size() < right.size();
    const auto a = static_cast<unsigned char>(*at.in1);
    const auto b = static_cast<unsigned char>(*at.in2);
    const bool a_beyond = a >= 0xF0;
    const bool b_beyond = b >= 0xF0;
    if (a_beyond != b_beyond) {
        // The other is a surrogate's neighbour only from U+E000 up (lead byte EE or EF).
        if (a_beyond) return b >= 0xEE;
        return a < 0xEE;
    }
    return a < b;
}

class Writer {
public:
    Writer(std::string& out, const WriteLimits& limits)
        : out_(out), start_(out.size()), limits_(limits) {}

    base::Result<void> write(const Value& value, std::size_t depth) {
        if (out_.size() - start_ > limits_.bytes_max) {
            return base::fail(
                base::ErrorCode::limit,
                fmt::format("the value is over {} bytes as JSON", limits_.bytes_max)
            );
        }
        switch (value.kind()) {
            case Kind::list:
                return write_list(value, depth);
            case Kind::map:
                return write_map(value, depth);
            case Kind::optional:
                if (value.inner()) return write(*value.inner(), depth);
                out_ += "null";
                return {};
            case Kind::null:
            case Kind::boolean:
            case Kind::integer:
            case Kind::uinteger:
            case Kind::real:
            case Kind::string:
            case Kind::bytes:
            case Kind::timestamp:
            case Kind::duration:
            case Kind::type:
                break;
        }
        return write_scalar(value);
    }

private:
    base::Result<void> write_scalar(const Value& value) {
        switch (value.kind()) {
            case Kind::boolean:
                out_ += value.as_boolean() ? "true" : "false";
                return {};
            case Kind::integer:
                fmt::format_to(std::back_inserter(out_), "{}", value.as_integer());
                return {};
            case Kind::uinteger:
                if (!std::in_range<std::int64_t>(value.as_uinteger())) {
                    return refuse("a uint beyond the range of int has no JSON form; use string()");
                }
                fmt::format_to(std::back_inserter(out_), "{}", value.as_uinteger());
                return {};
            case Kind::real:
                if (!std::isfinite(value.as_real()))
                    return refuse("NaN or infinity has no JSON form");
                base::append_canonical_double(out_, value.as_real());
                return {};
            case Kind::string:
                base::append_canonical_string(out_, value.text());
                return {};
            case Kind::bytes:
                out_ += '"';
                append_base64(out_, value.text());
                out_ += '"';
                return {};
            case Kind::timestamp:
                out_ += '"' + timestamp_text(value.as_span()) + '"';
                return {};
            case Kind::duration:
                out_ += '"' + duration_text(value.as_span()) + '"';
                return {};
            case Kind::type:
                return refuse("a type has no JSON form");
            case Kind::null:
            case Kind::list:
            case Kind::map:
            case Kind::optional:
                break;
        }
        out_ += "null";
        return {};
    }

    base::Result<void> write_list(const Value& value, std::size_t depth) {
        if (depth >= limits_.depth_max) return too_deep();
        out_ += '[';
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (i > 0) out_ += ',';
            if (auto done = write(value.at(i), depth + 1); !done) return done;
        }
        out_ += ']';
        return {};
    }

    base::Result<void> write_map(const Value& value, std::size_t depth) {
        if (depth >= limits_.depth_max) return too_deep();
        std::vector<std::pair<std::string, Value>> members;
        members.reserve(value.size());
        for (auto& [key, member] : value.entries()) {
            auto text = key_as_text(key);
            if (!text) return std::unexpected(std::move(text.error()));
            members.emplace_back(std::move(*text), std::move(member));
        }
        std::ranges::sort(members, [](const auto& left, const auto& right) {
            return utf16_less(left.first, right.first);
        });
        out_ += '{';
        for (std::size_t i = 0; i < members.size(); ++i) {
            if (i > 0) {
                if (members[i].first == members[i - 1].first) {
                    return refuse("two map keys are both \"" + members[i].first + "\" in JSON");
                }
                out_ += ',';
            }
            base::append_canonical_string(out_, members[i].first);
            out_ += ':';
            if (auto done = write(members[i].second, depth + 1); !done) return done;
        }
        out_ += '}';
        return {};
    }

    base::Result<void> too_deep() const {
        return base::fail(
            base::ErrorCode::limit,
            fmt::format("the value is nested over {} deep as JSON", limits_.depth_max)
        );
    }

    static base::Result<void> refuse(std::string why) {
        return base::fail(base::ErrorCode::validation, std::move(why));
    }

    std::string& out_;
    std::size_t start_;
    const WriteLimits& limits_;
};

}  // namespace

base::Result<void> append_canonical(
    std::string& out, const Value& value, const WriteLimits& limits
) {
    const std::size_t start = out.size();
    auto done = Writer(out, limits).write(value, 0);
    if (done && out.size() - start > limits.bytes_max) {
        done = base::fail(
            base::ErrorCode::limit,
            fmt::format("the value is over {} bytes as JSON", limits.bytes_max)
        );
    }
    if (!done) out.resize(start);
    return done;
}

base::Result<base::Json> to_json(const Value& value, const WriteLimits& limits) {
    std::string text;
    if (auto done = append_canonical(text, value, limits); !done) {
        return std::unexpected(std::move(done.error()));
    }
    return base::parse_json(text, {.bytes_max = limits.bytes_max, .depth_max = limits.depth_max});
}

}  // namespace nets::cel
