#include "tests/simulation/master.hpp"

#include "engine/open_model.hpp"
#include "engine/snapshot.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace simulation {

using base::ErrorCode;
using base::fail;
using base::Result;
using engine::Asker;
using engine::Model;

Master::Master(World& world, Disk& disk, Defect defect)
    : world_(world), disk_(disk), defect_(defect) {}
Master::~Master() = default;

// Something that a thread of this process will do, if the process still lives then.
void Master::soon(base::Duration usual, std::move_only_function<void()> what) {
    const auto delay = world_.random.around(usual, {usual.us * 20 + 1});
    world_.after(delay, [this, life = life_, what = std::move(what)]() mutable {
        if (up_ && life == life_) what();
    });
}

void Master::start() {
    ++life_;
    up_ = true;
    crash_in_append_ = false;
    commit_scheduled_ = false;
    world_.trace(fmt::format("master {} starts", life_));
    committer_ = std::make_unique<engine::Committer>(disk_.log);
    board_ = std::make_unique<transitions::JobBoard>(transitions::BoardOptions{
        .master = fmt::format("m{}", life_), .lease_key = "kept", .lease = lease_length
    });
    board_->expect(disk_.executors);
    read_new_records();
    for (const auto& name : disk_.log.models().value()) {
        Lane& opened = lane(name);
        const auto model = open(opened);
        require(model.has_value(), model ? "" : "cannot open: " + model.error().message);
        check_fold(name);
        schedule(opened);
    }
    tick();
}

void Master::crash(bool in_append) {
    if (!up_) return;
    if (in_append) {
        crash_in_append_ = true;
        return;
    }
    for (const auto& [name, lane] : lanes_)
        check_fold(name);
    world_.trace("master crashes");
    up_ = false;
    lanes_.clear();
    committer_.reset();
    board_.reset();
    open_.clear();
    disk_.log.lose_power(world_.random.below(disk_.log.unsynced() + 1));
}

Master::Lane& Master::lane(const std::string& name) {
    auto& made = lanes_[name];
    if (!made) {
        made = std::make_unique<Lane>(world_);
        made->name = name;
    }
    return *made;
}

void Master::post(const std::string& model, Job job) {
    Lane& target = lane(model);
    target.jobs.push_back(std::move(job));
    schedule(target);
}

void Master::schedule(Lane& lane) {
    if (std::exchange(lane.scheduled, true)) return;
    soon({200}, [this, &lane] { run(lane); });
}

void Master::run(Lane& lane) {
    lane.scheduled = false;
    if (const auto failure = std::exchange(lane.failure, std::nullopt)) give_up(lane, *failure);
    run_jobs(lane);
    if (lane.model) {
        const auto firings = static_cast<std::size_t>(1 + world_.random.below(6));
        tell_time(lane);
        lane.more = lane.model->pump(time_of(lane), firings) == firings;
        collect_effects(lane);
        submit(lane);
    }
    finish_durable(lane);
    if (lane.model) {
        set_timer(lane);
        snapshot(lane);
    }
    if (!lane.jobs.empty() || lane.more) schedule(lane);
}

void Master::run_jobs(Lane& lane) {
    const auto jobs = 1 + world_.random.below(4);
    for (std::uint64_t i = 0; i < jobs && !lane.jobs.empty(); ++i) {
        Job job = std::move(lane.jobs.front());
        lane.jobs.pop_front();
        auto opened = open(lane);
        if (opened) tell_time(lane);
        auto completion = job(std::move(opened));
        lane.waiting.emplace_back(lane.model ? lane.model->state().seq : 0, std::move(completion));
        if (lane.model) collect_effects(lane);
    }
}

Result<Model*> Master::open(Lane& lane) {
    if (lane.model) return lane.model.get();
    const auto opened = committer_->open(lane.name);
    if (!opened) return fail(opened.error());
    read_new_records();
    engine::SnapshotStore none("/nonexistent");
    auto& snapshots = disk_.snapshots != nullptr ? *disk_.snapshots : none;
    auto folded = engine::fold(disk_.log, snapshots, lane.name, opened->head.seq);
    if (!folded) return fail(std::move(folded.error()));
    lane.model = std::move(*folded);
    lane.commit_lane = opened->lane;
    lane.durable = opened->head.seq;
    lane.model->take_over(opened->epoch);
    board_->forget(lane.name);
    recover(lane);
    lane.time.begin(lane.model->state().ts);
    lane.model->follow_wall(lane.time.wall_ahead());
    lane.model->go_live(lane.time.now());
    return lane.model.get();
}

base::Timestamp Master::time_of(const Lane& lane) const {
    return defect_ == Defect::lengths_by_wall_clock ? world_.now() : lane.time.now();
}

void Master::tell_time(Lane& lane) {
    lane.model->come_to(time_of(lane));
    const auto ahead = lane.time.wall_ahead();
    if (ahead != lane.model->wall_ahead()) lane.model->follow_wall(ahead);
}

void Master::submit(Lane& lane) {
    if (!lane.model->has_records()) return;
    const auto taken = committer_->submit(
        lane.commit_lane,
        lane.model->take_records(),
        [this, &lane](Result<engine::Seq> durable) {
            if (durable) {
                lane.durable = *durable;
            } else {
                lane.failure = durable.error();
            }
            schedule(lane);
        }
    );
    if (!taken) return give_up(lane, taken.error());
    if (std::exchange(commit_scheduled_, true)) return;
    soon(base::milliseconds(2), [this] { commit(); });
}

