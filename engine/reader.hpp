#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

/// Reads canonical JSON (as base/json.hpp writes it: no white space) front to back without building
/// a value: a replay reads millions of records. After the first surprise `ok` is false and every
/// call gives nothing.
class Reader {
public:
    explicit Reader(std::string_view text) : text_(text) {}

    [[nodiscard]] bool ok() const { return !failed_; }
    [[nodiscard]] bool at_end() const { return !failed_ && position_ == text_.size(); }

    void open_object() { expect('{'); }
    /// The next key of the object entered, or nothing at its end (which is then consumed).
    std::optional<std::string_view> key();
    void open_array() { expect('['); }
    /// True when there is another element; at the end the bracket is consumed.
    bool element();

    std::string string();
    std::int64_t integer();
    std::uint64_t unsigned_integer();
    bool boolean();
    /// The bytes of the next value, whatever it is.
    std::string_view raw();

private:
    [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
    void expect(char c);
    void fail() { failed_ = true; }
    std::string_view quoted();

    std::string_view text_;
    std::size_t position_ = 0;
    bool failed_ = false;
};

}  // namespace engine
