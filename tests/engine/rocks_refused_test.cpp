// A disk that refuses writes for a while and then takes them again.
#include "base/files.hpp"
#include "engine/audit.hpp"
#include "engine/rocks_store.hpp"
#include "tests/engine/log_records.hpp"
#include "tests/engine/rocks_losing_disk.hpp"

#include <doctest/doctest.h>
#include <rocksdb/env.h>

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>

using engine::AppendStatus;
using engine::Seq;
using engine::testing::append_records;
using Refusal = engine::testing::LosingDisk::Refusal;

namespace {

const std::array<std::string, 3> models{"a", "b", "c"};

struct Machine {
    std::shared_ptr<engine::testing::LosingDisk> disk =
        std::make_shared<engine::testing::LosingDisk>();
    std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(disk);
    base::TemporaryFolder folder;
    std::unique_ptr<engine::EventLog> log;
    std::map<std::string, Seq> acknowledged;

    void start() {
        log.reset();
        auto opened = engine::open_rocks_log_on(*env, folder.path() / "log", {});
        REQUIRE_MESSAGE(opened, (opened ? "" : opened.error().message));
        log = std::move(*opened);
    }

    /// Owns the model and appends; whether that was acknowledged.
    bool write(const std::string& model, std::mt19937_64& random) {
        const auto epoch = log->own(model);
        if (!epoch) {
            CHECK(epoch.error().code == base::ErrorCode::overloaded);
            return false;
        }
        const std::size_t text = random() % 4 == 0 ? 20'000 : 40;
        const auto outcome = append_records(*log, model, *epoch, 1 + random() % 40, text);
        if (outcome.status == AppendStatus::committed) acknowledged[model] = outcome.seq;
        return outcome.status == AppendStatus::committed;
    }

    /// Exactly what was acknowledged is there.
    void check() {
        for (const auto& model : models) {
            CAPTURE(model);
            CHECK(log->head(model).value().seq == acknowledged[model]);
            CHECK(engine::testing::chained_up_to(*log, model, acknowledged[model]));
            CHECK(engine::testing::all_records(*log, model).size() == acknowledged[model]);
        }
    }
};

}  // namespace

TEST_CASE("refused writes are not there, and the first write after the fault is taken") {
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        std::mt19937_64 random(seed);
        Machine machine;
        machine.start();
        for (int fault = 0; fault < 4; ++fault) {
            CAPTURE(fault);
            for (std::size_t i = random() % 5; i > 0; --i)
                REQUIRE(machine.write(models[random() % models.size()], random));
            const auto refusal = random() % 2 == 0 ? Refusal::writes : Refusal::syncs;
            machine.disk->refuse(refusal);
            for (std::size_t i = 1 + random() % 5; i > 0; --i) {
                CHECK_FALSE(machine.write(models[random() % models.size()], random));
                machine.check();
            }
            machine.disk->refuse(Refusal::none);
            if (random() % 2 == 0) REQUIRE(machine.write(models[random() % models.size()], random));
            machine.check();
            if (random() % 3 == 0) machine.start();
            machine.check();
        }
        machine.start();
        machine.check();
        const auto audit = engine::verify_all(*machine.log, [](std::string_view) {
                               return engine::AuditOptions{};
                           }).value();
        CHECK_MESSAGE(audit.ok(), engine::testing::told(audit));
    }
}

TEST_CASE("a fault that hits the reopening leaves the log readable, and the next write tries again"
) {
    std::mt19937_64 random(1);
    Machine machine;
    machine.start();
    REQUIRE(machine.write("a", random));
    machine.disk->refuse(Refusal::writes);
    for (int i = 0; i < 3; ++i) {
        CHECK_FALSE(machine.write("a", random));
        CHECK(machine.log->models().value() == std::vector<std::string>{"a"});
        CHECK_FALSE(machine.log->copy_to(machine.folder.path() / "copy"));
        std::filesystem::remove_all(machine.folder.path() / "copy");
        machine.check();
    }
    machine.disk->refuse(Refusal::none);
    CHECK(machine.write("a", random));
    machine.check();
}

TEST_CASE("reads succeed again without a write when a reopening had left nothing open") {
    std::mt19937_64 random(2);
    Machine machine;
    machine.start();
    REQUIRE(machine.write("a", random));
    machine.disk->refuse(Refusal::syncs);
    CHECK_FALSE(machine.write("a", random));
    // The power goes at each of the next operations in turn: in the probe, in the opening.
    for (std::uint64_t operation = 0; operation < 12; ++operation) {
        CAPTURE(operation);
        machine.disk->refuse(Refusal::none);
        machine.disk->lose_power_in(operation);
        const bool written = machine.log->own("a").has_value();
        machine.disk->heal();
        CHECK(machine.log->head("a").value().seq == machine.acknowledged["a"]);
        machine.check();
        if (written) break;
    }
    CHECK(machine.write("a", random));
    machine.check();
}
