// Idempotency-Key: whoever asks the same question again gets the first answer.
#include "server/idempotency.hpp"
#include "tests/server/live_master.hpp"

#include <fmt/format.h>
#include <set>
#include <vector>

using base::Json;

namespace {

const std::string model = "/api/models/team";

Json json(std::string_view text) {
    return *base::parse_json(text);
}

const Json flow_net = json(R"({"net":"flow","version":"1","places":{"a":{},"o":{}},
    "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})");
const Json loose_net = json(R"({"net":"loose","version":"1",
    "places":{"a":{},"b":{},"pool":{"shared":true},"q":{}},
    "transitions":{"t":{"in":{"x":"a"},"out":{"b":"${x}"}},
                   "u":{"in":{"x":"pool"},"out":{"b":"${x}"}},
                   "hold":{"in":{"x":"q"},"agent":{"skill":"hold"},"out":{"b":"${result}"}}}})");
const Json desk_net = json(R"({"net":"desk","version":"1","places":{"in":{},"out":{}},
    "transitions":{"review":{"in":{"x":"in"},"agent":{"skill":"review"},"out":{"out":"${result}"}}},
    "start":"in","end":"out"})");

/// Sends requests under keys, again and again, and sees that the first answer comes.
class Repeater {
public:
    explicit Repeater(LiveMaster& m) : m_(m) {}

    /// Must be done. `pattern`: of the route that takes it.
    Json ask(const std::string& pattern, const std::string& target, const std::string& body = "") {
        Sent sent{target, body, fmt::format("key {}", sent_.size()), {}};
        sent.first = send(sent, body);
        REQUIRE_MESSAGE(sent.first.status < 300, target, ": ", sent.first.body.dump());
        patterns_.insert(pattern);
        sent_.push_back(sent);
        again(sent);
        return sent.first.body;
    }
    Json ask(const std::string& pattern, const std::string& target, const Json& body) {
        return ask(pattern, target, body.dump());
    }
    void all_again() {
        for (const auto& sent : sent_)
            again(sent);
    }
    [[nodiscard]] bool asked(const std::string& pattern) const {
        return patterns_.contains(pattern);
    }

private:
    struct Sent {
        std::string target;
        std::string body;
        std::string key;
        LiveMaster::Reply first;
    };
    LiveMaster::Reply send(const Sent& sent, const std::string& body) {
        const auto answer = m_.client->send(
            {.method = http::Method::post,
             .target = sent.target,
             .headers = {{"Idempotency-Key", sent.key}},
             .body = body}
        );
        REQUIRE_MESSAGE(answer, (answer ? "" : answer.error().message));
        auto parsed = base::parse_json(answer->body);
        return {answer->status, parsed ? std::move(*parsed) : Json(answer->body)};
    }
    // With other spaces, where it is JSON: that is the same question.
    void again(const Sent& sent) {
        const auto parsed = base::parse_json(sent.body);
        const auto reply = send(sent, parsed ? "\n" + parsed->dump(3) + " " : sent.body);
        CHECK_MESSAGE(reply.status == sent.first.status, sent.target);
        CHECK_MESSAGE(reply.body == sent.first.body, sent.target);
    }

    LiveMaster& m_;
    std::vector<Sent> sent_;
    std::set<std::string> patterns_;
};

Json claim(Repeater& r) {
    return r.ask(
        "/api/models/{m}/work/claim", model + "/work/claim?wait=10s", Json{{"agent", "ada"}}
    );
}

std::string work_of(const Json& packet) {
    return model + "/work/" + packet.at("operation").get<std::string>();
}

void ask_of_nets(Repeater& r) {
    for (const auto& net : {flow_net, loose_net, desk_net})
        r.ask("/api/models/{m}/nets", model + "/nets", net);
    const std::string net = "/api/models/{m}/nets/{n}";
    const std::string transition = net + "/transitions/{t}";
    const std::string t = model + "/nets/loose/transitions/t";
    for (const char* verb : {"/pause", "/resume", "/pause"}) {
        r.ask("/api/models/{m}" + std::string(verb), model + verb);
        r.ask(net + verb, model + "/nets/loose" + verb);
        r.ask(transition + verb, t + verb);
    }
    for (const char* resumed : {"", "/nets/loose"})
        r.ask(
            *resumed == 0 ? "/api/models/{m}/resume" : net + "/resume", model + resumed + "/resume"
        );
    const std::string tokens = model + "/nets/loose/places/a/tokens";
    r.ask(net + "/places/{p}/tokens", tokens, Json{{"data", 1}});
    r.ask(net + "/places/{p}/tokens", tokens, json(R"({"tokens":[{"data":2},{"data":3}]})"));
    r.ask("/api/models/{m}/places/{p}/tokens", model + "/places/pool/tokens", Json{{"data", 4}});
    r.ask(transition + "/dry-run", t + "/dry-run");
    r.ask(transition + "/fire", t + "/fire");
    r.ask(transition + "/resume", t + "/resume");
}

