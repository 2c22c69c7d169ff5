#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "nets/faults.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nets {

/// Readers of one value each. What does not fit is a fault at `at`, and nothing comes back.
std::optional<std::string> read_text(const base::Json& value, const At& at, Faults& faults);
std::optional<bool> read_boolean(const base::Json& value, const At& at, Faults& faults);
/// Net, place and transition names, aliases: base::valid_name.
std::optional<std::string> read_name(const base::Json& value, const At& at, Faults& faults);

struct IntegerRange {
    std::int64_t min = 0;
    std::int64_t max = 0;
};
std::optional<std::int64_t> read_integer(
    const base::Json& value, const At& at, Faults& faults, IntegerRange range
);

struct NumberRange {
    double min = 0;
    double max = 0;
};
std::optional<double> read_number(
    const base::Json& value, const At& at, Faults& faults, NumberRange range
);

struct DurationRange {
    base::Duration min;
    base::Duration max = base::seconds(std::int64_t{366} * 86'400);
};
std::optional<base::Duration> read_duration(
    const base::Json& value, const At& at, Faults& faults, DurationRange range = {}
);

/// The index of the text among `choices`.
std::optional<std::size_t> read_choice(
    const base::Json& value, const At& at, Faults& faults, std::span<const std::string_view> choices
);

bool expect_object(const base::Json& value, const At& at, Faults& faults);
bool expect_list(const base::Json& value, const At& at, Faults& faults);

/// "must be a list, not a string"
std::string wrong_type(std::string_view wanted, const base::Json& value);
/// "'fifo', 'lifo' or 'x'"
std::string alternatives(std::span<const std::string_view> choices);

/// The fields of one object of the document. Fields that are not `known` are faults from the start.
class Fields {
public:
    Fields(
        const base::Json& object,
        const At& at,
        Faults& faults,
        std::span<const std::string_view> known
    );
    /// Null when the field is absent.
    [[nodiscard]] const base::Json* find(std::string_view name) const;
    /// The same; absence is a fault.
    [[nodiscard]] const base::Json* require(std::string_view name) const;
    [[nodiscard]] bool has(std::string_view name) const { return find(name) != nullptr; }

private:
    const base::Json* object_;  // null when it is none
    const At& at_;
    Faults& faults_;
};

}  // namespace nets
