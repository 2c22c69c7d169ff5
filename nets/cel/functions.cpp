#include "nets/cel/functions.hpp"

#include <algorithm>
#include <tuple>

namespace nets::cel {

namespace {

std::vector<Function> all_functions() {
    std::vector<Function> all;
    add_core_functions(all);
    add_conversions(all);
    add_string_functions(all);
    add_string_extensions(all);
    add_time_functions(all);
    add_math_functions(all);
    add_optional_functions(all);
    add_json_functions(all);
    std::ranges::sort(all, {}, [](const Function& function) {
        return std::tuple(function.name, function.member);
    });
    return all;
}

}  // namespace

std::span<const Function> overloads(std::string_view name, bool member) {
    static const std::vector<Function> all = all_functions();
    const auto found =
        std::ranges::equal_range(all, std::tuple(name, member), {}, [](const Function& function) {
            return std::tuple(function.name, function.member);
        });
    return {found.begin(), found.end()};
}

bool takes(const Function& function, std::size_t arguments) {
    const std::size_t parameters = function.parameters.size();
    return function.variadic ? arguments >= parameters : arguments == parameters;
}

}  // namespace nets::cel