void ask_of_work(LiveMaster& m, Repeater& r) {
    const std::string cases = "/api/models/{m}/nets/{n}/cases";
    const std::string one = "/api/models/{m}/work/{o}";
    r.ask(cases, model + "/nets/flow/cases?wait=10s", Json{{"v", 1}});
    for (int i = 0; i < 3; ++i)
        r.ask(cases, model + "/nets/desk/cases", Json(i));
    const auto first = claim(r);
    const Json held{{"claim", first.at("claim")}};
    r.ask(one + "/heartbeat", work_of(first) + "/heartbeat", held);
    r.ask(one + "/release", work_of(first) + "/release", held);
    const auto again = r.ask(one + "/claim", work_of(first) + "/claim", Json{{"agent", "bob"}});
    r.ask(
        one + "/complete",
        work_of(first) + "/complete",
        Json{{"claim", again.at("claim")}, {"result", "fine"}}
    );
    for (const char* verb : {"redrive", "drop"}) {
        const auto packet = claim(r);
        r.ask(
            one + "/fail",
            work_of(packet) + "/fail",
            Json{{"claim", packet.at("claim")}, {"message", "no idea"}}
        );
        const auto letter = m.get(model + "/dead-letters").body.at("items").at(0).at("id");
        r.ask(
            fmt::format("/api/models/{{m}}/dead-letters/{{t}}/{}", verb),
            fmt::format("{}/dead-letters/{}/{}", model, letter.get<std::string>(), verb)
        );
    }
    const auto started = r.ask(cases, model + "/nets/desk/cases", Json("cancelled"));
    r.ask(
        "/api/models/{m}/cases/{c}/cancel",
        model + "/cases/" + started.at("id").get<std::string>() + "/cancel"
    );
    m.made(model + "/nets/loose/places/q/tokens", Json{{"data", 1}});
    const auto packet = m.made(model + "/work/claim?wait=10s", {{"agent", "a"}, {"skill", "hold"}});
    r.ask(
        "/api/models/{m}/operations/{o}/abandon",
        model + "/operations/" + packet.at("operation").get<std::string>() + "/abandon",
        Json{{"reason", "given up"}}
    );
}

void ask_of_the_master(Repeater& r) {
    r.ask("/api/blobs", "/api/blobs", std::string("these are not JSON"));
    r.ask("/api/blobs/gc", "/api/blobs/gc?grace=1h");
    r.ask(
        "/api/tool-catalog/scripts",
        "/api/tool-catalog/scripts",
        json(R"({"id":"hi","name":"Hi","runtime":"bash","content":"echo 1"})")
    );
    r.ask("/api/backups", "/api/backups");
    r.ask("/api/models/{m}/archive", model + "/archive?before=5");
}

}  // namespace

TEST_CASE("every POST that is sent twice under one key gets its first answer, whatever came between"
) {
    LiveMaster m;
    Repeater r(m);
    ask_of_nets(r);
    ask_of_work(m, r);
    ask_of_the_master(r);
    const auto document = m.get("/api/openapi.json").body;
    std::size_t posts = 0;
    for (const auto& [path, operations] : document.at("paths").items()) {
        if (!operations.contains("post") || path.starts_with("/api/executor")) continue;
        ++posts;
        CHECK_MESSAGE(r.asked(path), path, " has no request in this test");
    }
    CHECK(posts > 20);
    r.all_again();
    m.stop();
    m.start();
    r.all_again();
}

