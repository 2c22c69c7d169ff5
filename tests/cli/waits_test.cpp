// Agents, child cases and pauses on the command line, over a master that is killed.
#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

using tests::cli::Json;
using tests::cli::Lab;

namespace {

Json json(std::string_view text) {
    return *base::parse_json(text);
}

const Json desk = json(R"({"net":"desk","version":"1","places":{"in":{},"out":{}},
    "transitions":{"review":{"in":{"x":"in"},"agent":{"skill":"review"},
                             "out":{"out":"${result}"}}},"start":"in","end":"out"})");
const Json boss = json(R"({"net":"boss","version":"1","places":{"in":{},"out":{},"bad":{}},
    "transitions":{"ask":{"in":{"x":"in"},"net":{"name":"desk"},
                          "out":{"out":{"answer":"${result}"}},"fail":{"bad":"${error.code}"}}},
    "start":"in","end":["out","bad"]})");

}  // namespace

TEST_CASE("a wait for an agent within a child case outlives a killed master") {
    Lab lab;
    lab.start_master();
    lab.deploy(desk);
    lab.deploy(boss);
    const auto started = lab.json({"case", "start", "boss", "--value", "\"why\""});
    const auto packet =
        lab.json({"work", "claim", "--agent", "ada", "--lease", "10m", "--wait", "20s"});
    CHECK(packet.at("input") == "why");
    lab.kill_master();
    lab.start_master();
    const std::string id = packet.at("operation");
    CHECK(lab.json({"work", "list", "--state", "claimed"}).at("items").at(0).at("operation") == id);
    CHECK(lab.run({"work", "heartbeat", id, "--claim", "other"}).exit == 3);
    const auto result = lab.write("result.json", R"("because")");
    const std::string claim = packet.at("claim");
    CHECK(lab.run({"work", "complete", id, result, "--claim", claim}).exit == 0);
    const auto shown =
        lab.json({"case", "show", started.at("id").get<std::string>(), "--wait", "20s"});
    CHECK(shown.at("state") == "completed");
    CHECK(shown.at("end").at(0).at("data") == Json{{"answer", "because"}});
    CHECK(lab.run({"audit", "verify", "--state"}).exit == 0);
}

TEST_CASE("a pause outlives a killed master; one firing and a dry run go through it") {
    Lab lab;
    lab.start_master();
    lab.deploy(json(R"({"net":"n","version":"1","places":{"a":{},"b":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"b":"${x * 2}"}}}})"));
    CHECK(lab.run({"pause", "n"}).exit == 0);
    lab.json({"token", "put", "n/a", "--value", "21"});
    lab.kill_master();
    lab.start_master();
    CHECK(lab.json({"transition", "show", "n", "t"}).at("state") == "paused");
    const auto dry = lab.json({"transition", "try", "n", "t"});
    CHECK(dry.at("produces").at(0).at("data") == 42);
    CHECK(lab.run({"transition", "fire", "n", "t"}).exit == 0);
    CHECK(lab.run({"transition", "fire", "n", "t"}).exit == 3);
    lab.json({"token", "put", "n/a", "--value", "1"});
    CHECK(lab.run({"resume", "n"}).exit == 0);
    CHECK(lab.json({"token", "list", "n/b"}).at("items").size() == 2);
}

TEST_CASE("net diff shows where tokens go before a deployment moves them") {
    Lab lab;
    lab.start_master();
    lab.deploy(json(R"({"net":"n","version":"1","places":{"old":{"tokens":[1,2]}}})"));
    const auto lost = lab.write("lost.json", R"({"net":"n","version":"2","places":{"new":{}}})");
    CHECK(lab.run({"net", "diff", lost}).out.contains("would be refused"));
    CHECK(lab.run({"net", "deploy", lost}).exit == 3);
    const auto moved = lab.write(
        "moved.json", R"({"net":"n","version":"2","places":{"new":{}},"migrate":{"old":"new"}})"
    );
    CHECK(lab.run({"net", "diff", moved}).out.contains("2 tokens of 'old' go to 'new'"));
    CHECK(lab.run({"net", "deploy", moved}).exit == 0);
    CHECK(lab.json({"token", "list", "n/new"}).at("items").size() == 2);
}
