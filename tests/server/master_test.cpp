#include "base/ed25519.hpp"
#include "base/files.hpp"
#include "jobs/enrolment.hpp"
#include "tests/server/live_master.hpp"

#include <cctype>
#include <set>
#include <sstream>

using base::Json;

namespace {

const Json pass_net = *base::parse_json(R"({"net":"pass","version":"1","places":{"a":{},"o":{}},
    "transitions":{"t":{"in":{"x":"a"},"out":{"o":"${x}"}}},"start":"a","end":["o"]})");
const Json noop_net =
    *base::parse_json(R"({"net":"noop","version":"1","places":{"a":{},"o":{},"bad":{}},
    "transitions":{"t":{"in":{"x":"a"},"call":{"toolId":"noop","args":{"v":"${x.v}"}},"out":{"o":"${result}"},"fail":{"bad":"${error}"}}},
    "start":"a","end":["o","bad"]})");
const Json shell_net =
    *base::parse_json(R"({"net":"shell","version":"1","places":{"a":{},"o":{},"bad":{}},
    "transitions":{"t":{"in":{"x":"a"},"call":{"toolId":"greet","args":{"name":"${x.name}"}},
                        "out":{"o":{"r":"${result}","hash":"${meta.versionHash}"}},"fail":{"bad":"${error}"}}},
    "start":"a","end":["o","bad"]})");

}  // namespace

TEST_CASE("a case runs through a map net and its end is answered to who waits") {
    LiveMaster m;
    CHECK(m.get("/api/models/team/nets").status == 404);
    m.made("/api/models/team/nets", pass_net);
    const auto one = m.made("/api/models/team/nets/pass/cases?wait=10s", Json{{"v", 1}});
    CHECK(one.at("state") == "completed");
    CHECK(one.at("end").at(0).at("data") == Json{{"v", 1}});
    CHECK(m.get("/api/models/team/cases/" + one.at("id").get<std::string>()).body == one);
}

TEST_CASE("a call reaches an executor and comes back") {
    LiveMaster m;
    m.start_executor();
    m.made("/api/models/team/nets", noop_net);
    const auto one = m.made("/api/models/team/nets/noop/cases?wait=20s", Json{{"v", 7}});
    CHECK_MESSAGE(one.at("state") == "completed", one.dump());
    CHECK(one.at("end").at(0).at("data") == Json{{"v", 7}});
    CHECK(one.at("operations").at(0).at("toolId") == "noop");
}

TEST_CASE("a registered script runs in the sandbox, pinned") {
    LiveMaster m;
    m.start_executor();
    const Json script = {
        {"id", "greet"},
        {"name", "Greet"},
        {"runtime", "sh"},
        {"content", "read line; printf '{\"said\":\"hello\"}'"}
    };
    const auto item = m.made("/api/tool-catalog/scripts", script);
    CHECK(item.at("scope") == "global");
    CHECK(m.post("/api/tool-catalog/scripts", script).status == 200);
    m.made("/api/models/team/nets", shell_net);
    const auto one = m.made("/api/models/team/nets/shell/cases?wait=20s", Json{{"name", "Ann"}});
    REQUIRE_MESSAGE(one.at("state") == "completed", one.dump());
    CHECK(one.at("end").at(0).at("data").at("r").dump() == R"({"said":"hello"})");
    CHECK(one.at("end").at(0).at("data").at("hash") == item.at("versionHash"));
}

TEST_CASE(
    "a restart keeps everything, and the marking as of an earlier record is what was seen then"
) {
    LiveMaster m;
    m.made("/api/models/team/nets", pass_net);
    m.made("/api/models/team/nets/pass/cases?wait=10s", Json{{"v", 1}});
    const auto then = m.get("/api/models/team/nets/pass/places/o/tokens").body;
    const auto seq = m.get("/api/models/team").body.at("seq").get<std::uint64_t>();
    m.made("/api/models/team/nets/pass/cases?wait=10s", Json{{"v", 2}});
    const auto now = m.get("/api/models/team/nets/pass/places/o/tokens").body;
    CHECK(now.at("items").size() == 2);
    m.stop();
    m.start();
    CHECK(m.get("/api/models/team/nets/pass/places/o/tokens").body == now);
    CHECK(
        m.get("/api/models/team/nets/pass/places/o/tokens?asOf=" + std::to_string(seq)).body == then
    );
    const auto audit = m.get("/api/models/team/audit?state=true");
    CHECK_MESSAGE(audit.body.at("ok") == true, audit.body.dump());
}

