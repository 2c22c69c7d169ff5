// The schema of a place, held against every way in which a token arrives.
#include "engine/snapshot.hpp"
#include "tests/engine/test_model.hpp"

namespace {

constexpr const char* net = R"({
    "net": "n", "version": "1",
    "places": {
        "in": {"schema": {"type": "object", "required": ["id"]}},
        "good": {"schema": {"properties": {"id": {"type": "integer"}}}},
        "bad": {}},
    "transitions": {
        "map": {"in": {"x": "in"}, "out": {"good": "${x}"},
                "fail": {"bad": {"code": "${error.code}", "at": "${error.details[0].pointer}"}}}},
    "start": "in", "end": ["good", "bad"]})";

}  // namespace

TEST_CASE("S31: tokens put and cases started are refused with every fault of them") {
    TestModel test;
    test.deploy(net);
    const auto before = test.model.state().seq;
    const auto put = engine::put_tokens(
        test.model, {"n", "in"}, {{R"({"id":1})", {}}, {"{}", {}}, {"3", {}}}, test.asker()
    );
    REQUIRE_FALSE(put.has_value());
    CHECK(put.error().code == base::ErrorCode::validation);
    REQUIRE(put.error().details.size() == 2);
    CHECK(put.error().details[0].pointer.starts_with("/tokens/1/data"));
    CHECK(put.error().details[1].pointer == "/tokens/2/data");
    const auto started = engine::start_case(test.model, "n", "[]", test.asker());
    REQUIRE_FALSE(started.has_value());
    CHECK(started.error().code == base::ErrorCode::validation);
    CHECK(test.model.state().seq == before);
}

TEST_CASE("S32: a token that a firing makes and that does not fit goes the fail way as bad_output"
) {
    TestModel test;
    test.deploy(net);
    const auto case_id = test.start("n", R"({"id": "text"})");
    test.start("n", R"({"id": 7})");
    test.run();
    CHECK(test.in("n", "bad") == std::vector<std::string>{R"({"at":"/id","code":"bad_output"})"});
    CHECK(test.in("n", "good") == std::vector<std::string>{R"({"id":7})"});
    CHECK(test.case_state(case_id) == engine::CaseState::completed);
    test.check_fold();
}

TEST_CASE("S32: without a fail way it is a dead letter, which is redriven only when it fits by then"
) {
    TestModel test;
    test.deploy(R"({"net": "n", "version": "1",
        "places": {"in": {}, "out": {"schema": {"type": "integer"}}},
        "transitions": {"map": {"in": {"x": "in"}, "out": {"out": "${x}"}}}})");
    const auto seq = test.put("n", "in", R"("text")");
    test.run();
    const auto letters = test.in("", "p-dead-letter");
    REQUIRE(letters.size() == 1);
    CHECK(base::parse_json(letters[0])->at("error").at("code") == "bad_output");
    // The next version refuses it already at the door.
    test.deploy(R"({"net": "n", "version": "2",
        "places": {"in": {"schema": {"type": "integer"}}, "out": {"schema": {"type": "integer"}}},
        "transitions": {"map": {"in": {"x": "in"}, "out": {"out": "${x}"}}}})");
    const auto again = engine::redrive(test.model, {seq + 1, 0}, test.asker());
    REQUIRE_FALSE(again.has_value());
    CHECK(again.error().code == base::ErrorCode::conflict);
    CHECK(again.error().details[0].pointer == "/tokens/0/data");
    test.deploy(R"({"net": "n", "version": "3", "places": {"in": {}, "out": {}},
        "transitions": {"map": {"in": {"x": "in"}, "out": {"out": "${x}"}}}})");
    CHECK(engine::redrive(test.model, {seq + 1, 0}, test.asker()).has_value());
    test.run();
    CHECK(test.in("n", "out") == std::vector<std::string>{R"("text")"});
    test.check_fold();
}

