#include "nets/cel/cel.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using nets::cel::Budget;
using nets::cel::Program;
using nets::cel::Value;

namespace {

// The expression's value as canonical JSON, or "error: " and what went wrong. `data` is an object:
// its keys are the names in scope.
std::string result(std::string_view expression, const base::Json& data = base::Json::object()) {
    nets::cel::Scope scope;
    std::vector<Value> values;
    for (const auto& [key, value] : data.items()) {
        scope.names.push_back(key);
        values.push_back(Value::json(value));
    }
    const auto program = Program::compile(expression, scope);
    if (!program) return "refused: " + program.error().message;
    Budget budget;
    const auto value = program->evaluate(values, budget);
    if (!value) return "error: " + value.error().message;
    std::string text;
    const auto written = nets::cel::append_canonical(text, *value);
    return written ? text : "error: " + written.error().message;
}

base::Error refusal(std::string_view expression) {
    const auto program = Program::compile(expression, {});
    return program ? base::Error{} : program.error();
}

Program compiled(std::string_view expression, std::vector<std::string> names = {}) {
    auto program = Program::compile(expression, {std::move(names)});
    REQUIRE_MESSAGE(program, program.error().message);
    return *program;
}

}  // namespace

TEST_CASE("numbers of a token mix with doubles, literals among themselves do not") {
    const base::Json data = {{"order", {{"total", 10}, {"rate", 0.5}, {"lines", {1, 2.5}}}}};
    CHECK(result("order.total * 1.25", data) == "12.5");
    CHECK(result("1.25 * order.total", data) == "12.5");
    CHECK(result("order.rate * 4", data) == "2.0");
    CHECK(result("order.total * order.rate + 1", data) == "6.0");
    CHECK(result("-order.total * 1.5", data) == "-15.0");
    CHECK(result("order.total * 2 + 0.5", data) == "20.5");
    CHECK(result("order.total / 4", data) == "2");
    CHECK(result("order.lines.map(l, l * 2)", data) == "[2,5.0]");
    CHECK(result("sum(order.lines) * 2", data) == "7.0");
    CHECK(result("sum(order.lines.filter(l, l > 9)) * 1.5", data) == "0.0");
    CHECK(result("math.ceil(order.total) * 2", data) == "20.0");
    CHECK(result("math.abs(order.total) * 1.5", data) == "15.0");
    CHECK(result("double(order.total) * 2", data) == "20.0");
    CHECK(result("json.parse('{\"a\": 3}').a * 1.5") == "4.5");
    CHECK(
        result("10 * 1.25") ==
        "refused: line 1, column 4: there is no int * double; convert one side, as in double(x)"
    );
    CHECK(
        result("size(order.lines) * 1.5", data) ==
        "refused: line 1, column 19: there is no int * double; convert one side, as in double(x)"
    );
    CHECK(
        result("order.total + 'x'", data) ==
        "error: line 1, column 13: there is no int + string; string(x) makes text of a value"
    );
}

TEST_CASE("what CEL lacks is there: json, sum, url") {
    CHECK(result("json.parse('[1, {\"a\": null}]')[1].a == null") == "true");
    CHECK(
        result("json.format({'b': 1, 'a': [1.0, b'x']})") == R"("{\"a\":[1.0,\"eA==\"],\"b\":1}")"
    );
    CHECK(result("sum([1, 2, 3])") == "6");
    CHECK(result("sum([duration('1m'), duration('30s')])") == "\"90s\"");
    CHECK(
        result("sum(['a'])") ==
        "error: line 1, column 1: sum() adds numbers or durations, not a string"
    );
    CHECK(result("url.encode('a b/ü~')") == "\"a%20b%2F%C3%BC~\"");
    CHECK(
        result("json.parse('{')") ==
        "error: line 1, column 6: not JSON: parse error at line 1, column 2: syntax error while "
        "parsing object key - unexpected end of input; expected string literal"
    );
}

