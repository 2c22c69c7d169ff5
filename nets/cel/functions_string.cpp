#include "nets/cel/functions.hpp"
#include "nets/cel/regex.hpp"
#include "nets/cel/text.hpp"

namespace nets::cel {

namespace {

// Compiling a pattern that is not constant costs as much as this many nodes, and more by length.
constexpr std::uint64_t pattern_steps = 100;

bool spend_both(Arguments arguments, Budget& budget) {
    return spend_text(budget, arguments[0].text().size() + arguments[1].text().size());
}

base::Result<Value> contains(Arguments arguments, Budget& budget) {
    if (!spend_both(arguments, budget)) return out_of_steps();
    return Value::boolean(
        find_text(arguments[0].text(), arguments[1].text(), 0) != std::string_view::npos
    );
}

base::Result<Value> starts_with(Arguments arguments, Budget& budget) {
    if (!spend_text(budget, arguments[1].text().size())) return out_of_steps();
    return Value::boolean(arguments[0].text().starts_with(arguments[1].text()));
}

base::Result<Value> ends_with(Arguments arguments, Budget& budget) {
    if (!spend_text(budget, arguments[1].text().size())) return out_of_steps();
    return Value::boolean(arguments[0].text().ends_with(arguments[1].text()));
}

base::Result<Value> matches(Arguments arguments, Budget& budget) {
    if (!spend(budget, pattern_steps + arguments[1].text().size())) return out_of_steps();
    const auto pattern = compile_pattern(arguments[1].text());
    if (!pattern) return std::unexpected(pattern.error());
    if (!spend(budget, search_steps(**pattern, arguments[0].text()))) return out_of_steps();
    return Value::boolean(found_in(**pattern, arguments[0].text()));
}

}  // namespace

void add_string_functions(std::vector<Function>& all) {
    const Kinds text = kinds(Kind::string);
    all.push_back({"contains", true, {text, text}, Kind::boolean, contains});
    all.push_back({"startsWith", true, {text, text}, Kind::boolean, starts_with});
    all.push_back({"endsWith", true, {text, text}, Kind::boolean, ends_with});
    all.push_back({"matches", true, {text, text}, Kind::boolean, matches});
    all.push_back({"matches", false, {text, text}, Kind::boolean, matches});
}

}  // namespace nets::cel
