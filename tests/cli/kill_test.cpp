#include "tests/cli/lab.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>

using tests::cli::await;
using tests::cli::Json;
using tests::cli::Lab;

namespace {

std::uint64_t number(const char* variable, std::uint64_t standard) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return standard;
    std::uint64_t value = standard;
    std::from_chars(text, text + std::strlen(text), value);
    return value;
}

/// A case goes through an immediate firing, a pure call and a call whose loss is uncertain.
Json work_net() {
    return {
        {"net", "work"},
        {"version", "1.0.0"},
        {"places",
         {{"in", Json::object()},
          {"half", Json::object()},
          {"side", Json::object()},
          {"almost", Json::object()},
          {"done", Json::object()},
          {"failed", Json::object()}}},
        {"transitions",
         {{"split",
           {{"in", {{"job", "in"}}}, {"out", {{"half", "${job}"}, {"side", {{"n", "${job.n}"}}}}}}},
          {"repeatable",
           {{"in", {{"job", "half"}}},
            {"call", {{"toolId", "repeatable"}, {"args", {{"input", "${job}"}}}}},
            {"out", {{"almost", {{"n", "${job.n}"}}}}},
            {"retry", {{"attempts", 20}, {"backoff", "50ms"}, {"maxBackoff", "200ms"}}}}},
          {"only-once",
           {{"in", {{"job", "almost"}, {"side", "side"}}},
            {"call", {{"toolId", "only-once"}, {"args", {{"input", "${job}"}}}}},
            {"out", {{"done", {{"n", "${job.n}"}}}}},
            {"fail", {{"failed", {{"n", "${job.n}"}, {"code", "${error.code}"}}}}}}}}},
        {"start", "in"},
        {"end", {"done", "failed"}},
    };
}

/// Starts cases as fast as the master takes them, up to an allowance, whatever happens to it, and
/// remembers what was answered.
class Load {
public:
    explicit Load(Lab& lab) : lab_(lab), thread_([this] { run(); }) {}
    ~Load() { stop(); }
    Load(const Load&) = delete;
    Load& operator=(const Load&) = delete;

    /// A sandbox takes longer than a start: without a limit the backlog would be the test's time.
    void allow(std::uint64_t cases) { allowed_ = cases; }
    void stop() {
        stopping_ = true;
        if (thread_.joinable()) thread_.join();
    }
    /// After `stop`: case id -> its number.
    [[nodiscard]] const std::map<std::string, std::uint64_t>& acknowledged() const {
        return acknowledged_;
    }

private:
    void run() {
        for (std::uint64_t n = 1; !stopping_; ++n) {
            // The same key until there is an answer: the request is one, however often it is sent.
            const auto key = "case-" + std::to_string(n);
            while (!stopping_ && (n > allowed_ || !start(n, key)))
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
    }

    bool start(std::uint64_t n, const std::string& key) {
        const auto endpoint = base::parse_json(tests::cli::text_of(lab_.data() / "endpoint.json"));
        if (!endpoint) return false;
        auto client =
            http::Client::make({.url = endpoint->at("url"), .bearer_token = lab_.admin_token()});
        if (!client) return false;
        http::Call call{
            .method = http::Method::post,
            .target = "/api/models/default/nets/work/cases",
            .body = Json{{"n", n}}.dump(),
            .total = base::seconds(10)
        };
        call.headers.add("Idempotency-Key", key);
        const auto answer = client->send(std::move(call));
        if (!answer || answer->status != 201) return false;
        const auto id = base::parse_json(answer->body)->at("id").get<std::string>();
        acknowledged_[id] = n;
        return true;
    }

    Lab& lab_;
    std::atomic<bool> stopping_ = false;
    std::atomic<std::uint64_t> allowed_ = 0;
    std::map<std::string, std::uint64_t> acknowledged_;  // of the thread until it is joined
    std::thread thread_;
};

struct Tokens {
    std::set<std::string> produced;
    std::set<std::string> consumed;
    std::set<std::string> twice;
};

void count_tokens(const Json& record, Tokens& tokens) {
    const auto& data = record.at("data");
    if (data.contains("produced")) {
        for (std::size_t i = 0; i < data.at("produced").size(); ++i) {
            const auto id = "t" + std::to_string(record.at("seq").get<std::uint64_t>()) + "-" +
                            std::to_string(i);
            if (!tokens.produced.insert(id).second) tokens.twice.insert(id);
        }
    }
    for (const char* list : {"consumed", "removed", "dropped"}) {
        if (!data.contains(list)) continue;
        for (const auto& id : data.at(list)) {
            if (!id.is_string()) continue;
            if (!tokens.consumed.insert(id).second) tokens.twice.insert(id);
        }
    }
}

std::set<std::string> present(Lab& lab) {
    std::set<std::string> ids;
    for (const char* place : {"in", "half", "side", "almost", "done", "failed"}) {
        std::string cursor;
        do {
            std::vector<std::string> arguments = {
                "token", "list", std::string("work/") + place, "--limit", "1000"
            };
            if (!cursor.empty()) arguments.insert(arguments.end(), {"--cursor", cursor});
            const auto page = lab.json(arguments);
            for (const auto& token : page.at("items"))
                ids.insert(token.at("id"));
            cursor = page.value("next", "");
        } while (!cursor.empty());
    }
    return ids;
}

}  // namespace