TEST_CASE("S31: initial tokens fit, and a shared place has one schema whoever declares it") {
    TestModel test;
    const auto wrong = test.try_deploy(
        R"({"net": "n", "version": "1", "places": {"p": {"schema": {"minimum": 3}, "tokens": [2]}}})"
    );
    REQUIRE_FALSE(wrong.has_value());
    CHECK(wrong.error().details[0].pointer == "/places/p/tokens/0");
    test.deploy(R"({"net": "a", "version": "1",
        "places": {"s": {"shared": true, "schema": {"minimum": 3}}}})");
    const auto other = test.try_deploy(R"({"net": "b", "version": "1",
        "places": {"s": {"shared": true, "schema": {"minimum": 4}}}})");
    REQUIRE_FALSE(other.has_value());
    CHECK(other.error().details[0].pointer == "/places/s/schema");
    // A net that says nothing keeps to what the other says.
    test.deploy(R"({"net": "c", "version": "1",
        "places": {"s": {"shared": true}, "in": {}},
        "transitions": {"t": {"in": {"x": "in"}, "out": {"s": "${x}"}}}})");
    CHECK_FALSE(engine::put_tokens(test.model, {"", "s"}, {{"2", {}}}, test.asker()).has_value());
    test.put("c", "in", "1");
    test.run();
    CHECK(test.in("", "s").empty());
    CHECK(test.in("", "p-dead-letter").size() == 1);
    REQUIRE(engine::undeploy(test.model, "a", test.asker()).has_value());
    CHECK(engine::put_tokens(test.model, {"", "s"}, {{"2", {}}}, test.asker()).has_value());
    test.check_fold();
}

TEST_CASE("S31: a schema that comes later is held against the tokens that lie there") {
    TestModel test;
    test.deploy(R"({"net":"n","version":"1","places":{"a":{},"b":{"shared":true}}})");
    test.put("n", "a", "1");
    test.put("n", "a", R"("text")");
    test.put("", "b", "2");
    const auto own = test.try_deploy(
        R"({"net":"n","version":"2","places":{"a":{"schema":{"type":"integer"}},
            "b":{"shared":true}}})"
    );
    REQUIRE_FALSE(own);
    REQUIRE(own.error().details.size() == 1);
    CHECK(own.error().details[0].pointer == "/places/a/schema");
    CHECK(own.error().details[0].message.contains("t3-0"));
    const auto shared = test.try_deploy(
        R"({"net":"other","version":"1","places":{"b":{"shared":true,"schema":{"type":"string"}}}})"
    );
    REQUIRE_FALSE(shared);
    CHECK(shared.error().details[0].pointer == "/places/b/schema");
    REQUIRE(test.try_deploy(
        R"({"net":"n","version":"2","places":{"a":{"schema":{}},
            "b":{"shared":true,"schema":{"type":"integer"}}}})"
    ));
    test.check_fold();
}

TEST_CASE("S5 S3: what one net says of a shared place holds for all, until nobody says it") {
    TestModel test;
    const std::string says =
        R"({"net":"says","version":"1","places":{"lock":{"shared":true,"cases":false,"capacity":1}}})";
    test.deploy(says);
    test.deploy(R"({"net":"silent","version":"1","places":{"lock":{"shared":true}}})");
    const auto& place = test.model.state().store.place(*test.model.state().place({"", "lock"}));
    CHECK(place.capacity == 1);
    CHECK_FALSE(place.cases);
    test.check_snapshot();
    const auto other = test.try_deploy(
        R"({"net":"other","version":"1","places":{"lock":{"shared":true,"capacity":5}}})"
    );
    REQUIRE_FALSE(other);
    CHECK(other.error().code == base::ErrorCode::conflict);
    CHECK(other.error().details[0].pointer == "/places/lock/capacity");
    REQUIRE(engine::undeploy(test.model, "says", test.asker()));
    CHECK_FALSE(place.capacity.has_value());
    CHECK(place.cases);
    test.check_fold();
    test.check_snapshot();
}