TEST_CASE("cases that left memory are shown, listed, paged and told to be over as before") {
    LiveMaster m;
    m.made("/api/models/team/nets", pass_net);
    constexpr std::size_t count = 530;  // more than stay in memory
    const auto first = m.made("/api/models/team/nets/pass/cases?wait=10s", Json{{"v", 0}});
    const auto id = first.at("id").get<std::string>();
    const auto early = m.get("/api/models/team").body.at("seq").get<std::uint64_t>();
    std::vector<std::string> ids{id};
    while (ids.size() < count)
        ids.push_back(m.made("/api/models/team/nets/pass/cases", Json{{"v", 1}}).at("id"));
    m.made("/api/models/team/nets/pass/cases?wait=10s", Json{{"v", 2}});
    m.stop();
    m.start();
    CHECK(m.get("/api/models/team/cases/" + id).body == first);
    CHECK(m.get("/api/models/team").body.at("cases") == count + 1);
    const auto refused = m.post("/api/models/team/cases/" + id + "/cancel", Json::object());
    CHECK(refused.status == 409);
    CHECK(refused.body.dump().find("completed") != std::string::npos);
    CHECK(m.get("/api/models/team/cases/c999999").status == 404);
    CHECK(
        m.get("/api/models/team/cases/" + ids[1] + "?asOf=" + std::to_string(early)).status == 404
    );
    CHECK(m.get("/api/models/team/cases/" + id + "?asOf=" + std::to_string(early)).body == first);
    const auto listed = [&](const std::string& query) {
        std::vector<std::string> found;
        std::string cursor;
        do {
            const auto page = m.get("/api/models/team/cases?limit=100" + query + cursor).body;
            CHECK(page.at("items").size() <= 100);
            for (const auto& item : page.at("items"))
                found.push_back(item.at("id"));
            cursor = page.contains("next") ? "&cursor=" + page.at("next").get<std::string>() : "";
        } while (!cursor.empty());
        return found;
    };
    const auto all = listed("");
    REQUIRE(all.size() == count + 1);
    CHECK(std::equal(ids.begin(), ids.end(), all.begin()));
    CHECK(listed("&state=completed") == all);
    CHECK(listed("&state=running").empty());
    CHECK(listed("&net=other").empty());
    CHECK(listed("&asOf=" + std::to_string(early)) == std::vector{id});
    CHECK(m.get("/api/models/team/audit?state=true").body.at("ok") == true);
}

TEST_CASE("cases that were running as of then do not hide those that had left memory by then") {
    LiveMaster m;
    m.made("/api/models/team/nets", pass_net);
    m.made("/api/models/team/nets", *base::parse_json(R"({"net":"wait","version":"1",
        "places":{"i":{},"go":{},"o":{}},
        "transitions":{"t":{"in":{"x":"i","g":{"place":"go","arc":"read"}},"out":{"o":"${x}"}}},
        "start":"i","end":["o"]})"));
    const auto start = [&](const std::string& net) {
        return m.made("/api/models/team/nets/" + net + "/cases", Json{{"v", 1}}).at("id");
    };
    for (int i = 0; i < 3; ++i)
        start("wait");
    const auto first = start("pass");
    constexpr std::size_t more_than_stay = 510;
    for (std::size_t i = 0; i < more_than_stay; ++i)
        start("pass");
    const auto then = m.get("/api/models/team").body.at("seq").get<std::uint64_t>();
    m.made("/api/models/team/nets/wait/places/go/tokens", Json{{"data", 1}});
    for (std::size_t i = 0; i < more_than_stay; ++i)
        start("pass");
    const auto query =
        "/api/models/team/cases?limit=2&state=completed&asOf=" + std::to_string(then);
    auto page = m.get(query).body;
    for (int pages = 0; pages < 5 && page.at("items").empty() && page.contains("next"); ++pages)
        page = m.get(query + "&cursor=" + page.at("next").get<std::string>()).body;
    REQUIRE_FALSE(page.at("items").empty());
    CHECK(page.at("items").at(0).at("id") == first);
}

TEST_CASE("archived records are replayed, seen as of then, and kept from collection") {
    LiveMaster m;
    m.made("/api/models/team/nets", pass_net);
    m.made("/api/models/team/nets/pass/cases?wait=10s", Json{{"v", 1}});
    const auto then = m.get("/api/models/team").body.at("seq").get<std::uint64_t>();
    const auto seen = m.get("/api/models/team/nets/pass/places/o/tokens").body;
    for (int i = 0; i < 20; ++i)
        m.made("/api/models/team/nets/pass/cases?wait=10s", Json{{"v", i}});
    CHECK(m.post("/api/models/team/archive", {}).status == 400);
    CHECK(m.post("/api/models/team/archive?before=soon", {}).status == 400);
    CHECK(m.post("/api/models/nobody/archive?before=9", {}).status == 404);
    const auto done = m.post("/api/models/team/archive?before=2100-01-01T00:00:00Z", {});
    REQUIRE_MESSAGE(done.status == 200, done.body.dump());
    CHECK(done.body.at("records").get<std::uint64_t>() > then);
    CHECK(m.post("/api/blobs/gc?grace=0s", {}).body.at("collected") == 0);
    std::filesystem::remove_all(m.data() / "snapshots");
    m.stop();
    std::filesystem::remove_all(m.data() / "snapshots");
    m.start();
    CHECK(
        m.get("/api/models/team/nets/pass/places/o/tokens?asOf=" + std::to_string(then)).body ==
        seen
    );
    CHECK(m.get("/api/models/team/events?from=1&limit=3").body.at("items").size() == 3);
    CHECK(m.get("/api/models/team/audit?state=true").body.at("ok") == true);
}

