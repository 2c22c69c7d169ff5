#pragma once

#include "base/clock.hpp"
#include "base/json.hpp"
#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nets::cel {

enum class Kind : std::uint8_t {
    null,
    boolean,
    integer,
    uinteger,
    real,
    string,
    bytes,
    list,
    map,
    timestamp,
    duration,
    type,
    optional,
};

/// The name that `type(x)` has for the kind: "int", "google.protobuf.Timestamp", ...
std::string_view name(Kind kind);
/// The same with its article, for messages: "an int".
std::string a_kind(Kind kind);

/// Seconds and nanoseconds; nanoseconds are 0 to 999'999'999 and count forward, also before zero.
/// A point in time counts from 1970-01-01T00:00:00Z.
struct Span {
    std::int64_t seconds = 0;
    std::int32_t nanoseconds = 0;
    auto operator<=>(const Span&) const = default;
};

struct ListRep;
struct MapRep;
struct TextRep;
struct BoxRep;

/// A value of the Common Expression Language: immutable, 24 bytes, copied without copying what it
/// holds, usable from any thread. A value made by `json` or `borrow_*` points into something that
/// must outlive it and everything taken out of it.
class Value {
public:
    /// null
    Value() = default;
    Value(const Value& other);
    Value(Value&& other) noexcept;
    Value& operator=(const Value& other);
    Value& operator=(Value&& other) noexcept;
    ~Value();

    static Value boolean(bool value);
    static Value integer(std::int64_t value);
    static Value uinteger(std::uint64_t value);
    static Value real(double value);
    static Value string(std::string text);  ///< `text` must be UTF-8
    static Value bytes(std::string bytes);
    static Value borrow_string(std::string_view text);
    static Value list(std::vector<Value> elements);
    /// Keys are bool, int, uint or string; a key given twice or of another kind is an error.
    static base::Result<Value> map(std::vector<std::pair<Value, Value>> entries);
    static Value timestamp(Span since_epoch);
    static Value timestamp(base::Timestamp at);
    static Value duration(Span length);
    static Value type(Kind of);
    static Value type(std::string name);
    static Value optional_none();
    static Value optional_of(Value inner);
    /// Borrows `json`, lazily: nothing below is looked at before it is asked for. Its numbers, and
    /// those of everything below, are soft.
    static Value json(const base::Json& json);
    /// The same as a deep copy that borrows nothing.
    static Value owned_json(const base::Json& json);

