#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace http {

/// Header fields in the order given; names compare without regard to case. Kept in one string: a
/// request's headers cost two allocations.
class Headers {
public:
    Headers() = default;
    Headers(std::initializer_list<std::pair<std::string_view, std::string_view>> fields);

    /// The first value of that name. Valid until the headers change.
    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const;
    [[nodiscard]] std::vector<std::string_view> all(std::string_view name) const;
    [[nodiscard]] std::size_t size() const { return fields_.size(); }
    /// Name and value of field `index` < size().
    [[nodiscard]] std::pair<std::string_view, std::string_view> at(std::size_t index) const;

    void add(std::string_view name, std::string_view value);
    /// Replaces every field of that name.
    void set(std::string_view name, std::string_view value);
    void remove(std::string_view name);

    /// Whether every name is a token and no value holds a control character, so that the fields can
    /// be written into a message.
    [[nodiscard]] bool valid() const;

private:
    struct Field {
        std::uint32_t begin;
        std::uint32_t name_bytes;
        std::uint32_t value_bytes;
    };
    std::string bytes_;
    std::vector<Field> fields_;
};

/// ASCII only, as header names and schemes compare.
bool same_ignoring_case(std::string_view a, std::string_view b);

}  // namespace http
