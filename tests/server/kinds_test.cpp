// Agents, child nets, schemas, pauses and migration, over the API of a real master.
#include "tests/server/live_master.hpp"

using base::Json;

namespace {

Json json(std::string_view text) {
    return *base::parse_json(text);
}

const Json agent_net = json(R"({"net":"desk","version":"1","places":{"in":{},"out":{},"bad":{}},
    "transitions":{"review":{"in":{"x":"in"},"agent":{"skill":"review","maxSteps":3},
                             "out":{"out":"${result}"},"fail":{"bad":"${error}"}}},
    "start":"in","end":["out","bad"]})");

const std::string model = "/api/models/team";

}  // namespace

TEST_CASE("an agent claims a packet over the API, keeps it and completes it") {
    LiveMaster m;
    m.made(model + "/nets", agent_net);
    CHECK(m.post(model + "/work/claim", {{"agent", "ada"}}).status == 404);
    const auto started = m.made(model + "/nets/desk/cases", {{"text", "hello"}});
    const auto packet =
        m.made(model + "/work/claim?wait=10s", {{"agent", "ada"}, {"lease", "30s"}});
    CHECK(packet.at("skill") == "review");
    CHECK(packet.at("input") == Json{{"text", "hello"}});
    const auto work = model + "/work/" + packet.at("operation").get<std::string>();
    CHECK(m.post(work + "/claim", {{"agent", "bob"}}).status == 409);
    CHECK(m.get(model + "/work?state=claimed").body.at("items").size() == 1);
    const auto why = m.get(model + "/nets/desk/transitions/review").body;
    CHECK(why.at("kind") == "agent");
    CHECK(why.at("whyNot").dump().contains("claimed by agent 'ada'"));
    const auto claim = packet.at("claim");
    CHECK(m.post(work + "/heartbeat", {{"claim", claim}, {"steps", 1}}).status == 200);
    CHECK(m.post(work + "/heartbeat", {{"claim", "other"}}).status == 409);
    CHECK(m.post(work + "/complete", {{"claim", claim}, {"reslut", 1}})
              .body.dump()
              .contains("/reslut"));
    CHECK(m.post(work + "/complete", {{"claim", claim}, {"result", "fine"}}).status == 200);
    const auto over =
        m.get(model + "/cases/" + started.at("id").get<std::string>() + "?wait=10s").body;
    CHECK(over.at("state") == "completed");
    CHECK(over.at("end").at(0).at("data") == "fine");
    CHECK(m.get(work).status == 404);
}

TEST_CASE("a claim sent again under its key is the same claim, and outlives the master") {
    LiveMaster m;
    m.made(model + "/nets", agent_net);
    m.made(model + "/nets/desk/cases", 1);
    const auto first =
        m.post(model + "/work/claim?wait=10s", {{"agent", "ada"}}, {{"Idempotency-Key", "k"}});
    REQUIRE(first.status == 201);
    const auto again =
        m.post(model + "/work/claim?wait=10s", {{"agent", "ada"}}, {{"Idempotency-Key", "k"}});
    CHECK(again.body.at("claim") == first.body.at("claim"));
    m.stop();
    m.start();
    const auto work = model + "/work/" + first.body.at("operation").get<std::string>();
    CHECK(m.get(work).body.at("agent") == "ada");
    CHECK(
        m.post(work + "/fail", {{"claim", first.body.at("claim")}, {"message", "no idea"}})
            .status == 200
    );
    const auto bad = m.get(model + "/nets/desk/places/bad/tokens").body.at("items");
    CHECK(bad.at(0).at("data").at("code") == "upstream");
}

TEST_CASE("a child case is shown with its parent, and its result comes back") {
    LiveMaster m;
    m.made(model + "/nets", agent_net);
    m.made(model + "/nets", json(R"({"net":"boss","version":"1","places":{"in":{},"out":{}},
        "transitions":{"ask":{"in":{"x":"in"},"net":{"name":"desk"},"out":{"out":"${result}"}}},
        "start":"in","end":"out"})"));
    const auto started = m.made(model + "/nets/boss/cases", "question");
    const auto packet = m.made(model + "/work/claim?wait=10s", {{"agent", "ada"}});
    const auto child = m.get(model + "/cases/" + packet.at("case").get<std::string>()).body;
    const auto parent = child.at("parent").get<std::string>();
    CHECK(m.get(model + "/operations/" + parent).body.at("child") == child.at("id"));
    m.made(
        model + "/work/" + packet.at("operation").get<std::string>() + "/complete",
        {{"claim", packet.at("claim")}, {"result", 42}}
    );
    const auto over =
        m.get(model + "/cases/" + started.at("id").get<std::string>() + "?wait=10s").body;
    CHECK(over.at("end").at(0).at("data") == 42);
}

