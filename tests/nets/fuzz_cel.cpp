// Any bytes compile to an expression or to faults; what compiles evaluates to a value or an error
// within its budget, twice the same; what a value is written as parses as JSON.
#include "nets/cel/cel.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

constexpr std::uint64_t steps = 20'000;

std::string outcome(const nets::cel::Program& program, const base::Json& order) {
    const std::array values = {nets::cel::Value::json(order), nets::cel::Value::integer(7)};
    nets::cel::Budget budget{steps};
    const auto value = program.evaluate(values, budget);
    if (budget.steps > steps) std::abort();
    if (!value) return value.error().message;
    std::string text;
    if (const auto written = nets::cel::append_canonical(text, *value); !written) {
        return written.error().message;
    }
    if (!base::parse_json(text)) std::abort();
    return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    const base::Json order = {
        {"id", "o-1"}, {"total", 10}, {"lines", {{{"price", 1.5}}, nullptr, true, {1, 2}}}
    };
    const nets::cel::Scope scope{{"order", "x"}};
    for (const bool checked : {true, false}) {
        const auto program = nets::cel::Program::compile(source, scope, {"", checked});
        if (!program) {
            if (program.error().message.empty()) std::abort();
            continue;
        }
        if (outcome(*program, order) != outcome(*program, order)) std::abort();
    }
    return 0;
}