    [[nodiscard]] Kind kind() const { return kind_; }
    [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
    [[nodiscard]] bool is_number() const { return kind_ >= Kind::integer && kind_ <= Kind::real; }
    /// A number that came from a token: its arithmetic widens int to double instead of refusing.
    [[nodiscard]] bool soft() const { return soft_; }
    [[nodiscard]] Value softened() const;

    // The accessors below are for values of the kind they name, only.
    [[nodiscard]] bool as_boolean() const { return payload_.boolean; }
    [[nodiscard]] std::int64_t as_integer() const { return payload_.integer; }
    [[nodiscard]] std::uint64_t as_uinteger() const { return payload_.uinteger; }
    [[nodiscard]] double as_real() const { return payload_.real; }
    /// Of a timestamp or duration.
    [[nodiscard]] Span as_span() const { return {payload_.integer, extra_.nanoseconds}; }
    /// Of a string, of bytes, or the name of a type.
    [[nodiscard]] std::string_view text() const;
    /// Elements of a list, entries of a map.
    [[nodiscard]] std::size_t size() const;
    /// Of a list; `index` below size().
    [[nodiscard]] Value at(std::size_t index) const;
    /// Of a map. A number finds a key of any numeric kind that is equal to it.
    [[nodiscard]] std::optional<Value> find(const Value& key) const;
    [[nodiscard]] std::optional<Value> find(std::string_view key) const;
    /// Of a map, in the order in which comprehensions visit them.
    [[nodiscard]] std::vector<std::pair<Value, Value>> entries() const;
    /// Of an optional: what it holds, or nullptr.
    [[nodiscard]] const Value* inner() const;

private:
    enum class Form : std::uint8_t { plain, borrowed, json, owned };

    void retain() const;
    void release();

    union Payload {
        std::int64_t integer = 0;
        std::uint64_t uinteger;
        double real;
        bool boolean;
        const char* text;
        const base::Json* json;
        const ListRep* list;
        const MapRep* map;
        const TextRep* owned_text;
        const BoxRep* box;
    };
    union Extra {
        std::uint64_t length = 0;
        std::int32_t nanoseconds;
    };

    Kind kind_ = Kind::null;
    Form form_ = Form::plain;
    bool soft_ = false;
    Payload payload_;
    Extra extra_;
};

/// CEL's `==`: never an error; kinds that differ are unequal, except that numbers compare by value,
/// exactly, on one line of numbers. NaN is unequal to everything.
bool operator==(const Value& left, const Value& right);
/// The same, adding to `work` one for each element compared and each 64 bytes of text. Stops with
/// false when `work` passes `work_max`: look at it before trusting the answer.
bool equal(const Value& left, const Value& right, std::uint64_t& work, std::uint64_t work_max);

/// Bytes that two values share exactly when `==` calls them equal; nothing for what holds a NaN,
/// which is equal to nothing, and for what takes more than 1 MiB.
std::optional<std::string> identity(const Value& value);

/// CEL's `<` and its kin: numbers among each other (an integer meets a double as the double nearest
/// to it, as CEL's conformance cases ask), strings, bytes, bools, timestamps, durations.
/// Unordered when the kinds have no order between them or one is NaN.
std::partial_ordering order(const Value& left, const Value& right);

/// More than this, in one value written as JSON, is refused with `limit`.
struct WriteLimits {
    std::size_t bytes_max = base::JsonLimits{}.bytes_max;
    std::size_t depth_max = base::JsonLimits{}.depth_max;
};

/// Appends canonical JSON (base/json.hpp): bytes become base64, timestamps and durations text, keys
/// of maps strings, an empty optional null. NaN, infinities, types, a uint beyond int64 and
/// keys that become equal are the error `validation`. After an error `out` is as it was.
base::Result<void> append_canonical(
    std::string& out, const Value& value, const WriteLimits& limits = {}
);
base::Result<base::Json> to_json(const Value& value, const WriteLimits& limits = {});

/// RFC 3339 in UTC with as many digits of fraction as needed; "3.5s".
std::string timestamp_text(Span since_epoch);
std::string duration_text(Span length);

inline Value::Value(const Value& other)
    : kind_(other.kind_),
      form_(other.form_),
      soft_(other.soft_),
      payload_(other.payload_),
      extra_(other.extra_) {
    if (form_ == Form::owned) retain();
}

inline Value::Value(Value&& other) noexcept
    : kind_(other.kind_),
      form_(other.form_),
      soft_(other.soft_),
      payload_(other.payload_),
      extra_(other.extra_) {
    other.kind_ = Kind::null;
    other.form_ = Form::plain;
    other.soft_ = false;
}

inline Value& Value::operator=(Value&& other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(form_, other.form_);
    std::swap(soft_, other.soft_);
    std::swap(payload_, other.payload_);
    std::swap(extra_, other.extra_);
    return *this;
}

inline Value& Value::operator=(const Value& other) {
    return *this = Value(other);
}

inline Value::~Value() {
    if (form_ == Form::owned) release();
}

inline Value Value::boolean(bool value) {
    Value made;
    made.kind_ = Kind::boolean;
    made.payload_.boolean = value;
    return made;
}

inline Value Value::integer(std::int64_t value) {
    Value made;
    made.kind_ = Kind::integer;
    made.payload_.integer = value;
    return made;
}

inline Value Value::uinteger(std::uint64_t value) {
    Value made;
    made.kind_ = Kind::uinteger;
    made.payload_.uinteger = value;
    return made;
}

inline Value Value::real(double value) {
    Value made;
    made.kind_ = Kind::real;
    made.payload_.real = value;
    return made;
}

static_assert(sizeof(Value) <= 24);

}  // namespace nets::cel