TEST_CASE("a pause is shown and holds, one firing goes through, a dry run changes nothing") {
    LiveMaster m;
    m.made(model + "/nets", json(R"({"net":"n","version":"1","places":{"a":{},"b":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"b":"${x + 1}"}}}})"));
    const std::string transition = model + "/nets/n/transitions/t";
    CHECK(m.post(transition + "/dry-run", "").status == 409);
    CHECK(m.made(model + "/nets/n/pause", "").at("paused") == true);
    CHECK(m.get(model + "/nets/n").body.contains("paused"));
    m.made(model + "/nets/n/places/a/tokens", {{"data", 1}});
    m.made(model + "/nets/n/places/a/tokens", {{"data", 2}});
    const auto seen = m.get(transition).body;
    CHECK(seen.at("state") == "paused");
    CHECK(seen.at("whyNot").at(0).at("reason").get<std::string>().contains("paused by admin"));
    const auto before = m.get(model).body;
    const auto dry = m.post(transition + "/dry-run", "").body;
    CHECK(dry.at("binding").at("x").at(0).at("data") == 1);
    CHECK(dry.at("produces").at(0).at("data") == 2);
    CHECK(m.get(model).body == before);
    CHECK(m.post(transition + "/fire", "").status == 200);
    CHECK(m.get(model + "/nets/n/places/b/tokens").body.at("items").size() == 1);
    CHECK(m.made(model + "/nets/n/resume", "").at("paused") == false);
    CHECK(m.post(model + "/nets/nope/pause", "").status == 404);
    CHECK(m.post("/api/models/nope/pause", "").status == 404);
}

TEST_CASE("a transition that waits for room names the place, even one that has room for less") {
    LiveMaster m;
    m.made(model + "/nets", json(R"({"net":"n","version":"1",
        "places":{"a":{},"free":{"capacity":1,"tokens":[0]},"two":{"capacity":3}},
        "transitions":{
            "pair":{"in":{"x":"a"},"out":[{"to":"two","token":1},{"to":"two","token":2}]},
            "renew":{"in":{"x":"free"},"guard":"false","out":{"free":"${x}"}}}})"));
    m.made(model + "/nets/n/places/a/tokens", {{"data", 1}});
    m.made(model + "/nets/n/places/a/tokens", {{"data", 2}});
    const auto why = [&](const char* transition) {
        return m.get(model + "/nets/n/transitions/" + transition).body.at("whyNot").dump();
    };
    for (int looks = 0; looks < 1000 && why("pair") == "[]"; ++looks) {
    }
    CHECK(why("pair").contains("place 'two' has no room"));
    CHECK(!why("renew").contains("has no room"));
}

TEST_CASE("an operation whose answer waits for room says so, and where") {
    LiveMaster m;
    m.made(model + "/nets", json(R"({"net":"n","version":"1",
        "places":{"a":{},"two":{"capacity":2,"tokens":[0]},"go":{},"end":{}},
        "transitions":{"many":{"in":{"x":"a"},"agent":{"skill":"any"},
            "out":[{"to":"two","each":"result","token":"${each}"}]},
            "eat":{"in":{"x":"two","go":"go"},"out":{"end":1}}},
        "start":"a","end":["end"]})"));
    const auto started = m.made(model + "/nets/n/cases", json("1"));
    const auto packet = m.made(model + "/work/claim?wait=10s", {{"agent", "ada"}});
    const auto id = packet.at("operation").get<std::string>();
    const auto done = m.post(
        model + "/work/" + id + "/complete",
        {{"claim", packet.at("claim")}, {"result", json("[1,2]")}}
    );
    CHECK(done.status == 200);
    const auto waits = [](const base::Json& view) {
        return view.at("waiting").get<std::string>().contains("room in place 'two'");
    };
    const auto shown = m.get(model + "/operations/" + id).body;
    CHECK(shown.at("state") == "returned");
    CHECK(waits(shown));
    CHECK(m.get(model + "/operations?state=returned").body.at("items").size() == 1);
    const auto found = m.get(model + "/cases/" + started.at("id").get<std::string>()).body;
    CHECK(found.at("state") == "running");
    CHECK(waits(found.at("operations").at(0)));
    const auto why = m.get(model + "/nets/n/transitions/many").body.at("whyNot").dump();
    CHECK(why.contains("waits for room in place 'two'"));
    // What happened before is seen with it, too.
    const auto seq = m.get(model).body.at("seq").get<std::uint64_t>();
    CHECK(waits(m.get(model + "/operations/" + id + "?asOf=" + std::to_string(seq)).body));
    m.made(model + "/nets/n/places/go/tokens", {{"data", 1}});
    const auto state = [&] {
        return m.get(model + "/operations/" + id).body.at("state").get<std::string>();
    };
    for (int looks = 0; looks < 1000 && state() != "finalized"; ++looks) {
    }
    CHECK(state() == "finalized");
    CHECK(m.get(model + "/nets/n/places/two/tokens").body.at("items").size() == 2);
}

