#include "cli/eval.hpp"

#include "base/files.hpp"
#include "base/json.hpp"

#include <doctest/doctest.h>

#include <fstream>

TEST_CASE("eval prints a value with its kind, or as typed JSON") {
    CHECK(cli::eval_expression("1 + 1", "", false).out == "int 2\n");
    CHECK(cli::eval_expression("1 + 1", "", true).out == "{\"type\":\"int\",\"value\":\"2\"}\n");
    CHECK(cli::eval_expression("[1u, 'a', null]", "", false).out == "list [1,\"a\",null]\n");
    CHECK(
        cli::eval_expression("0.0 / 0.0", "", false).out ==
        "{\"type\":\"double\",\"value\":\"NaN\"}\n"
    );
    CHECK(cli::eval_expression("type(b'')", "", false).out == "type bytes\n");
    const auto with =
        cli::eval_expression("order.total * 1.5", R"({"order": {"total": 10}})", true);
    CHECK(with.out == "{\"type\":\"double\",\"value\":\"15\"}\n");
    CHECK(with.exit_code == 0);
}

TEST_CASE("eval tells an evaluation that fails from an expression that does not compile") {
    const auto failed = cli::eval_expression("1 / a", R"({"a": 0})", false);
    CHECK(failed.exit_code == cli::eval_failed);
    CHECK(failed.out.empty());
    CHECK(failed.err == "line 1, column 3: division by zero\n");
    const auto refused = cli::eval_expression("b + c", R"({"a": 0})", false);
    CHECK(refused.exit_code == cli::eval_refused);
    CHECK(
        refused.err ==
        "line 1, column 1: unknown name 'b'; in scope: a\n"
        "line 1, column 5: unknown name 'c'; in scope: a\n"
    );
    CHECK(
        cli::eval_expression("b", "", true).out ==
        "{\"error\":{\"code\":\"validation\",\"messages\":[\"line 1, column 1: unknown name 'b'; "
        "no names are in scope\"]}}\n"
    );
    CHECK(cli::eval_expression("1", "[1]", false).exit_code == cli::eval_refused);
    CHECK(cli::eval_expression("1", "{", false).exit_code == cli::eval_refused);
}

TEST_CASE("eval counts the cases of a file that pass and names the others") {
    const base::TemporaryFolder folder;
    const auto file = folder.path() / "cases.json";
    std::ofstream(file) << R"([
        {"section": "s", "name": "right", "expr": "1 + 1", "value": {"type": "int", "value": "2"}},
        {"section": "s", "name": "kind", "expr": "1 + 1", "value": {"type": "uint", "value": "2"}},
        {"section": "s", "name": "fails", "expr": "1 / 0", "error": true}
    ])";
    const auto printed = cli::eval_cases(file, true);
    CHECK(printed.exit_code == cli::eval_failed);
    CHECK(
        printed.out ==
        "{\"failed\":1,\"failures\":[{\"expr\":\"1 + 1\",\"got\":\"{\\\"type\\\":\\\"int\\\","
        "\\\"value\\\":\\\"2\\\"}\",\"name\":\"s/kind\",\"wanted\":\"{\\\"type\\\":\\\"uint\\\","
        "\\\"value\\\":\\\"2\\\"}\"}],\"passed\":2}\n"
    );
    std::ofstream(file) << R"([{"expr": "1", "valeu": 1}])";
    CHECK(cli::eval_cases(file, true).exit_code == cli::eval_refused);
    CHECK(cli::eval_cases(folder.path() / "absent.json", false).exit_code == cli::eval_refused);
}

TEST_CASE("eval writes no more than the master would, however often a value holds the same list") {
    // Doubles with each level: 2^40 values, in 41 lists.
    std::string expression = "[1]";
    for (int i = 0; i < 40; ++i)
        expression = "[" + expression + "].map(x, [x, x])[0]";
    for (const bool json : {false, true}) {
        const auto printed = cli::eval_expression(expression, "", json);
        CHECK(printed.exit_code == cli::eval_failed);
        CHECK((printed.out + printed.err).contains("over 16777216 bytes"));
    }
    std::string many = R"({"a": [0)";
    for (std::size_t i = 0; i < base::outside_limits.nodes_max; ++i)
        many += ",0";
    CHECK(cli::eval_expression("1", many + "]}", false).exit_code == cli::eval_refused);
}
