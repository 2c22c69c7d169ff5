#include "cli/command.hpp"
#include "cli/eval.hpp"

#include <cstdio>

namespace cli {

namespace {

struct EvalOptions {
    std::string expression;
    std::string with;
    std::string cases;
};
void declare_eval(CLI::App& app, EvalOptions& options) {
    auto* expression = app.add_option("EXPR", options.expression, "The expression");
    app.add_option("--with", options.with, "JSON object: the names in scope")->needs(expression);
    app.add_option("--cases", options.cases, "File of test cases to run")->excludes(expression);
}

Outcome<Exit> eval(Context& context, const EvalOptions& options) {
    if (options.expression.empty() && options.cases.empty()) {
        return wrong_usage("no expression is given", "netwright eval 'a + 1' --with '{\"a\": 1}'");
    }
    const auto printed = options.cases.empty()
                             ? eval_expression(options.expression, options.with, context.json)
                             : eval_cases(options.cases, context.json);
    std::fwrite(printed.out.data(), 1, printed.out.size(), stdout);
    std::fwrite(printed.err.data(), 1, printed.err.size(), stderr);
    return static_cast<Exit>(printed.exit_code);
}

}  // namespace

void add_eval(CLI::App& app, Context& context) {
    add_command<EvalOptions>(
        app,
        {"eval", "The typed value of an expression", Takes::nothing},
        context,
        &declare_eval,
        &eval
    );
}

}  // namespace cli
