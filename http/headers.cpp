#include "http/headers.hpp"

#include <algorithm>

namespace http {

namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool token_character(char c) {
    constexpr std::string_view others = "!#$%&'*+-.^_`|~";
    return (c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z') ||
           others.find(c) != std::string_view::npos;
}

bool value_character(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
}

}  // namespace

bool same_ignoring_case(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, {}, lower, lower);
}

Headers::Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields) {
    for (const auto& [name, value] : fields)
        add(name, value);
}

std::pair<std::string_view, std::string_view> Headers::at(std::size_t index) const {
    const Field& field = fields_[index];
    const std::string_view bytes = bytes_;
    return {
        bytes.substr(field.begin, field.name_bytes),
        bytes.substr(field.begin + field.name_bytes, field.value_bytes)
    };
}

std::optional<std::string_view> Headers::find(std::string_view name) const {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const auto [found, value] = at(i);
        if (same_ignoring_case(found, name)) return value;
    }
    return std::nullopt;
}

std::vector<std::string_view> Headers::all(std::string_view name) const {
    std::vector<std::string_view> values;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const auto [found, value] = at(i);
        if (same_ignoring_case(found, name)) values.push_back(value);
    }
    return values;
}

void Headers::add(std::string_view name, std::string_view value) {
    if (fields_.empty()) {
        fields_.reserve(8);
        bytes_.reserve(256);
    }
    fields_.push_back(
        {static_cast<std::uint32_t>(bytes_.size()),
         static_cast<std::uint32_t>(name.size()),
         static_cast<std::uint32_t>(value.size())}
    );
    bytes_.append(name).append(value);
}

void Headers::set(std::string_view name, std::string_view value) {
    // Either view may point into these headers.
    const std::string kept_name(name);
    const std::string kept_value(value);
    remove(kept_name);
    add(kept_name, kept_value);
}

void Headers::remove(std::string_view name) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        if (same_ignoring_case(at(i).first, name)) continue;
        fields_[kept++] = fields_[i];
    }
    fields_.resize(kept);
}

bool Headers::valid() const {
    for (std::size_t i = 0; i < fields_.size(); ++i) {
        const auto [name, value] = at(i);
        if (name.empty() || !std::ranges::all_of(name, token_character)) return false;
        if (!std::ranges::all_of(value, value_character)) return false;
    }
    return true;
}

}  // namespace http