TEST_CASE(
    "whatever is killed whenever: every case ends once or is visibly uncertain, and nothing "
    "acknowledged is missing"
) {
    const auto seed = number("NETWRIGHT_SEED", std::random_device{}());
    const auto kills = number("NETWRIGHT_KILLS", 200);
    MESSAGE("seed ", seed, ", ", kills, " kills; again: NETWRIGHT_SEED=", seed);
    std::mt19937_64 random(seed);
    Lab lab;
    lab.start_master({"--lease", "2s"});
    for (const auto& [id, effect] :
         {std::pair{"repeatable", "pure"}, std::pair{"only-once", "once"}}) {
        lab.register_tool(id, "cat; sleep 0.01\n", {{"effect", effect}});
    }
    lab.deploy(work_net());
    const std::vector<std::string> executor_options = {"--slots", "2"};
    auto* executor = &lab.start_executor("worker", executor_options);
    const std::string port = lab.url().substr(lab.url().rfind(':') + 1);

    Load load(lab);
    std::uint64_t done = 0;
    for (; done < kills; ++done) {
        load.allow(20 + 2 * done);
        const auto pause = std::uniform_int_distribution<int>(0, 400)(random);
        std::this_thread::sleep_for(std::chrono::milliseconds(pause));
        const bool both = random() % 8 == 0;
        if (both || random() % 3 == 0) {
            executor->send(SIGKILL);
            executor->wait();
            executor = &lab.launch_executor("worker", executor_options);
        }
        if (both || random() % 2 == 0) {
            lab.kill_master();
            // The address stays, as a service's would.
            lab.launch_master({"--lease", "2s", "--listen", "127.0.0.1:" + port});
        }
    }
    lab.await_master();
    load.stop();
    const auto& acknowledged = load.acknowledged();
    MESSAGE(acknowledged.size(), " cases were acknowledged");
    CHECK(acknowledged.size() > 20);

    // Every case is over, or waits for somebody to say what became of an uncertain operation.
    const auto unsettled = [&] {
        const auto running = lab.json({"case", "list", "--state", "running", "--limit", "1000"});
        std::size_t count = 0;
        for (const auto& value : running.at("items")) {
            bool uncertain = false;
            for (const auto& operation : value.at("operations"))
                uncertain |= operation.at("state") == "uncertain";
            count += uncertain ? 0 : 1;
        }
        return count;
    };
    await(
        "every case to be over or uncertain", [&] { return unsettled() == 0; }, base::seconds(240)
    );

    std::map<std::string, std::size_t> states;
    std::set<std::uint64_t> numbers;
    for (const auto& [id, n] : acknowledged) {
        CHECK_MESSAGE(numbers.insert(n).second, n, " was started twice");
        const auto value = lab.json({"case", "show", id});
        const auto state = value.at("state").get<std::string>();
        ++states[state];
        if (state == "running" || state == "waiting") {
            CHECK_MESSAGE(value.dump().contains(R"("state":"uncertain")"), value.dump());
            continue;
        }
        CHECK_MESSAGE(state == "completed", value.dump());
        CHECK_MESSAGE(value.at("end").size() == 1, value.dump());
        CHECK_MESSAGE(value.at("left").empty(), value.dump());
        CHECK(value.at("end")[0].at("data").at("n") == n);
    }
    for (const auto& [state, count] : states)
        MESSAGE(count, " cases are ", state);
    CHECK(states["completed"] > states["running"]);

    const auto records = lab.events();
    Tokens tokens;
    std::map<std::string, int> finalized;
    for (std::size_t i = 0; i < records.size(); ++i) {
        REQUIRE(records[i].at("seq") == i + 1);
        if (records[i].at("type") == "tool.registered") continue;
        count_tokens(records[i], tokens);
        if (records[i].at("type") == "operation.finalized")
            ++finalized[records[i].at("data").value("operation", records[i].at("data").dump())];
    }
    CHECK_MESSAGE(tokens.twice.empty(), tokens.twice.size(), " tokens were made or taken twice");
    auto left = tokens.produced;
    for (const auto& id : tokens.consumed)
        CHECK_MESSAGE(left.erase(id) == 1, id, " was taken and never made");
    CHECK(left == present(lab));

    const auto audit = lab.run({"audit", "verify", "--state"});
    CHECK_MESSAGE(audit.exit == 0, audit.out);
    CHECK(lab.stop_master() == 0);
    const auto stopped = lab.run({"audit", "verify", "--state", "--data", lab.data().string()});
    CHECK_MESSAGE(stopped.exit == 0, stopped.out);
}
