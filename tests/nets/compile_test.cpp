// What a good document is compiled to, and what hostile ones cost.
#include "nets/net.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <string>
#include <vector>

using base::ErrorCode;
using base::Json;
using nets::cel::Value;

namespace {

nets::Net compiled(const Json& document) {
    auto net = nets::compile(document);
    if (!net) {
        std::string why = net.error().message;
        for (const auto& detail : net.error().details)
            why += fmt::format("\n  {} {}", detail.pointer, detail.message);
        FAIL(why);
    }
    return std::move(*net);
}

Json json(std::string_view text) {
    auto value = base::parse_json(text);
    REQUIRE(value.has_value());
    return std::move(*value);
}

const std::string intake = R"({
  "net": "order-intake", "version": "1.2.0", "description": "Digest each order",
  "places": {
    "inbox":  { "capacity": 1000 },
    "policy": { "tokens": [ {"minimum": 10} ] },
    "lock": { "shared": true, "cases": false },
    "done": {}, "failed": {}
  },
  "transitions": {
    "digest": {
      "in":    { "order": {"place": "inbox", "where": "token.total > 0", "key": "token.id"},
                 "policy": {"place": "policy", "arc": "read", "anyCase": true, "key": "token.id"},
                 "batch": {"place": "lock", "take": 3} },
      "guard": "order.total > policy.minimum",
      "call":  { "toolId": "digest", "version": "2", "args": {"path": "${order.path}"} },
      "out":   [ {"to": "done", "token": "${result.digest}", "when": "result.good", "delay": "5s"},
                 {"to": "done", "token": "${each.n}", "each": "result.parts"},
                 {"to": "failed", "token": "${case}", "otherwise": true} ],
      "choose": "first",
      "fail":  { "failed": {"order": "${order}", "reason": "${error.message}"} },
      "retry": { "attempts": 3, "backoff": "2s", "factor": 1.5, "maxBackoff": "1m", "on": ["timeout"] },
      "timeout": "60s", "concurrency": 4, "priority": 10, "onUncertain": "fail"
    },
    "tick": { "every": "250ms", "onMissed": "once", "out": { "inbox": {"at": "${now}"} } },
    "run": { "in": {"job": "inbox", "x": "policy"}, "command": {"from": "job"}, "out": {"done": "${result}"} },
    "pass": { "in": {"order": "done"}, "out": [{"to": "failed"}] },
    "drop": { "in": {"order": "failed"} }
  },
  "start": "inbox", "end": ["failed", "done"]
})";

std::string rendered(const nets::Template& made, const std::vector<Value>& values) {
    std::string out;
    nets::cel::Budget budget;
    const auto done = made.render(out, values, budget);
    return done ? out : done.error().message;
}

const nets::Transition& transition(const nets::Net& net, std::string_view name) {
    const auto index = net.transition(name);
    REQUIRE(index.has_value());
    return net.transitions[*index];
}

}  // namespace

TEST_CASE("a document becomes places that are found by name") {
    const auto net = compiled(json(intake));
    CHECK(net.name == "order-intake");
    CHECK(net.version == "1.2.0");
    CHECK(net.description == "Digest each order");
    REQUIRE(net.places.size() == 5);
    const auto& inbox = net.places[net.place("inbox").value()];
    CHECK(inbox.name == "inbox");
    CHECK(inbox.capacity == 1000U);
    CHECK_FALSE(inbox.shared);
    CHECK(inbox.cases);
    const auto& lock = net.places[net.place("lock").value()];
    CHECK(lock.shared);
    CHECK_FALSE(lock.cases);
    CHECK_FALSE(lock.capacity.has_value());
    CHECK(
        net.places[net.place("policy").value()].tokens ==
        std::vector<std::string>{R"({"minimum":10})"}
    );
    CHECK_FALSE(net.place("inbo").has_value());
    CHECK(net.start == net.place("inbox"));
    CHECK(net.end == std::vector{net.place("failed").value(), net.place("done").value()});
}

TEST_CASE("the text that is kept is the canonical form, and the digest is its sha256") {
    const auto net = compiled(json(intake));
    CHECK(net.document == base::canonical(json(intake)));
    CHECK(net.digest == base::sha256(net.document));
}

TEST_CASE("a net without a version is named by its content") {
    const auto net = compiled(json(R"({"net": "n", "places": {}})"));
    CHECK(net.version == net.digest.hex().substr(0, 12));
    CHECK(compiled(json(R"({"net": "n", "places": {"a": {}}})")).version != net.version);
}

