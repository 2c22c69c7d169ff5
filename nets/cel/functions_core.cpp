#include "nets/cel/evaluation.hpp"
#include "nets/cel/functions.hpp"
#include "nets/cel/text.hpp"

#include <fmt/format.h>

namespace nets::cel {

namespace {

base::Result<Value> size(Arguments arguments, Budget& budget) {
    const Value& value = arguments[0];
    std::size_t count = 0;
    if (value.is(Kind::string)) {
        if (!spend_text(budget, value.text().size())) return out_of_steps();
        count = character_count(value.text());
    } else {
        count = value.is(Kind::bytes) ? value.text().size() : value.size();
    }
    return Value::integer(static_cast<std::int64_t>(count));
}

base::Result<Value> type(Arguments arguments, Budget& /*budget*/) {
    return Value::type(arguments[0].kind());
}

base::Result<Value> same(Arguments arguments, Budget& /*budget*/) {
    return arguments[0];
}

// Adds like +, from left to right. What comes out is soft, as an empty list of tokens' numbers is.
base::Result<Value> sum(Arguments arguments, Budget& budget) {
    const Value& list = arguments[0];
    if (!spend(budget, list.size())) return out_of_steps();
    const auto summand = [](const Value& value) {
        return value.is_number() || value.is(Kind::duration);
    };
    if (list.size() == 0) return Value::integer(0).softened();
    Value total = list.at(0);
    if (!summand(total)) {
        return wrong(fmt::format("sum() adds numbers or durations, not {}", a_kind(total.kind())));
    }
    for (std::size_t i = 1; i < list.size(); ++i) {
        const Value next = list.at(i);
        if (!summand(next)) {
            return wrong(fmt::format("sum() adds numbers or durations, not {}", a_kind(next.kind()))
            );
        }
        auto added = arithmetic(Op::add, total, next, budget);
        if (!added) return added;
        total = std::move(*added);
    }
    return total;
}

}  // namespace

void add_core_functions(std::vector<Function>& all) {
    const Kinds sized = kinds(Kind::string, Kind::bytes, Kind::list, Kind::map);
    all.push_back({"size", false, {sized}, Kind::integer, size});
    all.push_back({"size", true, {sized}, Kind::integer, size});
    all.push_back({"type", false, {any_kind}, Kind::type, type});
    all.push_back({"dyn", false, {any_kind}, std::nullopt, same});
    all.push_back({"sum", false, {kinds(Kind::list)}, std::nullopt, sum});
}

}  // namespace nets::cel