TEST_CASE("errors of evaluation name the place and the reason") {
    const base::Json data = {{"order", {{"id", "o-1"}, {"lines", {1, 2}}}}};
    CHECK(result("order.total > 1", data) == "error: line 1, column 7: there is no field 'total'");
    CHECK(
        result("order\n  .lines[2]", data) ==
        "error: line 2, column 9: there is no element 2 in a list of 2"
    );
    CHECK(result("order.id.x", data) == "error: line 1, column 10: a string has no field 'x'");
    CHECK(result("order['ä' + 'b']", data) == "error: line 1, column 6: there is no key 'äb'");
    CHECK(result("order.id > 3", data) == "error: line 1, column 10: there is no string > int");
    CHECK(result("1 / (order.lines[0] - 1)", data) == "error: line 1, column 3: division by zero");
    CHECK(
        result("order.id ? 1 : 2", data) ==
        "error: line 1, column 10: ?: asks for a bool, not a string"
    );
    CHECK(
        result("order.lines.all(l, l)", data) ==
        "error: line 1, column 20: all() asks for a condition, not an int"
    );
    CHECK(
        result("timestamp(order.id)", data) ==
        "error: line 1, column 1: 'o-1' is no timestamp such as 2026-01-31T12:00:00Z"
    );
    CHECK(
        result("order.id.upperAscii(1)", data) ==
        "refused: line 1, column 10: upperAscii() does not take 1 argument"
    );
}

TEST_CASE("a faulty expression is refused with every fault at its place") {
    const base::Error error =
        refusal("ordr.total > 1 &&\n  foo(2) || 'a' + 1 == 'x' || size() > 2");
    REQUIRE(error.details.size() == 4);
    CHECK(error.code == base::ErrorCode::validation);
    CHECK(
        error.details[0].message == "line 1, column 1: unknown name 'ordr'; no names are in scope"
    );
    CHECK(error.details[1].message == "line 2, column 3: unknown function 'foo'");
    CHECK(
        error.details[2].message ==
        "line 2, column 17: there is no string + int; string(x) "
        "makes text of a value"
    );
    CHECK(error.details[3].message == "line 2, column 31: size() does not take 0 arguments");
    CHECK(error.message == error.details[0].message + " (and 3 more)");
}

TEST_CASE("faults of syntax say what was expected") {
    CHECK(
        refusal("1 +").message ==
        "line 1, column 4: expected a value, found the end of the "
        "expression"
    );
    CHECK(
        refusal("(1 + 2").message ==
        "line 1, column 7: expected ')', found the end of the expression"
    );
    CHECK(refusal("a = 1").message == "line 1, column 3: '=' has no meaning; write == to compare");
    CHECK(refusal("'abc").message == "line 1, column 1: the literal has no closing '");
    CHECK(refusal("'a\\qb'").message == "line 1, column 1: the escape \\q is malformed");
    CHECK(refusal("1 2").message == "line 1, column 3: expected an operator or the end, found '2'");
    CHECK(refusal("12abc").message == "line 1, column 1: '12abc' is neither a number nor a name");
    CHECK(
        refusal("99999999999999999999").message ==
        "line 1, column 1: the number 99999999999999999999 is out of range"
    );
    CHECK(refusal("for").message == "line 1, column 1: 'for' is a reserved word");
    CHECK(
        refusal("has(1)").message ==
        "line 1, column 5: has() takes the field of something, as in has(order.total)"
    );
    CHECK(
        refusal("[1].map(1, 2)").message ==
        "line 1, column 9: map() takes the name of a variable here"
    );
    CHECK(
        refusal("Point{x: 1}").message ==
        "line 1, column 6: messages cannot be built here; write a map: {'name': value}"
    );
    CHECK(
        refusal("'x'.matches('(')").message ==
        "line 1, column 13: the pattern '(' is not RE2: missing ): ("
    );
    CHECK(
        refusal("").message == "line 1, column 1: expected a value, found the end of the expression"
    );
}

TEST_CASE("a program tells which names and paths it reads") {
    const Program program =
        compiled("has(a.x.y) && a.b.c > b['k'].d[0] && c.?e.hasValue()", {"a", "b", "c", "d"});
    CHECK(program.uses(0));
    CHECK(program.uses(2));
    CHECK(!program.uses(3));
    const std::vector<std::vector<std::string>> wanted = {
        {"a", "b", "c"}, {"a", "x"}, {"b", "k", "d"}, {"c"}
    };
    CHECK(program.paths() == wanted);
    CHECK(program.bare_name() == -1);
    CHECK(compiled("b", {"a", "b"}).bare_name() == 1);
    CHECK(compiled("(b)", {"a", "b"}).bare_name() == 1);
    CHECK(program.source().starts_with("has(a.x.y)"));
}

TEST_CASE("a variable of a macro hides a name of the scope") {
    const base::Json data = {{"x", 1}};
    CHECK(result("[5].map(x, x + 1)", data) == "[6]");
    CHECK(result("[5].map(y, x + y) + [x]", data) == "[6,1]");
    CHECK(result("[5].map(x, [7].map(x, x)) + [[x]]", data) == "[[7],[1]]");
    CHECK(result("cel.bind(x, x + 1, x * 10)", data) == "20");
}
