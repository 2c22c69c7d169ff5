#include "nets/cel/functions.hpp"

namespace nets::cel {

namespace {

bool zero(const Value& value) {
    switch (value.kind()) {
        case Kind::null:
            return true;
        case Kind::boolean:
            return !value.as_boolean();
        case Kind::integer:
        case Kind::uinteger:
        case Kind::real:
            return value == Value::integer(0);
        case Kind::string:
        case Kind::bytes:
            return value.text().empty();
        case Kind::list:
        case Kind::map:
            return value.size() == 0;
        case Kind::timestamp:
        case Kind::duration:
            return value.as_span() == Span{};
        case Kind::optional:
            return !value.inner();
        case Kind::type:
            break;
    }
    return false;
}

base::Result<Value> of(Arguments arguments, Budget& /*budget*/) {
    return Value::optional_of(arguments[0]);
}

base::Result<Value> of_non_zero(Arguments arguments, Budget& /*budget*/) {
    return zero(arguments[0]) ? Value::optional_none() : Value::optional_of(arguments[0]);
}

base::Result<Value> none(Arguments /*arguments*/, Budget& /*budget*/) {
    return Value::optional_none();
}

base::Result<Value> has_value(Arguments arguments, Budget& /*budget*/) {
    return Value::boolean(arguments[0].inner() != nullptr);
}

base::Result<Value> value_of(Arguments arguments, Budget& /*budget*/) {
    if (const Value* inner = arguments[0].inner()) return *inner;
    return wrong("the optional holds nothing; orValue(x) gives it a default");
}

}  // namespace

void add_optional_functions(std::vector<Function>& all) {
    const Kinds optional = kinds(Kind::optional);
    all.push_back({"optional.of", false, {any_kind}, Kind::optional, of});
    all.push_back({"optional.ofNonZeroValue", false, {any_kind}, Kind::optional, of_non_zero});
    all.push_back({"optional.none", false, {}, Kind::optional, none});
    all.push_back({"hasValue", true, {optional}, Kind::boolean, has_value});
    all.push_back({"value", true, {optional}, std::nullopt, value_of});
}

}  // namespace nets::cel