TEST_CASE("a second master on the same directory is refused") {
    LiveMaster m;
    const auto second = server::Master::start({.data = m.data()});
    REQUIRE_FALSE(second);
    CHECK(second.error().code == base::ErrorCode::conflict);
}

namespace {

/// Enrols an executor with a key of its own, and gets it access.
std::string access_token(LiveMaster& m, const std::string& id) {
    using namespace jobs::enrolment;
    const auto key = base::SigningKey::make();
    const std::string once = m.made("/api/executor-enrolments", Json::object()).at("token");
    m.made(
        path(id, "enrol"),
        {{"token", once},
         {"publicKey", key.public_hex()},
         {"signature", key.sign(text({id, key.public_hex(), once}))}}
    );
    const std::string challenge = m.made(path(id, "challenge"), Json::object()).at("challenge");
    const Json signed_challenge = {
        {"challenge", challenge}, {"signature", key.sign(access_message(id, challenge))}
    };
    return m.made(path(id, "access"), signed_challenge).at("token");
}

}  // namespace

TEST_CASE("an executor's token opens its own routes only, and no other token opens them") {
    LiveMaster m;
    CHECK(m.post("/api/executors/e9/sync", Json::object()).status == 403);
    CHECK(m.post("/api/executors/e9/drain", Json::object()).status == 404);
    // A one-time token is told once, also to who asks under a key.
    const auto ask = [&] {
        return m.post("/api/executor-enrolments", Json::object(), {{"Idempotency-Key", "k"}});
    };
    CHECK(ask().body.at("token") != ask().body.at("token"));
    m.client->set_bearer_token(access_token(m, "e9"));
    CHECK(m.get("/api/models").status == 403);
    CHECK(m.get("/api/tool-catalog").status == 403);
    CHECK(m.get("/api/executors").status == 403);
    CHECK(m.post("/api/executor-enrolments", Json::object()).status == 403);
    CHECK(m.post("/api/executors/e9/drain", Json::object()).status == 403);
    CHECK(m.post("/api/executors/e8/sync", Json::object()).status == 403);
    CHECK(m.post("/api/executors/e9/sync", Json::object()).status == 400);
    m.client->set_bearer_token("wrong");
    CHECK(m.get("/api/models").status == 401);
    CHECK(m.get("/healthz").status == 200);
}

TEST_CASE("a request sent twice under one key is done once, and another under it is refused") {
    LiveMaster m;
    m.made("/api/models/team/nets", pass_net);
    const auto first =
        m.post("/api/models/team/nets/pass/cases", Json{{"v", 1}}, {{"Idempotency-Key", "k1"}});
    const auto again =
        m.post("/api/models/team/nets/pass/cases", Json{{"v", 1}}, {{"Idempotency-Key", "k1"}});
    CHECK(first.body.at("id") == again.body.at("id"));
    CHECK(
        m.post("/api/models/team/nets/pass/cases", Json{{"v", 2}}, {{"Idempotency-Key", "k1"}})
            .status == 409
    );
}

TEST_CASE("the description of the API names every route and no other") {
    LiveMaster m;
    std::set<std::string> described;
    const auto document = m.get("/api/openapi.json").body;
    for (const auto& [path, operations] : document.at("paths").items()) {
        for (const auto& [method, operation] : operations.items()) {
            std::string name = method;
            for (char& c : name)
                c = static_cast<char>(std::toupper(c));
            described.insert(name + " " + path);
        }
    }
    const auto text = base::read_file(NETWRIGHT_SOURCE_DIR "/docs/http-api.md", 1U << 20U);
    REQUIRE(text);
    std::set<std::string> documented;
    std::istringstream lines(text->substr(text->find("\n## Every route\n")));
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| `")) continue;
        documented.insert(line.substr(3, line.find('`', 3) - 3));
    }
    for (const auto& route : described)
        CHECK_MESSAGE(documented.contains(route), route, " is not in docs/http-api.md");
    for (const auto& route : documented)
        CHECK_MESSAGE(described.contains(route), route, " is only in docs/http-api.md");
}
