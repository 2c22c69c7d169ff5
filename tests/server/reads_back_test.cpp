// What a master accepted it opens again, and what it cannot open stops no more than it must.
#include "base/limits.hpp"
#include "engine/chain.hpp"
#include "engine/rocks_log.hpp"
#include "tests/server/live_master.hpp"

#include <chrono>
#include <fmt/format.h>
#include <random>
#include <thread>

using base::Json;
namespace limits = base::limits;

namespace {

Json nested(std::size_t depth) {
    Json value = 1;
    for (std::size_t i = 0; i < depth; ++i)
        value = Json::array({std::move(value)});
    return value;
}

Json command(Json args) {
    return {{"executor", "script"}, {"command", "invoke"}, {"args", std::move(args)}};
}

// Every way by which values reach a record, each with a `fail` output.
const Json ways = *base::parse_json(R"({"net":"ways","version":"1",
    "places":{"cmd":{},"arg":{},"many":{},"go":{},"late":{},"wrap":{},"deep":{},"ask":{},"read":{},
              "kept":{},"full":{"capacity":1,"tokens":[0]},"print":{},"end":{},"bad":{}},
    "transitions":{
      "command":{"in":{"x":"cmd"},"command":{"from":"x"},"out":{"end":"ran"},
                 "fail":{"bad":{"by":"command","code":"${error.code}"}}},
      "call":{"in":{"x":"arg"},"call":{"toolId":"noop","args":{"v":"${x}"}},"out":{"end":"ran"},
              "fail":{"bad":{"by":"call","code":"${error.code}"}}},
      "all":{"in":{"xs":{"place":"many","take":"all"},"go":"go"},
             "call":{"toolId":"noop","args":{"v":"${xs}"}},"out":{"end":"ran"},
             "fail":{"bad":{"by":"all","code":"${error.code}"}}},
      "reads":{"in":{"go":"read","xs":{"place":"many","arc":"read","take":"all"}},
               "call":{"toolId":"noop","args":{}},"out":{"end":"ran"},
               "fail":{"bad":{"by":"reads","code":"${error.code}"}}},
      "wrap":{"in":{"x":"wrap"},"out":[{"to":"late","token":{"w":"${x}"},"delay":"1h"}],
              "fail":{"bad":{"by":"wrap","code":"${error.code}"}}},
      "child":{"in":{"x":"deep"},"net":{"name":"held"},"out":{"end":"ran"},
               "fail":{"bad":{"by":"child","code":"${error.code}"}}},
      "ask":{"in":{"x":"ask"},"agent":{"skill":"any"},"out":{"end":"${result}"},
             "fail":{"bad":{"by":"ask","code":"${error.code}"}}},
      "kept":{"in":{"x":"kept"},"agent":{"skill":"kept"},
              "out":[{"to":"full","each":"[result]","token":"${each}"}],
              "fail":{"bad":{"by":"kept","code":"${error.code}"}}}}})");
const Json held = *base::parse_json(R"({"net":"held","version":"1",
    "places":{"in":{},"go":{},"done":{}},
    "transitions":{"t":{"in":{"x":"in","go":"go"},"out":{"done":"${x}"}}},
    "start":"in","end":"done"})");

struct Ways : LiveMaster {
    Ways() {
        made("/api/models/m/nets", held);
        made("/api/models/m/nets", ways);
    }
    /// Answers may nest deeper than what is accepted.
    Json whole(const std::string& target) {
        const auto answer = client->send({.method = http::Method::get, .target = target});
        REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().message));
        CHECK_MESSAGE(answer->status == 200, target, ": ", answer->body.substr(0, 500));
        auto parsed = base::parse_json(answer->body, limits::stored);
        REQUIRE_MESSAGE(parsed, (parsed ? "" : parsed.error().message));
        return std::move(*parsed);
    }
    int put(const std::string& place, const Json& data) {
        return post(
                   "/api/models/m/nets/ways/places/" + place + "/tokens", Json{{"data", data}}
        ).status;
    }
    Json tokens(const std::string& place) {
        return whole("/api/models/m/nets/ways/places/" + place + "/tokens?limit=1000").at("items");
    }
    void await_bad(const std::string& by) {
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
        while (true) {
            for (const auto& token : tokens("bad")) {
                if (token.at("data").at("by") != by) continue;
                CHECK_MESSAGE(token.at("data").at("code") == "limit", token.dump());
                return;
            }
            REQUIRE_MESSAGE(std::chrono::steady_clock::now() < until, by, ": no failure came");
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }
    /// The data directory opens again, and everything that is kept can be shown.
    void reopen() {
        stop_executor();
        stop();
        start();
        CHECK_MESSAGE(get("/readyz").status == 200, get("/readyz").body.dump());
        const auto audit = whole("/api/models/m/audit?state=true");
        CHECK_MESSAGE(audit.at("ok") == true, audit.dump().substr(0, 2000));
        for (const auto& [place, ignored] : ways.at("places").items())
            tokens(place);
        whole("/api/models/m/dead-letters");
        whole("/api/models/m/operations");
        whole("/api/models/m/work");
        whole("/api/models/m/cases");
    }
};