TEST_CASE("one key is for one question: another body, another path or two keys are refused") {
    LiveMaster m;
    m.made(model + "/nets", flow_net);
    const std::string cases = model + "/nets/flow/cases";
    const http::Headers key{{"Idempotency-Key", "k"}};
    const auto first = m.post(cases + "?wait=10s", json(R"({"v":1,"w":2})"), key);
    CHECK(first.status == 201);
    CHECK(first.body.at("state") == "completed");
    const auto raw = [&](const std::string& target, const std::string& body, http::Headers headers
                     ) {
        const auto answer = m.client->send(
            {.method = http::Method::post,
             .target = target,
             .headers = std::move(headers),
             .body = body}
        );
        REQUIRE(answer);
        return std::pair(answer->status, answer->body);
    };
    // How long it is waited for is not part of the question, nor are spaces and the order of names.
    for (const char* wait : {"", "?wait=1ms", "?wait=20s"}) {
        const auto [status, body] = raw(cases + wait, " {\"w\": 2,\n\"v\": 1}", key);
        CHECK(status == 201);
        CHECK(*base::parse_json(body) == first.body);
    }
    CHECK(m.post(cases, json(R"({"v":1,"w":2.0})"), key).status == 409);
    CHECK(m.post(model + "/nets/flow/pause", Json(), key).status == 409);
    CHECK(m.get(model + "/cases").body.at("items").size() == 1);
    http::Headers two;
    two.add("Idempotency-Key", "a");
    two.add("Idempotency-Key", "a");
    for (const char* target : {"/nets/flow/cases", "/pause"})
        CHECK(raw(model + target, "{}", two).first == 400);
    CHECK(raw("/api/blobs", "x", two).first == 400);
    CHECK(raw("/api/blobs", "x", {{"Idempotency-Key", "b"}}).first == 201);
    CHECK(raw("/api/blobs", "y", {{"Idempotency-Key", "b"}}).first == 409);
    // What was refused changed nothing, and its key is free.
    CHECK(m.post(model + "/nets/none/cases", 1, {{"Idempotency-Key", "c"}}).status == 404);
    CHECK(m.post(cases, 1, {{"Idempotency-Key", "c"}}).status == 201);
}

TEST_CASE("the same request sent by many at once is done once, and all get its answer") {
    LiveMaster m;
    m.made(model + "/nets", flow_net);
    std::vector<std::thread> senders;
    std::vector<std::string> answers(8);
    for (auto& answer : answers)
        senders.emplace_back([&] {
            auto client =
                *http::Client::make({.url = m.master->url(), .bearer_token = m.token("admin.token")}
                );
            const auto sent = client.send(
                {.method = http::Method::post,
                 .target = model + "/nets/flow/cases?wait=10s",
                 .headers = {{"Idempotency-Key", "k"}},
                 .body = "1"}
            );
            answer = sent ? sent->body : sent.error().message;
        });
    for (auto& sender : senders)
        sender.join();
    for (const auto& answer : answers)
        CHECK(answer == answers.front());
    CHECK(m.get(model + "/cases").body.at("items").size() == 1);
}

TEST_CASE("without its kept answers a master answers from the record that did the request") {
    LiveMaster m;
    m.made(model + "/nets", flow_net);
    const http::Headers key{{"Idempotency-Key", "k"}};
    const auto first = m.post(model + "/nets/flow/pause", Json(), key);
    CHECK(first.body.at("paused") == true);
    m.made(model + "/nets/flow/resume", Json());
    m.stop();
    std::filesystem::remove_all(m.data() / "answers");
    m.start();
    CHECK(m.post(model + "/nets/flow/pause", Json(), key).body == first.body);
    CHECK(m.get(model + "/nets/flow").body.contains("paused") == false);
}

TEST_CASE("a body of too many values is refused, a large one is read") {
    LiveMaster m;
    m.made(model + "/nets", loose_net);
    const std::string tokens = model + "/nets/loose/places/b/tokens";
    Json many = {{"tokens", Json::array()}};
    for (int i = 0; i < 9000; ++i)
        many["tokens"].push_back({{"data", "a token of some bytes"}});
    CHECK(m.post(tokens, many).status == 201);
    std::string hostile = "[";
    for (std::size_t i = 0; i < base::outside_limits.nodes_max; ++i)
        hostile += "[],";
    const auto answer =
        m.client->send({.method = http::Method::post, .target = tokens, .body = hostile + "0]"});
    REQUIRE(answer);
    CHECK(answer->status == 413);
}

TEST_CASE("a key belongs to its caller and model: nobody else answers for it or spends it") {
    std::set<std::string> keys;
    std::size_t asked = 0;
    const auto ask = [&](std::any principal, std::vector<std::pair<std::string, std::string>> of) {
        http::Request request;
        request.principal = std::move(principal);
        request.parameters = std::move(of);
        request.headers.add("Idempotency-Key", "k");
        const auto key = server::key_of(request);
        REQUIRE(key);
        REQUIRE(key->has_value());
        keys.insert(**key);
        ++asked;
    };
    ask({}, {});
    ask(server::Principal::admin, {});
    ask(server::Principal::admin, {{"m", "a"}});
    ask(server::Principal::admin, {{"m", "a/k"}});
    ask(server::Principal::executor, {{"id", "e1"}});
    ask(server::Principal::executor, {{"id", "e2"}});
    CHECK(keys.size() == asked);
}
