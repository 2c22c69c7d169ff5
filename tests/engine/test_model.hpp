#pragma once

#include "base/files.hpp"
#include "engine/decide.hpp"
#include "engine/memory_log.hpp"
#include "engine/model.hpp"
#include "engine/snapshot.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

/// A model in a test, with a clock turned by hand; its records are kept as rendered.
struct TestModel {
    engine::Model model{"m"};
    base::Timestamp now{1'000'000'000};
    std::vector<std::string> records;
    std::vector<engine::IndexedCase> cases;  ///< that left memory

    TestModel() {
        model.take_over(1);
        model.go_live(now);
    }
    engine::Asker asker(std::string actor = "test") {
        return {.actor = std::move(actor), .now = now};
    }

    base::Result<engine::Deployed> try_deploy(std::string_view document) {
        auto net = nets::compile(*base::parse_json(document));
        if (!net) {
            std::string faults;
            for (const auto& detail : net.error().details)
                faults += detail.pointer + ": " + detail.message + "\n";
            FAIL(net.error().message, "\n", faults);
        }
        return engine::deploy(
            model, std::make_shared<const nets::Net>(std::move(*net)), {}, asker()
        );
    }
    void deploy(std::string_view document) {
        const auto deployed = try_deploy(document);
        REQUIRE_MESSAGE(deployed, (deployed ? "" : deployed.error().message));
    }
    base::CaseId start(std::string_view net, std::string_view input = "{}") {
        const auto seq =
            engine::start_case(model, net, base::canonical(*base::parse_json(input)), asker());
        REQUIRE_MESSAGE(seq, (seq ? "" : seq.error().message));
        return {*seq};
    }
    base::Seq put(
        std::string_view net,
        std::string_view place,
        std::string_view data,
        base::CaseId case_id = {}
    ) {
        const auto seq = engine::put_tokens(
            model,
            {std::string(net), std::string(place)},
            {{base::canonical(*base::parse_json(data)), case_id}},
            asker()
        );
        REQUIRE_MESSAGE(seq, (seq ? "" : seq.error().message));
        return *seq;
    }
    /// Fires until nothing more can; returns the number of firings.
    std::size_t run() {
        std::size_t total = 0;
        for (std::size_t fired = 1; fired != 0 || model.scheduler().searching();) {
            fired = model.pump(now, 1000);
            total += fired;
        }
        keep();
        return total;
    }
    void keep() {
        auto batch = model.take_records();
        std::size_t at = 0;
        for (const auto& record : batch.records) {
            records.push_back(batch.bytes.substr(at, record.size));
            at += record.size;
        }
        std::ranges::move(batch.cases, std::back_inserter(cases));
    }
    /// The data of the tokens of a place, in order.
    std::vector<std::string> in(std::string_view net, std::string_view place) const {
        std::vector<std::string> data;
        const auto id = model.state().place({std::string(net), std::string(place)});
        if (!id) return data;
        const auto& store = model.state().store;
        for (auto slot = store.first_in(*id); slot != places::no_slot;
             slot = store.next_in_place(slot)) {
            data.emplace_back(store.token(slot).data.view());
        }
        return data;
    }
    template <class Wanted>
    std::vector<Wanted> effects() {
        std::vector<Wanted> wanted;
        for (auto& effect : model.take_effects()) {
            if (auto* found = std::get_if<Wanted>(&effect)) wanted.push_back(std::move(*found));
        }
        return wanted;
    }
    engine::CaseState case_state(base::CaseId id) const {
        return model.state().find_case(id)->state;
    }

    /// fold(log) = memory, byte for byte.
    void check_fold() {
        keep();
        engine::Model folded("m");
        for (const auto& record : records) {
            const auto done = folded.replay(record);
            REQUIRE_MESSAGE(done, (done ? "" : done.error().message + " in " + record));
        }
        CHECK(lines(folded.state()) == lines(model.state()));
    }
    /// A snapshot read back = memory, byte for byte.
    void check_snapshot() {
        const base::TemporaryFolder folder;
        engine::SnapshotStore snapshots{folder.path()};
        const engine::LogHead head{model.state().seq, {}};
        const engine::FrozenState frozen(model.state());
        const auto written = engine::write_snapshot(snapshots, frozen, "m", head);
        REQUIRE_MESSAGE(written, (written ? "" : written.error().message));
        auto reader = snapshots.newest_at_or_before("m", head.seq);
        REQUIRE(reader);
        REQUIRE(reader->has_value());
        engine::Model restored("m");
        REQUIRE(restored.restore(**reader));
        CHECK(lines(restored.state()) == lines(model.state()));
    }
    static std::vector<std::string> lines(const engine::State& state) {
        std::vector<std::string> all;
        engine::FrozenState(state).write([&](std::string_view line) {
            all.emplace_back(line);
            return true;
        });
        return all;
    }
};

/// The model as another life of the master finds it.
struct Reopened {
    engine::Model model{"m"};
    base::Timestamp now;
    explicit Reopened(TestModel& test) : now(test.now) {
        test.keep();
        for (const auto& record : test.records)
            REQUIRE(model.replay(record));
        model.take_over(2);
        model.go_live(now);
    }
};