/// Appends a record to the log of a stopped master, well chained, as another writer might have.
struct Writer {
    std::unique_ptr<engine::EventLog> log;

    explicit Writer(const LiveMaster& m) {
        auto opened = engine::open_rocks_log(m.data() / "log");
        REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message));
        log = std::move(*opened);
    }
    base::Seq append(const std::string& model, const char* type, const Json& data) {
        const auto epoch = log->own(model);
        auto head = log->head(model);
        REQUIRE((epoch && head));
        const base::Seq before = head->seq;
        const auto last = log->read(model, before, {});
        REQUIRE(last);
        const auto ts = engine::record_tail(last->records.front().bytes)->ts;
        engine::RecordBatch batch;
        batch.bytes = fmt::format(
            R"({{"actor":"engine","cause":null,"data":{},"epoch":{},"prev":")",
            base::canonical(data),
            *epoch
        );
        const auto prev_offset = static_cast<std::uint32_t>(batch.bytes.size());
        batch.bytes += fmt::format(
            R"({}","seq":{},"ts":{},"type":"{}","v":1}})",
            engine::unchained_prev,
            before + 1,
            ts.us,
            type
        );
        batch.records.push_back(
            {before + 1, ts, prev_offset, static_cast<std::uint32_t>(batch.bytes.size())}
        );
        const auto chained = engine::chain(std::move(batch), *head);
        const engine::Append request{model, *epoch, before, {&chained, 1}};
        const auto outcome = log->append({&request, 1}).front();
        REQUIRE_MESSAGE(outcome.status == engine::AppendStatus::committed, outcome.message);
        return before + 1;
    }
};

base::Seq spoil(LiveMaster& m, const std::string& model) {
    m.stop();
    const auto seq = Writer(m).append(
        model, "fired", {{"consumed", {"t99999-0"}}, {"net", "pass"}, {"transition", "t"}}
    );
    m.start();
    return seq;
}

const Json pass_net = *base::parse_json(R"({"net":"pass","version":"1","places":{"a":{},"o":{}},
    "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})");

}  // namespace

