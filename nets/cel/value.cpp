#include "nets/cel/value.hpp"

#include "nets/cel/value_reps.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <limits>

namespace nets::cel {

namespace {

constexpr std::int64_t microseconds_in_second = 1'000'000;

template <class Rep>
void drop(const Rep* rep) {
    if (rep->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep;
}

void count(const Counted* rep) {
    rep->references.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

std::string_view name(Kind kind) {
    static constexpr std::array<std::string_view, 13> names = {
        "null_type",
        "bool",
        "int",
        "uint",
        "double",
        "string",
        "bytes",
        "list",
        "map",
        "google.protobuf.Timestamp",
        "google.protobuf.Duration",
        "type",
        "optional_type",
    };
    return names.at(static_cast<std::size_t>(kind));
}

std::string a_kind(Kind kind) {
    const bool vowel = kind == Kind::integer || kind == Kind::optional;
    return std::string(vowel ? "an " : "a ").append(name(kind));
}

void Value::retain() const {
    switch (kind_) {
        case Kind::string:
        case Kind::bytes:
        case Kind::type:
            return count(payload_.owned_text);
        case Kind::list:
            return count(payload_.list);
        case Kind::map:
            return count(payload_.map);
        case Kind::optional:
            return count(payload_.box);
        case Kind::null:
        case Kind::boolean:
        case Kind::integer:
        case Kind::uinteger:
        case Kind::real:
        case Kind::timestamp:
        case Kind::duration:
            return;
    }
}

void Value::release() {
    switch (kind_) {
        case Kind::string:
        case Kind::bytes:
        case Kind::type:
            return drop(payload_.owned_text);
        case Kind::list:
            return drop(payload_.list);
        case Kind::map:
            return drop(payload_.map);
        case Kind::optional:
            return drop(payload_.box);
        case Kind::null:
        case Kind::boolean:
        case Kind::integer:
        case Kind::uinteger:
        case Kind::real:
        case Kind::timestamp:
        case Kind::duration:
            return;
    }
}

Value Value::string(std::string text) {
    Value made;
    made.payload_.owned_text = new TextRep(std::move(text));
    made.kind_ = Kind::string;
    made.form_ = Form::owned;
    return made;
}

Value Value::bytes(std::string bytes) {
    Value made = string(std::move(bytes));
    made.kind_ = Kind::bytes;
    return made;
}

Value Value::borrow_string(std::string_view text) {
    Value made;
    made.kind_ = Kind::string;
    made.form_ = Form::borrowed;
    made.payload_.text = text.data();
    made.extra_.length = text.size();
    return made;
}

Value Value::list(std::vector<Value> elements) {
    Value made;
    made.payload_.list = new ListRep(std::move(elements));
    made.kind_ = Kind::list;
    made.form_ = Form::owned;
    return made;
}

Value Value::timestamp(Span since_epoch) {
    Value made;
    made.kind_ = Kind::timestamp;
    made.payload_.integer = since_epoch.seconds;
    made.extra_.nanoseconds = since_epoch.nanoseconds;
    return made;
}

Value Value::timestamp(base::Timestamp at) {
    std::int64_t seconds = at.us / microseconds_in_second;
    std::int64_t rest = at.us % microseconds_in_second;
    if (rest < 0) {
        rest += microseconds_in_second;
        --seconds;
    }
    return timestamp(Span{seconds, static_cast<std::int32_t>(rest * 1000)});
}

Value Value::duration(Span length) {
    Value made = timestamp(length);
    made.kind_ = Kind::duration;
    return made;
}

Value Value::type(Kind of) {
    Value made = borrow_string(name(of));
    made.kind_ = Kind::type;
    return made;
}

Value Value::type(std::string name) {
    Value made = string(std::move(name));
    made.kind_ = Kind::type;
    return made;
}

Value Value::optional_none() {
    Value made;
    made.kind_ = Kind::optional;
    return made;
}

Value Value::optional_of(Value inner) {
    Value made;
    made.payload_.box = new BoxRep(std::move(inner));
    made.kind_ = Kind::optional;
    made.form_ = Form::owned;
    return made;
}

Value Value::softened() const {
    Value made = *this;
    made.soft_ = is_number();
    return made;
}

Value Value::json(const base::Json& json) {
    Value made;
    switch (json.type()) {
        case base::Json::value_t::null:
        case base::Json::value_t::discarded:
            return made;
        case base::Json::value_t::boolean:
            return boolean(json.get<bool>());
        case base::Json::value_t::number_integer:
            made = integer(json.get<std::int64_t>());
            break;
        case base::Json::value_t::number_unsigned: {
            const auto number = json.get<std::uint64_t>();
            made = std::in_range<std::int64_t>(number) ? integer(static_cast<std::int64_t>(number))
                                                       : uinteger(number);
            break;
        }
        case base::Json::value_t::number_float:
            made = real(json.get<double>());
            break;
        case base::Json::value_t::string:
            return borrow_string(json.get_ref<const std::string&>());
        case base::Json::value_t::binary:
            base::check(false, "a JSON value with binary data");
            return made;
        case base::Json::value_t::array:
            made.kind_ = Kind::list;
            made.form_ = Form::json;
            made.payload_.json = &json;
            return made;
        case base::Json::value_t::object:
            made.kind_ = Kind::map;
            made.form_ = Form::json;
            made.payload_.json = &json;
            return made;
    }
    made.soft_ = true;
    return made;
}

Value Value::owned_json(const base::Json& json) {
    if (json.is_string()) return string(json.get<std::string>());
    if (json.is_array()) {
        std::vector<Value> elements;
        elements.reserve(json.size());
        for (const auto& child : json)
            elements.push_back(owned_json(child));
        return list(std::move(elements));
    }
    if (json.is_object()) {
        std::vector<std::pair<Value, Value>> entries;
        entries.reserve(json.size());
        for (const auto& [key, child] : json.get_ref<const base::Json::object_t&>())
            entries.emplace_back(string(key), owned_json(child));
        return *map(std::move(entries));  // keys of an object are strings and differ
    }
    return Value::json(json);
}

std::string_view Value::text() const {
    if (form_ == Form::owned) return payload_.owned_text->text;
    return {payload_.text, extra_.length};
}

std::size_t Value::size() const {
    if (form_ == Form::json) return payload_.json->size();
    return kind_ == Kind::list ? payload_.list->elements.size() : payload_.map->entries.size();
}

Value Value::at(std::size_t index) const {
    if (form_ == Form::json) return json((*payload_.json)[index]);
    return payload_.list->elements[index];
}

const Value* Value::inner() const {
    return form_ == Form::owned ? &payload_.box->value : nullptr;
}

}  // namespace nets::cel