void Master::commit() {
    using Failure = engine::MemoryLog::Failure;
    commit_scheduled_ = false;
    crash_in_append_ = crash_in_append_ && world_.faults;
    if (crash_in_append_) {
        constexpr std::array kinds = {Failure::lost, Failure::kept, Failure::torn};
        disk_.log.fail_append(1, kinds[world_.random.below(kinds.size())]);
    } else if (world_.fault(3)) {
        world_.trace("an append fails");
        disk_.log.fail_append(1, world_.random.chance(500) ? Failure::lost : Failure::kept);
    }
    while (committer_->step()) {
    }
    if (crash_in_append_) return crash(false);
    read_new_records();
}

void Master::read_new_records() {
    for (const auto& name : disk_.log.models().value()) {
        auto& checker = disk_.logs[name];
        const auto head = disk_.log.head(name).value().seq;
        require(head >= checker.last(), "records that were durable are gone");
        while (checker.last() < head) {
            const auto page = disk_.log.read(name, checker.last() + 1, {});
            require(page && !page->records.empty(), "a record cannot be read");
            for (const auto& record : page->records) {
                if (world_.tracing())
                    world_.trace(fmt::format("  {} {}", name, record.bytes.substr(0, 600)));
                checker.record(record.seq, record.bytes);
            }
        }
    }
}

void Master::collect_effects(Lane& lane) {
    const auto seq = lane.model->state().seq;
    for (auto& effect : lane.model->take_effects()) {
        const bool at_once = std::holds_alternative<engine::Prepare>(effect) ||
                             defect_ == Defect::effects_before_durable;
        if (at_once) {
            hand_out(lane, effect);
        } else {
            lane.effects.emplace_back(seq, std::move(effect));
        }
    }
}

void Master::finish_durable(Lane& lane) {
    while (lane.model && !lane.effects.empty() && lane.effects.front().first <= lane.durable) {
        auto effect = std::move(lane.effects.front().second);
        lane.effects.pop_front();
        hand_out(lane, effect);
    }
    while (!lane.waiting.empty() && lane.waiting.front().first <= lane.durable) {
        auto completion = std::move(lane.waiting.front().second);
        lane.waiting.pop_front();
        completion({});
    }
}

void Master::give_up(Lane& lane, const base::Error& error) {
    world_.trace(fmt::format("model {} is given up: {}", lane.name, error.message));
    if (lane.model) committer_->close(lane.commit_lane);
    lane.model.reset();
    lane.effects.clear();
    lane.more = false;
    lane.timer.reset();
    for (auto& [seq, completion] : std::exchange(lane.waiting, {}))
        completion(fail(error));
    // Somebody looks at the model again.
    post(lane.name, [](Result<Model*>) -> Completion { return [](Result<void>) {}; });
}

void Master::set_timer(Lane& lane) {
    const auto due = lane.model->next_due();
    if (!due) return;
    const auto now = time_of(lane);
    const auto wake = std::clamp(*due, now, now + base::seconds(1));
    if (lane.timer && *lane.timer <= wake && *lane.timer > now) return;
    lane.timer = wake;
    world_.after(wake - now, [this, &lane, life = life_] {
        if (up_ && life == life_) schedule(lane);
    });
}

void Master::snapshot(Lane& lane) {
    if (disk_.snapshots == nullptr || !world_.random.chance(15)) return;
    const auto head = committer_->durable(lane.commit_lane);
    if (head.seq != lane.model->state().seq || head.seq == 0) return;
    const engine::FrozenState frozen(lane.model->state());
    const auto written = engine::write_snapshot(*disk_.snapshots, frozen, lane.name, head);
    require(written.has_value(), "a snapshot cannot be written");
}

void Master::write(const std::string& model, Asker asker, Decide decide, Done done) {
    post(
        model,
        [asker = std::move(asker),
         decide = std::move(decide),
         done = std::move(done)](Result<Model*> opened) mutable -> Completion {
            auto answer = [&]() -> Result<engine::Seq> {
                if (!opened) return fail(opened.error());
                asker.now = (*opened)->now();
                auto before = engine::answered(**opened, asker);
                if (!before) return fail(before.error());
                if (*before) return **before;
                return decide(**opened, asker);
            }();
            return [answer = std::move(answer), done = std::move(done)](Result<void> durable) {
                done(durable ? answer : fail(durable.error()));
            };
        }
    );
}

const Model* Master::model(const std::string& name) const {
    const auto found = lanes_.find(name);
    return found == lanes_.end() ? nullptr : found->second->model.get();
}

void Master::check_fold(const std::string& name) const {
    const Model* open = model(name);
    const auto head = disk_.log.head(name).value().seq;
    if (open == nullptr || open->state().seq != head || disk_.logs.at(name).last() != head) return;
    engine::SnapshotStore none("/nonexistent");
    const auto hash = engine::state_hash(open->state());
    const auto folded = engine::fold(disk_.log, none, name, head);
    require(folded.has_value(), folded ? "" : folded.error().message);
    require(engine::state_hash((*folded)->state()) == hash, "fold(log) is not what memory is");
    if (disk_.snapshots != nullptr) {
        const auto tail = engine::fold(disk_.log, *disk_.snapshots, name, head);
        require(tail.has_value(), tail ? "" : tail.error().message);
        require(engine::state_hash((*tail)->state()) == hash, "fold(snapshot + tail) differs");
    }
    std::set<base::TokenId> present;
    open->state().store.for_each([&](const places::Token& token) { present.insert(token.id); });
    require(present == disk_.logs.at(name).tokens(), "produced is not consumed and present");
}

}  // namespace simulation