TEST_CASE("arcs keep what they say, in the order of their aliases") {
    const auto net = compiled(json(intake));
    const auto& in = transition(net, "digest").in;
    REQUIRE(in.size() == 3);
    CHECK(in[0].alias == "batch");
    CHECK(in[0].takes_list);
    CHECK(std::get<nets::FixedWeight>(in[0].take).count == 3);
    CHECK(in[1].alias == "order");
    CHECK(in[1].place == net.place("inbox"));
    CHECK(in[1].kind == nets::ArcKind::consume);
    CHECK_FALSE(in[1].takes_list);
    CHECK(in[1].where.value().source() == "token.total > 0");
    CHECK(in[1].key.value().source() == "token.id");
    CHECK_FALSE(in[1].any_case);
    CHECK(in[2].kind == nets::ArcKind::read);
    CHECK(in[2].any_case);
    CHECK_FALSE(in[2].where.has_value());
}

TEST_CASE("expressions of a transition see the aliases, then the fixed names") {
    const auto net = compiled(json(intake));
    const auto& digest = transition(net, "digest");
    CHECK(digest.name_count() == 3 + nets::fixed_name_count);
    const Json order = json(R"({"total": 11, "path": "a/b"})");
    const Json policy = json(R"({"minimum": 10})");
    const Json result = json(R"({"digest": "ff", "good": true})");
    const Json error = json(R"({"message": "no"})");
    std::vector<Value> values(digest.name_count());
    const auto fixed = [&](nets::FixedName name) -> Value& {
        return values[3 + static_cast<std::size_t>(name)];
    };
    values[1] = Value::json(order);
    values[2] = Value::json(policy);
    fixed(nets::FixedName::result) = Value::json(result);
    fixed(nets::FixedName::error) = Value::json(error);
    fixed(nets::FixedName::case_) = Value::string("c1");
    nets::cel::Budget budget;
    const auto judged = digest.guard.value().evaluate(values, budget);
    REQUIRE(judged.has_value());
    CHECK(*judged == Value::boolean(true));
    CHECK(rendered(std::get<nets::Call>(digest.action).args, values) == R"({"path":"a/b"})");
    CHECK(rendered(digest.out.rules[0].token, values) == R"("ff")");
    CHECK(rendered(digest.out.rules[2].token, values) == R"("c1")");
    CHECK(
        rendered(digest.fail.value().rules[0].token, values) ==
        R"({"order":{"path":"a/b","total":11},"reason":"no"})"
    );
}

TEST_CASE("outputs and settings keep what they say") {
    const auto net = compiled(json(intake));
    const auto& digest = transition(net, "digest");
    const auto& call = std::get<nets::Call>(digest.action);
    CHECK(call.tool_id == "digest");
    CHECK(call.version == "2");
    REQUIRE(digest.out.rules.size() == 3);
    CHECK(digest.out.first_only);
    CHECK_FALSE(digest.out.may_be_empty);
    CHECK(digest.out.rules[0].when.value().source() == "result.good");
    CHECK(digest.out.rules[0].delay == base::seconds(5));
    CHECK(digest.out.rules[1].each.value().source() == "result.parts");
    CHECK(digest.out.rules[2].otherwise);
    CHECK_FALSE(digest.fail.value().first_only);
    CHECK(digest.retry.attempts == 3);
    CHECK(digest.retry.backoff == base::seconds(2));
    CHECK(digest.retry.factor == 1.5);
    CHECK(digest.retry.backoff_max == base::seconds(60));
    CHECK(digest.retry.on == std::vector{ErrorCode::timeout});
    CHECK(digest.timeout == base::seconds(60));
    CHECK(digest.concurrency == 4U);
    CHECK(digest.priority == 10);
    CHECK(digest.fail_when_uncertain);
}

TEST_CASE("timers, commands and passes are told apart") {
    const auto net = compiled(json(intake));
    const auto& tick = transition(net, "tick");
    CHECK(std::get<nets::Every>(tick.action).interval == base::milliseconds(250));
    CHECK(std::get<nets::Every>(tick.action).once_when_missed);
    CHECK(tick.in.empty());
    CHECK(std::get<nets::Command>(transition(net, "run").action).from == 0);
    const auto& pass = transition(net, "pass");
    CHECK(std::holds_alternative<nets::Map>(pass.action));
    CHECK(pass.out.rules[0].token.bare_name() == 0);
    CHECK_FALSE(pass.retry.attempts > 1);
    CHECK(transition(net, "drop").out.may_be_empty);
    CHECK_FALSE(transition(net, "drop").fail.has_value());
}

