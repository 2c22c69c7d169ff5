// What a machine that loses power leaves of the log.
#include "base/files.hpp"
#include "engine/audit.hpp"
#include "engine/rocks_store.hpp"
#include "tests/engine/log_records.hpp"
#include "tests/engine/rocks_losing_disk.hpp"

#include <doctest/doctest.h>
#include <rocksdb/env.h>

#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>

using engine::AppendStatus;
using engine::Seq;

namespace {

const std::array<std::string, 3> models{"a", "b", "c"};

struct Machine {
    std::shared_ptr<engine::testing::LosingDisk> disk =
        std::make_shared<engine::testing::LosingDisk>();
    std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
    base::TemporaryFolder folder;
    std::unique_ptr<engine::EventLog> log;
    std::map<std::string, Seq> acknowledged;

    /// False when the power went while opening.
    bool start() {
        auto opened = engine::open_rocks_log_on(*env, folder.path() / "log", {});
        if (!opened) {
            REQUIRE_MESSAGE(disk->lost(), opened.error().message);
            return false;
        }
        log = std::move(*opened);
        return true;
    }

    /// Appends to the models in turn until the power goes.
    void work(std::mt19937_64& random) {
        std::map<std::string, engine::Epoch> epochs;
        while (!disk->lost()) {
            const std::string& model = models[random() % models.size()];
            if (!epochs.contains(model)) {
                const auto epoch = log->own(model);
                REQUIRE_MESSAGE((epoch || disk->lost()), (epoch ? "" : epoch.error().message));
                if (!epoch) return;
                epochs[model] = *epoch;
            }
            const std::size_t count = 1 + random() % 200;
            const std::size_t text = random() % 8 == 0 ? 20'000 : 40;
            const auto outcome = engine::testing::append_records(
                *log, model, epochs[model], text > 1000 ? 5 : count, text
            );
            if (outcome.status == AppendStatus::committed) acknowledged[model] = outcome.seq;
            REQUIRE((outcome.status == AppendStatus::committed || disk->lost()));
        }
    }

    void check() {
        for (const auto& [model, seq] : acknowledged) {
            CHECK(log->head(model).value().seq >= seq);
            CHECK(engine::testing::chained_up_to(*log, model, log->head(model)->seq));
        }
        const auto audit = engine::verify_all(*log, [](std::string_view) {
                               return engine::AuditOptions{};
                           }).value();
        CHECK_MESSAGE(audit.ok(), engine::testing::told(audit));
    }
};

}  // namespace

TEST_CASE("nothing acknowledged is lost when the power goes in the middle of anything") {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        Machine machine;
        for (int life = 0; life < 4; ++life) {
            CAPTURE(life);
            machine.disk->lose_power_in(random() % 80);
            if (machine.start()) machine.work(random);
            machine.log.reset();
            machine.disk->restart(random);
            REQUIRE(machine.start());
            machine.check();
            machine.log.reset();
        }
    }
}

TEST_CASE("a torn write that was not acknowledged is no damage to an audit either") {
    for (std::uint64_t seed = 100; seed < 105; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        Machine machine;
        machine.disk->lose_power_in(40 + random() % 60);
        if (machine.start()) machine.work(random);
        machine.log.reset();
        machine.disk->restart(random);
        if (machine.acknowledged.empty()) continue;
        auto audited = engine::open_rocks_log_on(
            *machine.env, machine.folder.path() / "log", {.access = engine::LogAccess::read_only}
        );
        REQUIRE(audited);
        machine.log = std::move(*audited);
        machine.check();
        machine.log.reset();
    }
}

TEST_CASE("after a failed write a log refuses all until a model is owned anew, and loses nothing") {
    std::mt19937_64 random(3);
    Machine machine;
    REQUIRE(machine.start());
    auto& log = *machine.log;
    const auto a = log.own("a").value();
    const auto b = log.own("b").value();
    for (int fault = 0; fault < 4; ++fault) {
        CAPTURE(fault);
        const auto epoch = fault == 0 ? a : log.own("a").value();
        CHECK(
            engine::testing::append_records(log, "a", epoch, 30).status == AppendStatus::committed
        );
        const Seq before = log.head("a").value().seq;
        machine.disk->lose_power_in(random() % 2);
        CHECK(engine::testing::append_records(log, "a", epoch, 30).status == AppendStatus::unknown);
        machine.disk->heal();
        CHECK(engine::testing::append_records(log, "a", epoch, 1).status == AppendStatus::unknown);
        CHECK(engine::testing::append_records(log, "b", b, 1).status == AppendStatus::unknown);
        CHECK(log.head("a").value().seq >= before);
        CHECK(engine::testing::chained_up_to(log, "a", before));
    }
    const auto again = log.own("a").value();
    CHECK(engine::testing::append_records(log, "a", again, 5).status == AppendStatus::committed);
    CHECK(engine::testing::chained_up_to(log, "a", log.head("a")->seq));
    CHECK(engine::testing::append_records(log, "b", log.own("b").value(), 1).seq == 1);
}

TEST_CASE("records that were not synced are lost, which relaxed durability accepts") {
    std::mt19937_64 random(7);
    Machine machine;
    auto opened = engine::open_rocks_log_on(
        *machine.env, machine.folder.path() / "log", {.durability = engine::Durability::relaxed}
    );
    REQUIRE(opened);
    machine.log = std::move(*opened);
    const auto epoch = machine.log->own("m").value();
    for (int i = 0; i < 20; ++i) {
        const auto outcome = engine::testing::append_records(*machine.log, "m", epoch, 50);
        CHECK(outcome.status == AppendStatus::committed);
    }
    machine.disk->lose_power_in(0);
    machine.log.reset();
    machine.disk->restart(random);
    REQUIRE(machine.start());
    const Seq left = machine.log->head("m").value().seq;
    CHECK(left < 1000);
    CHECK(engine::testing::chained_up_to(*machine.log, "m", left));
    CHECK(machine.log->own("m"));
}
