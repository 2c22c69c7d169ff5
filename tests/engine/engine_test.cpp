#include "engine/engine.hpp"

#include "base/files.hpp"
#include "engine/memory_log.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <atomic>
#include <thread>
#include <vector>

namespace {

// No transition of these tests calls anything.
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

// Every call is prepared at once, and its first performance told.
class ReadyHandler final : public engine::TransitionHandler {
public:
    std::atomic<base::Seq> operation = 0;

    void opened(const engine::Model& /*model*/) override {}
    void prepare(
        std::string_view /*model*/,
        const engine::Prepare& /*request*/,
        std::move_only_function<void(base::Result<engine::Prepared>)> done
    ) override {
        done(engine::Prepared{.call = "{}", .effect = "once", .tool_id = "t", .version_hash = "v"});
    }
    void perform(const engine::Performance& performance) override {
        operation = performance.operation.seq;
        operation.notify_all();
    }
    void cancel(std::string_view /*model*/, base::OperationId /*operation*/) override {}
    void recover(const engine::Performance& /*performance*/) override {}
};

template <class Handler>
struct EngineWith {
    base::TemporaryFolder folder;
    engine::MemoryLog log;
    engine::SnapshotStore snapshots{folder.path()};
    Handler handler;
    engine::Engine engine{
        {.log = log,
         .snapshots = snapshots,
         .handler = handler,
         .clock = base::system_clock(),
         .threads = 4}
    };
};
using LiveEngine = EngineWith<NoHandler>;

}  // namespace

TEST_CASE("a model's decisions never run at the same time, and each is answered once it is durable"
) {
    LiveEngine live;
    constexpr int each = 500;
    std::atomic<int> inside = 0;
    std::atomic<int> overlaps = 0;
    std::atomic<int> answered = 0;
    std::atomic<int> early = 0;
    std::vector<std::thread> askers;
    for (int t = 0; t < 4; ++t) {
        askers.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                live.engine.write<base::Seq>(
                    "m",
                    {},
                    [&](engine::Model& model,
                        const engine::Asker& asker) -> base::Result<base::Seq> {
                        if (inside.fetch_add(1) != 0) ++overlaps;
                        const auto seq =
                            engine::write(model, {.produced = {{"p-tool-catalog", "{}"}}}, asker);
                        inside.fetch_sub(1);
                        return seq;
                    },
                    {},
                    [&](base::Result<base::Seq> seq) {
                        if (!seq || live.engine.durable("m") < *seq) ++early;
                        ++answered;
                        answered.notify_all();
                    }
                );
            }
        });
    }
    for (auto& asker : askers)
        asker.join();
    for (int now = answered; now != 4 * each; now = answered)
        answered.wait(now);
    CHECK(overlaps == 0);
    CHECK(early == 0);
    CHECK(live.engine.durable("m") == 4 * each);
}

TEST_CASE("looking at a model that does not exist makes nothing") {
    LiveEngine live;
    std::atomic<int> answered = 0;
    live.engine.read<bool>(
        "absent",
        [](const engine::Model&) -> base::Result<bool> { return true; },
        [&](base::Result<bool> seen) {
            answered = !seen && seen.error().code == base::ErrorCode::not_found ? 1 : 2;
            answered.notify_all();
        }
    );
    answered.wait(0);
    CHECK(answered == 1);
    CHECK(live.engine.log().models().value().empty());
}

TEST_CASE("a granted lease becomes durable although nobody waits for it and nothing else is written"
) {
    EngineWith<ReadyHandler> live;
    auto net = nets::compile(*base::parse_json(R"({"net":"n","version":"1",
        "places":{"s":{"tokens":[1]},"o":{}},
        "transitions":{"t":{"in":{"x":"s"},"call":{"toolId":"t","args":{}},"out":{"o":1}}}})"));
    REQUIRE(net);
    live.engine.write<bool>(
        "m",
        {},
        [rules = std::make_shared<const nets::Net>(std::move(*net))](
            engine::Model& model, const engine::Asker& asker
        ) -> base::Result<bool> { return engine::deploy(model, rules, {}, asker).has_value(); },
        {},
        [](base::Result<bool>) {}
    );
    live.handler.operation.wait(0);
    const auto before = live.engine.durable("m");
    const base::OperationId operation{live.handler.operation.load()};
    live.engine.lease_granted("m", {operation, 1, 7, "l1", "e1"});
    // Looking at the model would make it durable: only the log is asked.
    while (live.log.head("m")->seq == before)
        std::this_thread::yield();
    const auto page = live.log.read("m", before + 1, {});
    REQUIRE(page->records.size() == 1);
    CHECK(page->records.front().bytes.find("lease.granted") != std::string_view::npos);
}

TEST_CASE("a snapshot is taken under a steady load, and bad ones go away when the model is opened"
) {
    const base::TemporaryFolder folder;
    engine::MemoryLog log;
    engine::SnapshotStore snapshots{folder.path()};
    NoHandler handler;
    // One token goes round without a pause.
    auto net = nets::compile(*base::parse_json(R"({"net":"n","version":"1",
        "places":{"a":{"tokens":[0]},"b":{}},
        "transitions":{"go":{"in":{"x":"a"},"guard":"x < 6000","out":{"b":"${x + 1}"}},
                       "back":{"in":{"x":"b"},"out":{"a":"${x}"}}}})"));
    REQUIRE(net);
    {
        engine::Engine live{
            {.log = log,
             .snapshots = snapshots,
             .handler = handler,
             .clock = base::system_clock(),
             .threads = 2,
             .snapshot_bytes_min = 20'000}
        };
        live.write<bool>(
            "m",
            {},
            [rules = std::make_shared<const nets::Net>(std::move(*net))](
                engine::Model& model, const engine::Asker& asker
            ) -> base::Result<bool> { return engine::deploy(model, rules, {}, asker).has_value(); },
            {},
            [](base::Result<bool>) {}
        );
        while (log.head("m")->seq < 12'000)
            std::this_thread::yield();
        live.stop();
    }
    const auto seqs = snapshots.list("m").value();
    REQUIRE_FALSE(seqs.empty());
    CHECK(seqs.front() < 6'000);

    // For another log all of them are bad.
    engine::MemoryLog other;
    engine::SnapshotStore elsewhere{folder.path() / "elsewhere"};
    for (int life = 0; life < 2; ++life) {
        engine::Engine live{
            {.log = other,
             .snapshots = life == 0 ? elsewhere : snapshots,
             .handler = handler,
             .clock = base::system_clock(),
             .threads = 2}
        };
        std::atomic<int> left = life == 0 ? 13'000 : 1;
        for (int i = left; i > 0; --i) {
            live.write<base::Seq>(
                "m",
                {},
                [](engine::Model& model, const engine::Asker& asker) -> base::Result<base::Seq> {
                    return engine::write(model, {.produced = {{"p-tool-catalog", "1"}}}, asker);
                },
                {},
                [&](base::Result<base::Seq> seq) {
                    CHECK(seq);
                    --left;
                    left.notify_all();
                }
            );
        }
        for (int now = left; now != 0; now = left)
            left.wait(now);
        live.stop();
    }
    for (const auto seq : snapshots.list("m").value())
        CHECK(seq > 13'000);
}
