#include "tests/engine/test_model.hpp"

#include <string>

// The two nets of docs/semantics.md in which readings of a reset beside an or-join differ.
namespace {

std::string net(std::string_view fail) {
    return R"({"net": "n", "version": "1", "start": "start",
        "places": {"start": {}, "w": {}, "s": {}, "x": {}, "a": {}, "b": {}, "done": {}},
        "transitions": {
            "begin": {"in": {"i": "start"}, "out": {"w": 1, "s": 1}},
            "work": {"in": {"w": "w", "s": {"place": "s", "arc": "reset"}},
                     "call": {"toolId": "tool", "args": {}}, "out": {"x": 1})" +
           std::string(fail) + R"(},
            "both": {"in": {"s": "s", "x": "x"}, "out": {"b": 1}},
            "join": {"in": {"a": "a", "b": "b"}, "join": "or", "out": {"done": 1}}}})";
}

// Whether the join goes without `b` while `work` is prepared, or while it runs.
bool goes_on(std::string_view fail, bool runs) {
    TestModel m;
    m.deploy(net(fail));
    const auto case_id = m.start("n");
    m.run();
    const auto prepares = m.effects<engine::Prepare>();
    REQUIRE(prepares.size() == 1);
    if (runs) {
        engine::prepared(
            m.model, prepares[0].claim, engine::Prepared{"{}", "pure", "tool", "v"}, m.asker()
        );
        CHECK(m.model.state().operations.size() == 1);
    }
    m.put("n", "a", "1", case_id);
    m.run();
    return !m.in("n", "done").empty();
}

}  // namespace

TEST_CASE(
    "S18 S23: what a firing will reset is no way to an or-join, whether it is prepared or runs"
) {
    CHECK(goes_on("", false));
    CHECK(goes_on("", true));
}

TEST_CASE("S18 S23: on its fail way a firing resets nothing, so that a token may still come") {
    CHECK_FALSE(goes_on(R"(, "fail": {"x": 2})", false));
    CHECK_FALSE(goes_on(R"(, "fail": {"x": 2})", true));
}
