#include "base/files.hpp"
#include "engine/engine.hpp"
#include "engine/memory_log.hpp"
#include "engine/model_clock.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <memory>
#include <optional>
#include <thread>

namespace {

/// The machine's clock, with a wall clock that a test sets.
class SetClock final : public base::Clock {
public:
    [[nodiscard]] base::Timestamp now() const override {
        return base::system_clock().now() + base::Duration{set_by_us_};
    }
    [[nodiscard]] base::Duration elapsed() const override { return base::system_clock().elapsed(); }
    void set_by(base::Duration step) { set_by_us_ += step.us; }

private:
    std::atomic<std::int64_t> set_by_us_ = 0;
};

class NoHandler final : public engine::TransitionHandler {
public:
    void opened(const engine::Model& /*model*/) override {}
    void prepare(
        std::string_view /*model*/,
        const engine::Prepare& /*request*/,
        std::move_only_function<void(base::Result<engine::Prepared>)> done
    ) override {
        done(base::fail(base::ErrorCode::unsupported, "nothing is called here"));
    }
    void perform(const engine::Performance& /*performance*/) override {}
    void cancel(std::string_view /*model*/, base::OperationId /*operation*/) override {}
    void recover(const engine::Performance& /*performance*/) override {}
};

/// A token that comes after half a second and is then taken, one of tomorrow, and a timer.
struct Waiting {
    base::TemporaryFolder folder;
    engine::MemoryLog log;
    engine::SnapshotStore snapshots{folder.path()};
    NoHandler handler;
    SetClock clock;
    std::optional<engine::Engine> engine;

    Waiting() {
        start();
        auto net = nets::compile(*base::parse_json(R"({"net":"n","version":"1",
            "places":{"a":{"tokens":[1]},"soon":{},"tomorrow":{},"ticks":{},"taken":{},"early":{}},
            "transitions":{
              "begin":{"in":{"x":"a"},"out":[{"to":"soon","token":1,"delay":"500ms"},
                                             {"to":"tomorrow","token":1,"delay":"1d"}]},
              "take":{"in":{"x":{"place":"soon","age":"100ms"}},"out":{"taken":1}},
              "wrong":{"in":{"x":"tomorrow"},"out":{"early":1}},
              "tick":{"every":"200ms","out":{"ticks":1}}}})"));
        REQUIRE(net);
        std::atomic<bool> deployed = false;
        engine->write<bool>(
            "m",
            {},
            [rules = std::make_shared<const nets::Net>(std::move(*net))](
                engine::Model& model, const engine::Asker& asker
            ) -> base::Result<bool> { return engine::deploy(model, rules, {}, asker).has_value(); },
            {},
            [&](base::Result<bool> done) {
                deployed = done && *done;
                deployed.notify_all();
            }
        );
        deployed.wait(false);
        REQUIRE(comes_to("tomorrow", 1));
    }
    void start() {
        engine.emplace(engine::Engine::Parts{
            .log = log, .snapshots = snapshots, .handler = handler, .clock = clock
        });
    }
    void restart(base::Duration step) {
        engine.reset();
        clock.set_by(step);
        start();
        REQUIRE(engine->open_all());
    }
    std::size_t count(const char* place) {
        std::atomic<std::int64_t> found = -1;
        engine->read<std::size_t>(
            "m",
            [place](const engine::Model& model) -> base::Result<std::size_t> {
                return model.state().store.place(*model.state().place({"n", place})).count;
            },
            [&](base::Result<std::size_t> counted) {
                found = counted ? static_cast<std::int64_t>(*counted) : 0;
                found.notify_all();
            }
        );
        found.wait(-1);
        return static_cast<std::size_t>(found.load());
    }
    /// False when it has not come within much more than any length of time here.
    bool comes_to(const char* place, std::size_t tokens) {
        const auto end = clock.elapsed() + base::seconds(60);
        while (count(place) < tokens) {
            if (clock.elapsed() > end) return false;
            std::this_thread::yield();
        }
        return true;
    }
};

}  // namespace

TEST_CASE("S6: a wall clock that is set holds no length of time up and cuts none short") {
    for (const auto step : {base::seconds(-3600), base::seconds(10 * 86'400)}) {
        CAPTURE(step.us);
        Waiting waiting;
        const auto ticks = waiting.count("ticks");
        waiting.clock.set_by(step);
        CHECK(waiting.comes_to("taken", 1));
        CHECK(waiting.comes_to("ticks", ticks + 3));
        CHECK(waiting.count("early") == 0);
    }
}

TEST_CASE(
    "S6: over a restart with a wall clock set back, a length of time goes on from what was left"
) {
    Waiting waiting;
    waiting.restart(base::seconds(-3600));
    const auto ticks = waiting.count("ticks");
    CHECK(waiting.comes_to("taken", 1));
    CHECK(waiting.comes_to("ticks", ticks + 3));
    CHECK(waiting.count("early") == 0);
}

TEST_CASE("S6: time that passed while no master ran counts, as the wall clock says") {
    Waiting waiting;
    waiting.restart(base::seconds(86'400));
    CHECK(waiting.comes_to("early", 1));
}

TEST_CASE("a model's time never goes back, begins at the wall clock and runs with elapsed time") {
    class Turned final : public base::Clock {
    public:
        base::Timestamp wall{1'000'000};
        base::Duration run{5'000};
        [[nodiscard]] base::Timestamp now() const override { return wall; }
        [[nodiscard]] base::Duration elapsed() const override { return run; }
    };
    Turned clock;
    engine::ModelClock model(clock);
    model.begin({});
    CHECK(model.now() == clock.wall);
    clock.wall = {1};
    clock.run = {5'700};
    CHECK(model.now() == base::Timestamp{1'000'700});
    CHECK(model.wall_ahead() == base::Duration{-1'000'699});
    model.begin({900'000});  // open again: it went on meanwhile
    CHECK(model.now() == base::Timestamp{1'000'700});
    engine::ModelClock later(clock);
    later.begin({2'000'000});
    CHECK(later.now() == base::Timestamp{2'000'000});
}
