#include "engine/reader.hpp"

#include "base/json.hpp"

#include <nlohmann/json.hpp>

#include <charconv>

namespace engine {

void Reader::expect(char c) {
    if (failed_ || peek() != c) return fail();
    ++position_;
}

// The string's bytes between its quotes, escapes left as they are.
std::string_view Reader::quoted() {
    expect('"');
    const std::size_t from = position_;
    while (!failed_) {
        const std::size_t end = text_.find_first_of("\"\\", position_);
        if (end == std::string_view::npos) {
            fail();
            break;
        }
        if (text_[end] == '"') {
            position_ = end + 1;
            return text_.substr(from, end - from);
        }
        position_ = end + 2;
        if (position_ > text_.size()) fail();
    }
    return {};
}

std::optional<std::string_view> Reader::key() {
    if (failed_) return std::nullopt;
    if (peek() == '}') {
        ++position_;
        return std::nullopt;
    }
    if (peek() == ',') ++position_;
    const auto name = quoted();
    expect(':');
    if (failed_) return std::nullopt;
    return name;
}

bool Reader::element() {
    if (failed_) return false;
    if (peek() == ']') {
        ++position_;
        return false;
    }
    if (peek() == ',') ++position_;
    if (position_ >= text_.size()) fail();
    return !failed_;
}

std::string Reader::string() {
    const std::size_t from = position_;
    const auto inside = quoted();
    if (failed_) return {};
    if (inside.find('\\') == std::string_view::npos) return std::string(inside);
    const auto value = base::parse_json(text_.substr(from, position_ - from));
    if (value) return value->get<std::string>();
    fail();
    return {};
}

std::int64_t Reader::integer() {
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [next, error] = std::from_chars(text_.data() + position_, end, value);
    if (failed_ || error != std::errc{}) {
        fail();
        return 0;
    }
    position_ = static_cast<std::size_t>(next - text_.data());
    return value;
}

std::uint64_t Reader::unsigned_integer() {
    const auto value = integer();
    if (value < 0) fail();
    return failed_ ? 0 : static_cast<std::uint64_t>(value);
}

bool Reader::boolean() {
    const auto bytes = raw();
    if (bytes != "true" && bytes != "false") fail();
    return bytes == "true";
}

std::string_view Reader::raw() {
    const std::size_t from = position_;
    std::size_t depth = 0;
    while (!failed_) {
        const char c = peek();
        if (c == '"') {
            quoted();
        } else if (c == '{' || c == '[') {
            ++depth;
            ++position_;
        } else if (c == '}' || c == ']') {
            if (depth == 0) break;
            --depth;
            ++position_;
        } else if (c == ',' || c == ':') {
            if (depth == 0) break;
            ++position_;
            continue;
        } else {
            const auto end = text_.find_first_of(",:]}", position_);
            if (end == std::string_view::npos || end == position_) {
                // A bare number or word may be all there is.
                position_ = text_.size();
                if (depth != 0 || position_ == from) fail();
                break;
            }
            position_ = end;
        }
        if (depth == 0) break;
    }
    if (failed_ || position_ == from) {
        fail();
        return {};
    }
    return text_.substr(from, position_ - from);
}

}  // namespace engine
