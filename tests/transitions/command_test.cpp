#include "transitions/call.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <string>

using base::Json;

// A program's arguments and environment end at a zero byte: the rest would be read as the next.
TEST_CASE("a command token with a zero byte in its script, arguments or environment is refused") {
    const std::string zero("a\0b", 3);
    const auto faults = [](const Json& args) {
        const auto read = transitions::read_command(
            Json{{"executor", "bash"}, {"command", "exec"}, {"args", args}}.dump()
        );
        return read ? std::string() : read.error().details.at(0).pointer;
    };
    CHECK(faults({{"script", "true"}, {"argv", {"a"}}, {"env", {{"TOOL_A", "a"}}}}).empty());
    CHECK(faults({{"script", zero}}) == "/args/script");
    CHECK(faults({{"script", "true"}, {"argv", {"a", zero}}}) == "/args/argv/1");
    CHECK(faults({{"script", "true"}, {"env", {{"TOOL_A", zero}}}}) == "/args/env/TOOL_A");
}