TEST_CASE("a deployment that the schemas rule out is refused with its pointers, unless forced") {
    LiveMaster m;
    const auto net = json(R"({"net":"n","version":"1",
        "places":{"a":{"schema":{"type":"object","properties":{"id":{}},
                                 "additionalProperties":false}},"b":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"b":"${x.idd}"}}},"start":"a","end":"b"})");
    const auto refused = m.post(model + "/nets", net);
    CHECK(refused.status == 400);
    CHECK(refused.body.at("error").at("details").at(0).at("pointer") == "/transitions/t/out/b");
    CHECK(m.post(model + "/nets?force=true", net).status == 201);
    const auto put = m.post(model + "/nets/n/places/a/tokens", {{"data", {{"x", 1}}}});
    CHECK(put.status == 400);
    CHECK(put.body.at("error").at("details").at(0).at("pointer") == "/tokens/0/data/x");
    CHECK(m.post(model + "/nets/n/cases", 3).status == 400);
}

TEST_CASE("links are listed, and narrowed down by type and place") {
    LiveMaster m;
    m.made(model + "/nets", json(R"({"net":"n","version":"1","places":{"a":{},"b":{},"c":{}},
        "transitions":{"d":{"link":{"type":"documents","from":"a","to":"b"}},
                       "i":{"link":{"type":"implements","from":"b","to":"c"}}}})"));
    CHECK(m.get(model + "/links").body.at("items").size() == 2);
    CHECK(m.get(model + "/links?type=documents").body.at("items").at(0).at("id") == "d");
    CHECK(m.get(model + "/links?place=c").body.at("items").at(0).at("id") == "i");
    CHECK(m.get(model + "/nets/n").body.at("links").size() == 2);
}

