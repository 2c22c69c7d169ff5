#pragma once

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/limits.hpp"
#include "base/sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

/// How the types of this folder are read from JSON: strictly, every fault at once, each with its
/// RFC 6901 pointer. Used by the readers of this folder only.
namespace jobs::wire {

using Faults = std::vector<base::ErrorDetail>;

struct TextRule {
    std::size_t bytes_max = base::limits::argument_bytes_max;
    bool may_be_empty = true;
};
struct IntegerRule {
    std::int64_t min = 0;
    std::int64_t max = INT64_MAX;
};

/// One JSON object: each member is asked for by name; `finish` reports those nobody asked for. A
/// fault is added to `faults` and a harmless default returned, so reading goes on to the next.
class ObjectReader {
public:
    ObjectReader(const base::Json& value, std::string pointer, Faults& faults);

    /// The member, or null (with a fault when it is `required`).
    const base::Json* required(std::string_view key);
    const base::Json* optional(std::string_view key);

    std::string text(std::string_view key, TextRule rule = {});
    std::optional<std::string> optional_text(std::string_view key, TextRule rule = {});
    std::int64_t integer(std::string_view key, IntegerRule rule = {});
    std::optional<std::int64_t> optional_integer(std::string_view key, IntegerRule rule = {});
    double number(std::string_view key, double min, double max);
    bool boolean(std::string_view key);
    base::Digest digest(std::string_view key);
    /// Bytes written by `put_bytes`: the text `key`, or `<key>Base64` when it is not UTF-8.
    std::optional<std::string> optional_bytes(std::string_view key, TextRule rule = {});
    std::vector<std::string> texts(std::string_view key, std::size_t count_max, TextRule rule = {});
    std::map<std::string, std::string> text_map(std::string_view key, std::size_t count_max);

    /// Calls `read(element, pointer of the element)` for each element of the array `key`, which may
    /// be absent (= empty).
    template <class Read>
    void each(std::string_view key, std::size_t count_max, Read&& read) {
        const base::Json* list = array(key, count_max);
        const std::size_t count = list == nullptr ? 0 : size(*list);
        for (std::size_t i = 0; i < count; ++i) {
            read(element(*list, i), child(key) + "/" + std::to_string(i));
        }
    }

    [[nodiscard]] std::string child(std::string_view key) const;
    void fault(std::string_view key, std::string message);
    void finish();

private:
    const base::Json* array(std::string_view key, std::size_t count_max);
    static std::size_t size(const base::Json& list);
    static const base::Json& element(const base::Json& list, std::size_t i);
    /// Otherwise there is a fault at `pointer`.
    bool fits(std::string pointer, const base::Json& value, TextRule rule);

    const base::Json* object_ = nullptr;
    std::string pointer_;
    Faults& faults_;
    std::set<std::string, std::less<>> known_;
};

/// `object[key] = bytes`, or `object[<key>Base64]` when they are not UTF-8.
void put_bytes(base::Json& object, const std::string& key, std::string_view bytes);

/// The error that carries `faults`: "<what> has 3 faults: /a: ...".
base::Error error(std::string_view what, Faults faults);

}  // namespace jobs::wire
