// Records are input: whatever they hold, reading them is an error at most.
#include "base/limits.hpp"
#include "engine/inconsistent.hpp"
#include "tests/engine/small_net.hpp"

#include <random>

namespace {

// A log in which everything occurs that changes what a fold keeps.
std::vector<std::string> eventful() {
    TestModel m;
    m.deploy(R"({"net":"c","version":"1","places":{"in":{},"done":{}},
        "transitions":{"t":{"in":{"x":"in"},"out":{"done":"${x}"}}},"start":"in","end":"done"})");
    m.deploy(net(
        R"("p":{"capacity":1,"tokens":[1]},"bad":{},"rate":{"tokens":[7]},"go":{},"a":{},"k":{})",
        R"("map":{"in":{"x":"s"},"out":[{"to":"a","token":"${x}","delay":"1s"},{"to":"k","token":"${x}"}]},
           "ask":{"in":{"x":"a"},"agent":{"skill":"a"},"out":{"o":"${result}"}},
           "run":{"in":{"x":"k"},"net":{"name":"c"},"out":{"o":"${result}"}},
           "call":{"in":{"go":"go","r":{"place":"rate","arc":"read"}},
                   "call":{"toolId":"tool","args":{}},"retry":{"attempts":2,"backoff":"1s"},
                   "out":[{"to":"p","each":"[result]","token":"${each}"}],
                   "fail":{"bad":"${error.code}"}},
           "fails":{"in":{"x":"bad"},"out":{"o":"${x.none}"}})"
    ));
    m.start("n", R"({"v":1})");
    const auto cancelled = m.start("n");
    m.put("n", "go", "1");
    m.put("n", "go", "2");
    m.put("n", "bad", "3");
    const auto begun = invoke(m);
    for (const auto id : begun) {
        engine::lease_granted(m.model, {id, 1, 7, "lease", "e1"}, m.asker());
        engine::settle(m.model, {.operation = id, .result = "5", .meta = "{}"}, m.asker());
    }
    m.now = m.now + base::seconds(2);
    m.run();
    const auto hold = engine::claim_work(m.model, {.agent = "ada"}, m.asker());
    if (hold && hold->operation) {
        engine::extend_work(m.model, *hold, {.steps = 3, .note = "n"}, m.asker());
        engine::finish_work(m.model, *hold, {.result = "1"}, m.asker());
    }
    const auto held = engine::claim_work(m.model, {.agent = "bob"}, m.asker());
    REQUIRE(held);
    engine::pause(m.model, "n", "", m.asker());
    engine::resume(m.model, "n", "", m.asker());
    engine::cancel_case(m.model, cancelled, m.asker());
    const auto letter = m.model.state().store.first_in(m.model.state().dead_letter());
    REQUIRE(letter != places::no_slot);
    engine::redrive(m.model, m.model.state().store.token(letter).id, m.asker());
    m.run();
    engine::Asker asker = m.asker();
    asker.request_key = "key";
    engine::put_tokens(m.model, {"n", "go"}, {{"1", {}}}, asker);
    m.keep();
    return m.records;
}

// One member somewhere is dropped, doubled into another kind, or given the value of another.
class Mutator {
public:
    explicit Mutator(std::uint64_t seed) : random_(seed) {}

    std::string of(const std::string& record) {
        auto json = *base::parse_json(record, base::limits::stored);
        const auto times = 1 + below(2);
        for (std::size_t i = 0; i < times; ++i)
            change(json.at(below(4) == 0 ? "cause" : "data"));
        if (below(10) == 0) json["seq"] = below(40);
        return base::canonical(json);
    }
    std::size_t below(std::size_t n) { return random_() % n; }

private:
    void change(base::Json& value) {
        const bool goes_in = value.is_structured() && !value.empty() && below(4) != 0;
        if (!goes_in) {
            value = other();
            return;
        }
        auto at = value.begin();
        std::advance(at, static_cast<std::ptrdiff_t>(below(value.size())));
        if (below(6) == 0) {
            value.erase(at);
        } else if (value.is_array() && below(6) == 0) {
            value.push_back(*at);
        } else {
            change(*at);
        }
    }
    base::Json other() {
        switch (below(12)) {
            case 0:
                return nullptr;
            case 1:
                return true;
            case 2:
                return -1;
            case 3:
                return static_cast<std::int64_t>(below(60));
            case 4:
                return INT64_MAX;
            case 5:
                return base::Json::array({base::Json::array({"t1-0"})});
            case 6:
                return base::Json::object({{"document", 1}});
            case 7:
                return "t" + std::to_string(below(60)) + "-" + std::to_string(below(3));
            case 8:
                return "o" + std::to_string(below(60));
            case 9:
                return "c" + std::to_string(below(60));
            case 10:
                return "";
            default:
                return 1.5;
        }
    }

    std::mt19937_64 random_;
};

// What a lane does with a model that it opened, and what its clients and executors do then.
void go_on(engine::Model& model) {
    model.take_over(2);
    base::Timestamp now{2'000'000'000};
    model.go_live(now);
    model.pump(now, 1000);
    std::vector<base::OperationId> open;
    for (const auto& [id, operation] : model.state().operations)
        open.push_back(id);
    for (const auto id : open) {
        engine::settle(
            model, {.operation = id, .attempt = 1, .result = "1", .meta = "{}"}, {.now = now}
        );
    }
    now = now + base::seconds(3600);
    model.pump(now, 1000);
    engine::FrozenState(model.state()).write([](std::string_view) { return true; });
}

}  // namespace

TEST_CASE("whatever a record holds, folding, opening and going on never end the process") {
    const auto records = eventful();
    REQUIRE(records.size() > 30);
    std::size_t refused = 0;
    std::size_t opened = 0;
    std::size_t stopped = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        Mutator mutator(seed);
        const std::size_t changed = mutator.below(records.size());
        engine::Model model("m");
        bool good = true;
        for (std::size_t i = 0; i < records.size() && good; ++i)
            good = model.replay(i == changed ? mutator.of(records[i]) : records[i]).has_value();
        if (!good) {
            ++refused;
            continue;
        }
        // A state that no decision leads to stops the model, as a lane does with it.
        try {
            go_on(model);
            ++opened;
        } catch (const engine::Inconsistent&) {
            ++stopped;
        }
    }
    MESSAGE("refused ", refused, ", opened ", opened, ", stopped ", stopped);
    CHECK(refused > 300);
    CHECK(opened > 300);
}
