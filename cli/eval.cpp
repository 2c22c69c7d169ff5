#include "cli/eval.hpp"

#include "base/files.hpp"
#include "base/json.hpp"
#include "nets/cel/cel.hpp"
#include "nets/cel/conformance.hpp"
#include "nets/cel/typed.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <string>
#include <utility>
#include <vector>

namespace cli {

namespace {

namespace cel = nets::cel;

Printed refused(const base::Error& error, int exit_code, bool json) {
    Printed printed;
    printed.exit_code = exit_code;
    if (json) {
        base::Json messages = base::Json::array();
        for (const base::ErrorDetail& detail : error.details)
            messages.push_back(detail.message);
        if (messages.empty()) messages.push_back(error.message);
        const base::Json report = {
            {"error", {{"code", base::name(error.code)}, {"messages", std::move(messages)}}}
        };
        printed.out = base::canonical(report) + "\n";
        return printed;
    }
    for (const base::ErrorDetail& detail : error.details)
        printed.err += detail.message + "\n";
    if (error.details.empty()) printed.err = error.message + "\n";
    if (!error.next.empty()) printed.err += error.next + "\n";
    return printed;
}

base::Result<std::string> for_programs(const cel::Value& value) {
    const auto typed = cel::to_typed(value);
    if (!typed) return base::fail(typed.error());
    return base::canonical(*typed);
}

// "int 42": the kind, and the value as JSON where it has such a form.
base::Result<std::string> for_people(const cel::Value& value) {
    std::string text = std::string(cel::name(value.kind())) + " ";
    if (value.is(cel::Kind::type)) return text.append(value.text());
    const auto written = cel::append_canonical(text, value);
    if (written) return text;
    if (written.error().code == base::ErrorCode::limit) return base::fail(written.error());
    return for_programs(value);
}

}  // namespace

Printed eval_expression(std::string_view expression, std::string_view with, bool json) {
    const auto data = base::parse_json(with.empty() ? "{}" : with, base::outside_limits);
    if (!data) return refused(data.error(), eval_refused, json);
    if (!data->is_object()) {
        const base::Error error{
            base::ErrorCode::validation,
            "--with takes a JSON object, its keys being the names in scope",
            "for example --with '{\"order\": {\"total\": 10}}'",
            {}
        };
        return refused(error, eval_refused, json);
    }
    cel::Scope scope;
    std::vector<cel::Value> values;
    for (const auto& [key, value] : data->items()) {
        scope.names.push_back(key);
        values.push_back(cel::Value::json(value));
    }
    const auto program = cel::Program::compile(expression, scope);
    if (!program) return refused(program.error(), eval_refused, json);
    cel::Budget budget;
    const auto value = program->evaluate(values, budget);
    if (!value) return refused(value.error(), eval_failed, json);
    const auto text = json ? for_programs(*value) : for_people(*value);
    if (!text) return refused(text.error(), eval_failed, json);
    Printed printed;
    printed.out = *text + "\n";
    return printed;
}

Printed eval_cases(const std::filesystem::path& file, bool json) {
    const auto text = base::read_file(file, base::JsonLimits{}.bytes_max);
    if (!text) return refused(text.error(), eval_refused, json);
    const auto cases = base::parse_json(*text, base::outside_limits);
    if (!cases) return refused(cases.error(), eval_refused, json);
    const auto result = cel::run_cases(*cases);
    if (!result) return refused(result.error(), eval_refused, json);
    Printed printed;
    printed.exit_code = result->failures.empty() ? 0 : eval_failed;
    if (json) {
        base::Json failures = base::Json::array();
        for (const cel::ConformanceFailure& failure : result->failures) {
            failures.push_back({
                {"name", failure.name},
                {"expr", failure.expression},
                {"wanted", failure.wanted},
                {"got", failure.got},
            });
        }
        const base::Json report = {
            {"passed", result->passed},
            {"failed", result->failures.size()},
            {"failures", std::move(failures)},
        };
        printed.out = base::canonical(report) + "\n";
        return printed;
    }
    for (const cel::ConformanceFailure& failure : result->failures) {
        printed.out += fmt::format(
            "{}: {}\n  wanted {}\n  got    {}\n",
            failure.name,
            failure.expression,
            failure.wanted,
            failure.got
        );
    }
    printed.out += fmt::format("{} passed, {} failed\n", result->passed, result->failures.size());
    return printed;
}

}  // namespace cli