TEST_CASE("a call without arguments passes an empty object") {
    const auto net = compiled(json(
        R"({"net": "n", "places": {"a": {}}, "transitions": {"t": {"in": {"x": "a"}, "call": {"toolId": "t"}}}})"
    ));
    CHECK(rendered(std::get<nets::Call>(net.transitions[0].action).args, {}) == "{}");
}

TEST_CASE("a longest wait that is left out is no shorter than the first") {
    const auto net = compiled(json(R"({"net": "n", "places": {"a": {}}, "transitions": {"t":
        {"in": {"x": "a"}, "call": {"toolId": "t"}, "retry": {"attempts": 2, "backoff": "5m"}}}})")
    );
    CHECK(net.transitions[0].retry.backoff_max == base::seconds(300));
}

TEST_CASE("only what this build lacks makes the whole refusal unsupported") {
    auto document = json(intake);
    document["transitions"]["ask"] =
        json(R"({"in": {"o": "inbox"}, "http": {"url": "https://example.org"}})");
    CHECK(nets::compile(document).error().code == ErrorCode::unsupported);
    document["zebra"] = 1;
    CHECK(nets::compile(document).error().code == ErrorCode::validation);
}

TEST_CASE("a document with very many faults tells a hundred and counts the rest") {
    Json document = json(R"({"net": "n", "places": {}})");
    for (int i = 0; i < 250; ++i)
        document[fmt::format("zebra{}", i)] = i;
    const auto net = nets::compile(document);
    REQUIRE_FALSE(net.has_value());
    CHECK(net.error().message == "the net 'n' has 250 faults");
    REQUIRE(net.error().details.size() == 101);
    CHECK(net.error().details.back().message == "and 150 more faults");
}

TEST_CASE("names of places that are far too long, deep or many are refused without much work") {
    Json document = json(R"({"net": "n", "places": {}})");
    document["places"][std::string(1 << 20U, 'a')] = Json::object();
    document["description"] = std::string(1 << 20U, 'b');
    const auto net = nets::compile(document);
    REQUIRE_FALSE(net.has_value());
    CHECK(net.error().details.front().message.size() < 300);
    CHECK(nets::compile(Json()).has_value() == false);
    CHECK(nets::compile(Json(3)).has_value() == false);
}

TEST_CASE("more arcs, rules, places or bytes than a net may have are refused by name") {
    Json arcs =
        json(R"({"net": "n", "places": {"a": {}}, "transitions": {"t": {"in": {}, "out": []}}})");
    auto& made = arcs["transitions"]["t"];
    for (int i = 0; i < 65; ++i) {
        made["in"][fmt::format("x{}", i)] = "a";
        made["out"].push_back({{"to", "a"}, {"token", i}});
    }
    const auto net = nets::compile(arcs);
    REQUIRE_FALSE(net.has_value());
    REQUIRE(net.error().details.size() == 2);
    CHECK(net.error().details[0].pointer == "/transitions/t/in");
    CHECK(net.error().details[0].code == ErrorCode::too_large);
    CHECK(net.error().details[1].pointer == "/transitions/t/out");

    Json places = json(R"({"net": "n", "places": {}, "transitions": {}})");
    for (int i = 0; i <= 100'000; ++i) {
        places["places"][fmt::format("p{}", i)] = Json::object();
        places["transitions"][fmt::format("t{}", i)] = 1;
    }
    const auto many = nets::compile(places);
    REQUIRE_FALSE(many.has_value());
    REQUIRE(many.error().details.size() == 2);
    CHECK(many.error().details[0].message == "100001 places; a net has at most 100000");
    CHECK(many.error().details[1].message == "100001 transitions; a net has at most 100000");

    Json heavy = json(R"({"net": "n", "places": {}})");
    heavy["description"] = std::string((16U << 20U) + 1, 'a');
    CHECK(nets::compile(heavy).error().code == ErrorCode::too_large);
}

TEST_CASE("a net of ten thousand transitions compiles, each finding its places") {
    Json document = json(R"({"net": "n", "places": {}, "transitions": {}})");
    constexpr int count = 10'000;
    for (int i = 0; i < count; ++i) {
        document["places"][fmt::format("a{:05}", i)] = Json::object();
        document["transitions"][fmt::format("t{:05}", i)] = {
            {"in", {{"order", fmt::format("a{:05}", i)}}},
            {"guard", "order.total > 10 && order.kind in ['a', 'b']"},
            {"out", {{fmt::format("a{:05}", (i + 1) % count), {{"n", "${order.total + 1}"}}}}}
        };
    }
    const auto net = compiled(document);
    REQUIRE(net.transitions.size() == count);
    CHECK(net.transitions[7].in[0].place == 7);
    CHECK(net.transitions[count - 1].out.rules[0].place == 0);
}
