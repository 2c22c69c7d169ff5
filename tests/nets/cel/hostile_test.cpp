#include "nets/cel/cel.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using nets::cel::Budget;
using nets::cel::Program;
using nets::cel::Value;

namespace {

std::string repeated(std::string_view part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i)
        text += part;
    return text;
}

base::Result<Value> evaluated(
    std::string_view expression, const base::Json& x = nullptr, std::uint64_t steps = 100'000
) {
    const auto program = Program::compile(expression, {{"x"}});
    if (!program) return std::unexpected(program.error());
    Budget budget{steps};
    const Value value = Value::json(x);
    return program->evaluate({&value, 1}, budget);
}

bool runs_out(std::string_view expression, const base::Json& x = nullptr) {
    const auto value = evaluated(expression, x);
    return !value && value.error().code == base::ErrorCode::limit;
}

bool too_deep(std::string_view expression) {
    const auto value = evaluated(expression);
    return !value && value.error().message.find("nested over 250 deep") != std::string::npos;
}

}  // namespace

TEST_CASE("nesting is refused beyond its limit, whatever nests") {
    CHECK(evaluated(repeated("(", 240) + "1" + repeated(")", 240)));
    CHECK(evaluated(repeated("[", 240) + repeated("]", 240)));
    CHECK(evaluated(repeated("!", 240) + "true"));
    CHECK(evaluated("1" + repeated("+1", 240)));
    CHECK(too_deep(repeated("(", 30'000) + "1" + repeated(")", 30'000)));
    CHECK(too_deep(repeated("(", 60'000)));
    CHECK(too_deep(repeated("[", 60'000)));
    CHECK(too_deep(repeated("{1:", 20'000)));
    CHECK(too_deep(repeated("!", 60'000) + "true"));
    CHECK(too_deep(repeated("- ", 30'000) + "x"));
    CHECK(too_deep("1" + repeated("+1", 30'000)));
    CHECK(too_deep("x" + repeated(".x", 30'000)));
    CHECK(too_deep("x" + repeated("[0]", 20'000)));
    CHECK(too_deep("x" + repeated(".f()", 15'000)));
    CHECK(too_deep(repeated("x ? x : ", 8'000) + "x"));
    CHECK(too_deep(repeated("size(", 13'000)));
    CHECK(too_deep(repeated("x.map(x, ", 7'000)));
}

TEST_CASE("a long chain of && is not deep") {
    const auto value = evaluated("true" + repeated(" && true", 8'000));
    REQUIRE(value);
    CHECK(value->as_boolean());
}

TEST_CASE("an expression over 64 KiB is refused") {
    const auto value = evaluated("'" + std::string(64 * 1024, 'x') + "'");
    CHECK(value.error().code == base::ErrorCode::too_large);
}

TEST_CASE("bytes that are no text are refused, NUL is a character like another") {
    CHECK(evaluated("'\xff'").error().message == "the expression is not valid UTF-8");
    CHECK(evaluated("'\xed\xa0\x80'").error().message == "the expression is not valid UTF-8");
    CHECK(
        evaluated(std::string_view("1 \0 2", 5)).error().message ==
        "line 1, column 3: the control character 0x00 has no meaning"
    );
    const auto literal = evaluated(std::string_view("'a\0b'", 5));
    REQUIRE(literal);
    CHECK(literal->text() == std::string_view("a\0b", 3));
    CHECK(evaluated("'a\\000b' == 'a\\x00b'")->as_boolean());
    CHECK(!evaluated("'\\ud800'"));
    CHECK(!evaluated("string(b'\\xff')"));
}

TEST_CASE("patterns that explode elsewhere take linear time or are refused") {
    const base::Json text = std::string(200'000, 'a') + "c";
    CHECK(!evaluated("x.matches('^(a|b)*$')", text)->as_boolean());
    CHECK(!evaluated("x.matches('(a*)*(a*)*b')", text)->as_boolean());
    CHECK(!evaluated("x.matches('(a+)+' + '$')", text)->as_boolean());
    CHECK(!evaluated("x.matches('((a{100}){100}){100}')", text));
    CHECK(!evaluated("x.matches(x)", text));
    CHECK(runs_out("['a','b','c','d','e','f','g','h','i','j'].map(a, x.matches('b*' + a))", text));
}

TEST_CASE("loops in loops stop at the budget") {
    base::Json list = base::Json::array();
    for (int i = 0; i < 1000; ++i)
        list.push_back(i);
    CHECK(runs_out("x.map(a, x.map(b, x.map(c, a)))", list));
    CHECK(runs_out("x.all(a, x.all(b, a + b >= 0))", list));
    CHECK(runs_out("x.map(a, x + x)", list));
    CHECK(runs_out("x.exists(a, x.map(b, x) == dyn(1))", list));
    CHECK(runs_out("x.map(a, x).map(b, b == x)", list));
    CHECK(runs_out("x.map(a, a in x)", list));
    CHECK(evaluated("x.map(a, a + 1)", list));
}

TEST_CASE("nothing absorbs that the budget is spent") {
    base::Json list = base::Json::array();
    for (int i = 0; i < 1000; ++i)
        list.push_back(i);
    CHECK(runs_out("x.all(a, x.all(b, a + b >= 0)) || true", list));
    CHECK(runs_out("x.exists(a, x.all(b, x.all(c, true)))", list));
    CHECK(runs_out("x.all(a, x.all(b, 1 / 0 > 0))", list));
}

TEST_CASE("texts and lists that double stop at the budget") {
    std::string text_bomb = "cel.bind(a0, 'xxxxxxxxxxxxxxxx', ";
    std::string list_bomb = "cel.bind(a0, [1, 2, 3, 4], ";
    std::string end = "a40";
    for (int i = 1; i <= 40; ++i) {
        const std::string step = "cel.bind(a" + std::to_string(i) + ", a" + std::to_string(i - 1) +
                                 " + a" + std::to_string(i - 1) + ", ";
        text_bomb += step;
        list_bomb += step;
        end += ")";
    }
    CHECK(runs_out(text_bomb + end + ")"));
    CHECK(runs_out(list_bomb + end + ")"));
    const base::Json text = std::string(100'000, 'a');
    CHECK(runs_out("x.replace('', x)", text));
    CHECK(runs_out("x.split('').join(x)", text));
    CHECK(runs_out(
        "'%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s'.format([x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x,x])", text
    ));
}

TEST_CASE("a value that shares its parts is compared and written within the budget") {
    std::string bomb;
    std::string end;
    for (int i = 1; i <= 40; ++i) {
        bomb += "cel.bind(a" + std::to_string(i) + ", [a" + std::to_string(i - 1) + ", a" +
                std::to_string(i - 1) + "], ";
        end += ")";
    }
    const std::string start = "cel.bind(a0, [1], " + bomb;
    CHECK(runs_out(start + "a40 == a40" + end + ")"));
    CHECK(runs_out(start + "json.format(a40)" + end + ")"));
    CHECK(runs_out(start + "'%s'.format([a40])" + end + ")"));
    CHECK(runs_out(start + "a40 in [a40]" + end + ")"));
    const auto value = evaluated(start + "a40" + end + ")");
    REQUIRE(value);
    std::string out;
    CHECK(nets::cel::append_canonical(out, *value).error().code == base::ErrorCode::limit);
}

TEST_CASE("searching text takes linear time whatever is searched for") {
    const base::Json text = std::string(400'000, 'a');
    CHECK(!evaluated("x.contains(x.substring(200000) + 'b')", text)->as_boolean());
    CHECK(evaluated("x.lastIndexOf('b' + x.substring(200000))", text)->as_integer() == -1);
    CHECK(evaluated("x.split(x.substring(200000) + 'b')", text)->size() == 1);
}

TEST_CASE("numbers at the ends of their range overflow into errors") {
    CHECK(!evaluated("9223372036854775807 + 1"));
    CHECK(!evaluated("-9223372036854775808 / -1"));
    CHECK(!evaluated("-9223372036854775808 % -1"));
    CHECK(!evaluated("0u - 1u"));
    CHECK(!evaluated("int(1e19)"));
    CHECK(!evaluated("uint(-0.5e1)"));
    CHECK(!evaluated("duration('9223372036854775807h')"));
    CHECK(!evaluated("timestamp('9999-12-31T23:59:59Z') + duration('1s')"));
    CHECK(!evaluated("x[9223372036854775807]", base::Json::array({1})));
    CHECK(!evaluated("x[-1]", base::Json::array({1})));
    CHECK(!evaluated("'a'.substring(0, 9223372036854775807)"));
    CHECK(!evaluated("'%.99999999999f'.format([1.0])"));
    CHECK(!evaluated("timestamp('2024-01-01T00:00:00Z').getHours('../../etc/passwd')"));
}