TEST_CASE("a tool's contract holds for its arguments before it runs and for its answer after") {
    LiveMaster m;
    m.start_executor();
    const auto script = [](const char* id, const char* content) {
        return Json{
            {"id", id},
            {"name", id},
            {"runtime", "sh"},
            {"content", content},
            {"contract",
             {{"input",
               {{"type", "object"},
                {"required", {"n"}},
                {"properties", {{"n", {{"type", "integer"}}}, {"unit", {{"default", "kg"}}}}}}},
              {"output", {{"required", {"said"}}}}}}
        };
    };
    const auto wrong = m.post(
        "/api/tool-catalog/scripts",
        Json{
            {"id", "w"},
            {"name", "w"},
            {"runtime", "sh"},
            {"content", "x"},
            {"contract", {{"input", {{"type", "objekt"}}}}}
        }
    );
    CHECK(wrong.status == 400);
    CHECK(wrong.body.at("error").at("details").at(0).at("pointer") == "/contract/input/type");
    m.made(
        "/api/tool-catalog/scripts", script("good", "read line; printf '{\"said\":%s}' \"$line\"")
    );
    m.made("/api/tool-catalog/scripts", script("bad", "printf '{\"sad\":1}'"));
    for (const char* tool : {"good", "bad"}) {
        m.made(
            model + "/nets",
            json(
                R"({"net":")" + std::string(tool) +
                R"(","version":"1","places":{"a":{},"o":{},"f":{}},
            "transitions":{"t":{"in":{"x":"a"},"call":{"toolId":")" +
                tool + R"(","args":"${x}"},
                "out":{"o":"${result}"},"fail":{"f":"${error}"}}},"start":"a","end":["o","f"]})"
            )
        );
    }
    const auto fine = m.made(model + "/nets/good/cases?wait=20s", {{"n", 1}});
    REQUIRE_MESSAGE(fine.at("end").size() == 1, fine.dump());
    CHECK(fine.at("end").at(0).at("data").at("said") == Json{{"n", 1}, {"unit", "kg"}});
    const auto refused = m.made(model + "/nets/good/cases?wait=20s", {{"n", "one"}, {"_x", 1}});
    const auto said = refused.at("end").at(0).at("data");
    CHECK(said.at("code") == "validation");
    CHECK(said.at("details").size() == 2);
    const auto misfit = m.made(model + "/nets/bad/cases?wait=20s", {{"n", 1}});
    CHECK_MESSAGE(misfit.at("end").at(0).at("data").at("code") == "bad_output", misfit.dump());
    // A command token runs the same tool, so it is held to the same contract.
    m.made(model + "/nets", json(R"({"net":"c","version":"1","places":{"a":{},"o":{},"f":{}},
        "transitions":{"t":{"in":{"x":"a"},"command":{"from":"x"},
            "out":{"o":"${result}"},"fail":{"f":"${error}"}}},"start":"a","end":["o","f"]})"));
    const auto run = [&](const char* tool, Json args) {
        args["toolId"] = tool;
        const Json command = {{"executor", "script"}, {"command", "invoke"}, {"args", args}};
        const auto ended = m.made(model + "/nets/c/cases?wait=20s", command);
        REQUIRE_MESSAGE(ended.at("end").size() == 1, ended.dump());
        return Json(ended.at("end").at(0).at("data"));
    };
    const auto out = run("good", {{"input", {{"n", 1}}}}).at("stdout").get<std::string>();
    CHECK(json(out).at("said") == Json{{"n", 1}, {"unit", "kg"}});
    const auto faults = run("good", {{"input", {{"n", "one"}, {"_x", 1}}}});
    CHECK(faults.at("code") == "validation");
    CHECK(faults.dump().contains("/args/input/n"));
    CHECK(run("good", Json::object()).at("code") == "validation");
    CHECK(run("bad", {{"input", {{"n", 1}}}}).at("code") == "bad_output");
}

TEST_CASE("what agents wait for, and operations, come in pages; what no state is called is refused"
) {
    LiveMaster m;
    m.made(model + "/nets", agent_net);
    for (int i = 0; i < 5; ++i)
        m.made(model + "/nets/desk/cases", i);
    const auto listed = [&](const std::string& list, const char* id) {
        std::vector<std::string> found;
        std::string cursor;
        do {
            const auto page = m.get(model + list + "?limit=2" + cursor).body;
            CHECK(page.at("items").size() <= 2);
            for (const auto& item : page.at("items"))
                found.push_back(item.at(id));
            cursor = page.contains("next") ? "&cursor=" + page.at("next").get<std::string>() : "";
        } while (!cursor.empty());
        return found;
    };
    CHECK(listed("/work", "operation").size() == 5);
    CHECK(listed("/operations", "id") == listed("/work", "operation"));
    for (const char* list : {"/work", "/operations"}) {
        CHECK(m.get(model + list + "?state=bogus").status == 400);
        CHECK(m.get(model + list + "?cursor=bogus").status == 400);
        const auto before = m.get(model + list + "?asOf=1");
        CHECK(before.status == 200);
        CHECK(before.body.at("items").empty());
    }
}

TEST_CASE("the token of a case that is over is at its end also where a new version moved it to") {
    LiveMaster m;
    m.made(model + "/nets", json(R"({"net":"n","version":"1","places":{"a":{},"o":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})"));
    const auto over = m.made(model + "/nets/n/cases?wait=10s", 7);
    REQUIRE(over.at("state") == "completed");
    m.made(model + "/nets", json(R"({"net":"n","version":"2","places":{"a":{},"p":{}},
        "transitions":{"t":{"in":{"x":"a"},"out":{"p":"${x}"}}},"start":"a","end":["p"],
        "migrate":{"o":"p"}})"));
    const auto now = m.get(model + "/cases/" + over.at("id").get<std::string>()).body;
    CHECK(now.at("left").empty());
    REQUIRE(now.at("end").size() == 1);
    CHECK(now.at("end")[0].at("place") == "p");
}