TEST_CASE("an argument of a command that no executor is sent is a limit on the fail outputs") {
    Ways m;
    CHECK(m.put("cmd", command({{"toolId", "noop"}, {"argv", {std::string(66'000, 'x')}}})) == 201);
    m.await_bad("command");
    m.reopen();
}

TEST_CASE("an environment variable of a command that no executor is sent is a limit, too") {
    Ways m;
    const Json env = {{"TOOL_V", std::string(70'000, 'x')}};
    CHECK(m.put("cmd", command({{"toolId", "noop"}, {"env", env}})) == 201);
    m.await_bad("command");
    m.reopen();
}

TEST_CASE("a command that a script prints is held to the same limits") {
    LiveMaster m;
    m.start_executor();
    m.made(
        "/api/tool-catalog/scripts",
        {{"id", "printer"},
         {"name", "Printer"},
         {"runtime", "sh"},
         {"content",
          "printf '{\"executor\":\"script\",\"command\":\"invoke\",\"args\":"
          "{\"toolId\":\"printer\",\"argv\":[\"'; head -c 66000 /dev/zero | tr '\\0' x; "
          "printf '\"]}}'"}}
    );
    m.made("/api/models/m/nets", *base::parse_json(R"({"net":"print","version":"1",
        "places":{"a":{},"cmd":{},"o":{},"bad":{}},"transitions":{
          "ask":{"in":{"x":"a"},"call":{"toolId":"printer","args":{}},"out":{"cmd":"${result}"},
                 "fail":{"bad":{"by":"ask","error":"${error}"}}},
          "run":{"in":{"c":"cmd"},"command":{"from":"c"},"out":{"o":"${result}"},
                 "fail":{"bad":{"by":"run","code":"${error.code}"}}}},
        "start":"a","end":["o","bad"]})"));
    const auto one = m.made("/api/models/m/nets/print/cases?wait=30s", Json::object());
    REQUIRE_MESSAGE(one.at("state") == "completed", one.dump().substr(0, 2000));
    CHECK(one.at("end").at(0).at("data") == Json{{"by", "run"}, {"code", "limit"}});
    m.stop_executor();
    m.stop();
    m.start();
    CHECK(m.get("/readyz").status == 200);
}

TEST_CASE("arguments and read values beyond what a call may have are limits") {
    Ways m;
    const std::string big(130'000, 'x');
    Json batch = Json::array();
    for (int i = 0; i < 65; ++i)
        batch.push_back({{"data", big}});
    for (int i = 0; i < 2; ++i)
        m.made("/api/models/m/nets/ways/places/many/tokens", Json{{"tokens", batch}});
    m.put("read", 1);
    m.await_bad("reads");
    m.put("go", 1);
    m.await_bad("all");
    m.reopen();
}

TEST_CASE("values of the full depth are wrapped, started with, handed in and kept") {
    Ways m;
    for (const char* place : {"wrap", "deep", "ask", "kept"})
        CHECK(m.put(place, nested(127)) == 201);
    const auto claim = [&](const char* skill) {
        return m.made(
            "/api/models/m/work/claim?wait=10s", Json{{"agent", "ada"}, {"skill", skill}}
        );
    };
    for (const char* skill : {"any", "kept"}) {
        const auto work = claim(skill);
        m.made(
            "/api/models/m/work/" + work.at("operation").get<std::string>() + "/complete",
            Json{{"claim", work.at("claim")}, {"result", nested(127)}}
        );
    }
    CHECK(m.tokens("end").size() == 1);
    CHECK(m.whole("/api/models/m/operations").at("items").size() == 2);  // child and kept
    m.reopen();
    CHECK(m.whole("/api/models/m/operations").at("items").size() == 2);
}

TEST_CASE("a prepared call that cannot be read is settled with the reason, and the master starts") {
    LiveMaster m;
    m.made("/api/models/m/nets", *base::parse_json(R"({"net":"n","version":"1",
        "places":{"a":{},"gate":{},"o":{},"bad":{}},"transitions":{
          "t":{"in":{"x":"a","g":"gate"},"call":{"toolId":"noop","args":{}},"out":{"o":1},
               "fail":{"bad":{"code":"${error.code}","why":"${error.message}"}}}}})"));
    const auto put = m.made("/api/models/m/nets/n/places/a/tokens", Json{{"data", 1}});
    const std::string token = put.at("items").at(0).at("id");
    const auto net = m.get("/api/models/m/nets/n").body;
    m.stop();
    const Json job = {{"argv", {std::string(66'000, 'x')}}};
    Writer(m).append(
        "m",
        "operation.invoking",
        {{"attempt", 1},
         {"call", {{"job", job}, {"reply", "call"}}},
         {"deployment", net.at("seq")},
         {"effect", "once"},
         {"net", "n"},
         {"reserved", {{token}}},
         {"toolId", "noop"},
         {"transition", "t"},
         {"versionHash", "v"}}
    );
    m.start();
    CHECK(m.get("/readyz").status == 200);
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    Json bad = Json::array();
    while (bad.empty() && std::chrono::steady_clock::now() < until)
        bad = m.get("/api/models/m/nets/n/places/bad/tokens").body.at("items");
    REQUIRE(bad.size() == 1);
    CHECK(bad.at(0).at("data").at("code") == "unprepared");
    const std::string why = bad.at(0).at("data").at("why");
    CHECK_MESSAGE(why.find("cannot be read") != std::string::npos, why);
}

TEST_CASE("a record that cannot be folded stops its model, which says so, and no other") {
    LiveMaster m;
    m.made("/api/models/good/nets", pass_net);
    m.made("/api/models/bad/nets", pass_net);
    m.made("/api/models/bad/nets/pass/places/o/tokens", Json{{"data", "kept"}});
    const auto seq = spoil(m, "bad");
    const auto names_it = [&](const Json& body) {
        const auto text = body.dump();
        return text.find(fmt::format("record {}", seq)) != std::string::npos &&
               text.find("t99999-0") != std::string::npos;
    };
    const auto ready = m.get("/readyz");
    CHECK(ready.status == 503);
    CHECK_MESSAGE(names_it(ready.body), ready.body.dump());
    CHECK(ready.body.at("error").at("details").size() == 1);
    const auto models = m.get("/api/models").body.at("items");
    REQUIRE(models.size() == 3);
    CHECK(names_it(models.at(0)));
    CHECK(models.at(0).at("id") == "bad");
    CHECK_FALSE(models.at(2).contains("fault"));
    for (const char* target :
         {"/api/models/bad", "/api/models/bad/nets", "/api/models/bad/nets/pass/places/o/tokens"}) {
        const auto reply = m.get(target);
        CHECK(reply.status == 500);
        CHECK_MESSAGE(names_it(reply.body), reply.body.dump());
    }
    CHECK(names_it(m.post("/api/models/bad/nets/pass/cases", Json::object()).body));
    // What it was before can be read, and its records too.
    const auto before = fmt::format("?asOf={}", seq - 1);
    const auto tokens = m.get("/api/models/bad/nets/pass/places/o/tokens" + before);
    CHECK(tokens.status == 200);
    CHECK(tokens.body.at("items").at(0).at("data") == "kept");
    const auto audit = m.get("/api/models/bad/audit").body;
    CHECK(audit.at("ok") == false);
    REQUIRE_MESSAGE(audit.at("findings").size() == 1, audit.dump());
    CHECK(audit.at("findings").at(0).at("first") == seq);
    CHECK(audit.at("findings").at(0).at("fault") == "invalid_record");
    const auto one = m.made("/api/models/good/nets/pass/cases?wait=10s", Json{{"v", 1}});
    CHECK(one.at("state") == "completed");
}

TEST_CASE("the master starts and serves the other models when the global catalog cannot be folded"
) {
    LiveMaster m;
    m.made("/api/models/good/nets", pass_net);
    m.made("/api/models/good/nets", *base::parse_json(R"({"net":"call","version":"1",
        "places":{"a":{},"o":{},"bad":{}},"transitions":{
          "t":{"in":{"x":"a"},"call":{"toolId":"noop","args":{}},"out":{"o":1},
               "fail":{"bad":"${error.message}"}}},"start":"a","end":["o","bad"]})"));
    spoil(m, "default");
    CHECK(m.get("/readyz").status == 503);
    const auto one = m.made("/api/models/good/nets/pass/cases?wait=10s", Json{{"v", 1}});
    CHECK(one.at("state") == "completed");
    const auto other = m.made("/api/models/good/nets/call/cases?wait=10s", Json{{"v", 1}});
    const std::string why = other.at("end").at(0).at("data");
    CHECK_MESSAGE(why.find("the global catalog cannot be read") != std::string::npos, why);
}

TEST_CASE("random tokens, answers and commands around every limit open again from the disk") {
    Ways m;
    std::mt19937_64 random(20261201);
    const auto below = [&](std::size_t n) { return random() % n; };
    // At a limit, one beyond it, or anywhere below.
    const auto around = [&](std::size_t limit) {
        const std::size_t kind = below(4);
        return kind == 0 ? limit : kind == 1 ? limit + 1 : kind == 2 ? limit - 1 : below(limit);
    };
    const auto value = [&]() -> Json {
        switch (below(5)) {
            case 0:
                return nested(100 + below(29));
            case 1:
                return std::string(around(limits::token_bytes_max) % 131'073, 'x');
            case 2:
                return Json::array({1e20, -0.0, 1e-7, INT64_MAX, INT64_MIN});
            case 3:
                return std::string(below(3000), '\x01') + "\u00e9\xF0\x9F\x98\x80\"\\";
            default:
                return Json{{"k", nested(below(127))}, {"", {{"\xF0\x9F\x98\x80", 1}}}};
        }
    };
    const auto some_command = [&] {
        Json args = {{"toolId", "noop"}};
        if (below(2) == 0) args["argv"] = {std::string(around(limits::argument_bytes_max), 'x')};
        if (below(3) == 0) args["env"] = {{"TOOL_V", std::string(around(1 << 16U), '\x01')}};
        if (below(3) == 0) args["input"] = value();
        if (below(4) == 0) {
            args["argv"] = Json::array();
            for (std::size_t i = 0, n = around(limits::argv_count_max); i < n; ++i)
                args["argv"].push_back("");
        }
        return command(std::move(args));
    };
    const std::array places{"arg", "many", "go", "wrap", "deep", "ask", "read", "kept"};
    for (int round = 0; round < 6; ++round) {
        if (round % 2 == 1) m.start_executor();
        for (int i = 0; i < 40; ++i) {
            if (below(4) == 0) {
                m.put("cmd", some_command());
                continue;
            }
            m.put(places[below(places.size())], value());
        }
        for (int i = 0; i < 10; ++i) {
            const auto work = m.post("/api/models/m/work/claim", Json{{"agent", "ada"}});
            if (work.status != 201) break;
            // The view nests deeper than a body may: its text is then what there is.
            const auto view = work.body.is_string()
                                  ? *base::parse_json(work.body.get<std::string>(), limits::stored)
                                  : work.body;
            const auto target =
                "/api/models/m/work/" + view.at("operation").get<std::string>() + "/complete";
            m.post(target, Json{{"claim", view.at("claim")}, {"result", value()}});
        }
        m.reopen();
    }
}
