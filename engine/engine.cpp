#include "engine/engine.hpp"

#include "base/guarded.hpp"
#include "base/log.hpp"
#include "engine/lane.hpp"
#include "engine/open_model.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <fmt/format.h>
#include <map>
#include <thread>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

/// What all lanes share. The timer thread only schedules lanes.
struct Engine::Shared {
    explicit Shared(const Parts& parts)
        : committer(parts.log),
          commit_thread(std::make_unique<CommitThread>(committer)),
          workers(std::make_unique<base::WorkerPool>(parts.threads)),
          background(std::make_unique<base::WorkerPool>(1)) {}

    Committer committer;
    std::unique_ptr<CommitThread> commit_thread;
    std::unique_ptr<base::WorkerPool> workers;     ///< run the strands
    std::unique_ptr<base::WorkerPool> background;  ///< snapshots and the past
    struct Lanes {
        std::map<std::string, std::shared_ptr<ModelLane>, std::less<>> by_name;
        bool stopping = false;
    };
    base::Guarded<Lanes> lanes;
    TimerThread timer;
    struct PastCache {
        std::deque<std::pair<std::pair<std::string, Seq>, Past>> kept;
    };
    base::Guarded<PastCache> past;
};

Engine::Engine(const Parts& parts) : parts_(parts), shared_(std::make_unique<Shared>(parts)) {}

Engine::~Engine() {
    stop();
}

std::shared_ptr<ModelLane> Engine::lane(std::string_view model, Kind kind) {
    auto found = shared_->lanes.with([&](Shared::Lanes& lanes) -> std::shared_ptr<ModelLane> {
        const auto entry = lanes.by_name.find(model);
        return entry == lanes.by_name.end() ? nullptr : entry->second;
    });
    if (found) return found;
    if (kind != Kind::decide) {
        const auto head = parts_.log.head(model);
        // When that cannot be read the lane says why.
        if (head && head->seq == 0) return nullptr;
    }
    return shared_->lanes.with([&](Shared::Lanes& lanes) -> std::shared_ptr<ModelLane> {
        if (lanes.stopping) return nullptr;
        auto& entry = lanes.by_name[std::string(model)];
        if (!entry) {
            entry = std::make_shared<ModelLane>(
                LaneParts{
                    parts_.log,
                    parts_.snapshots,
                    parts_.handler,
                    parts_.clock,
                    shared_->committer,
                    *shared_->workers,
                    *shared_->background,
                    shared_->timer,
                    parts_.snapshot_bytes_min,
                },
                std::string(model)
            );
        }
        return entry;
    });
}

void Engine::post(std::string_view model, Kind kind, LaneJob job) {
    if (!base::valid_name(model)) {
        auto completion = job(fail(
            ErrorCode::validation,
            fmt::format("'{}' is no name for a model", model.substr(0, 200)),
            "use letters, digits, '-' and '_', a letter first, at most 128"
        ));
        completion({});
        return;
    }
    const auto found = lane(model, kind);
    if (!found) {
        auto completion = job(fail(
            ErrorCode::not_found,
            fmt::format("model '{}' does not exist", model),
            "a first write makes it"
        ));
        completion({});
        return;
    }
    found->post(std::move(job), kind);
}

Result<void> Engine::open_all() {
    const auto names = parts_.log.models();
    if (!names) return fail(names.error());
    base::Guarded<std::vector<base::ErrorDetail>> faults;
    std::atomic<std::size_t> left = names->size();
    for (const auto& name : *names) {
        post(name, Kind::look, [&, name](Result<Model*> opened) -> LaneCompletion {
            if (!opened) {
                faults.with([&](auto& list) {
                    list.push_back({"/" + name, opened.error().code, opened.error().message});
                });
            }
            left.fetch_sub(1);
            left.notify_all();
            return [](Result<void>) {};
        });
    }
    for (auto now = left.load(); now != 0; now = left.load())
        left.wait(now);
    auto found = faults.with([](auto& list) { return std::move(list); });
    if (found.empty()) return {};
    return fail(base::Error{
        ErrorCode::tamper,
        fmt::format("{} models could not be opened", found.size()),
        "netwright audit verify --data DIR",
        std::move(found)
    });
}

void Engine::settle(
    std::string_view model,
    Outcome outcome,
    std::string actor,
    std::move_only_function<void(Result<Settled>)> done
) {
    submit<Settled>(
        model,
        Kind::follow,
        Asker{.actor = std::move(actor)},
        [outcome = std::move(outcome)](Model& open, const Asker& asker) mutable -> Result<Settled> {
            return engine::settle(open, std::move(outcome), asker);
        },
        {},
        [done = std::move(done)](Result<Settled> settled) mutable {
            if (done) done(std::move(settled));
        }
    );
}

void Engine::lease_granted(std::string_view model, LeaseGrant grant) {
    post(
        model,
        Kind::note,
        [this, grant = std::move(grant)](Result<Model*> opened) -> LaneCompletion {
            if (opened) engine::lease_granted(**opened, grant, Asker{.now = now()});
            return [](Result<void>) {};
        }
    );
}

void Engine::lease_ended(std::string_view model, LeaseGrant grant, std::string reason) {
    post(
        model,
        Kind::follow,
        [this, grant = std::move(grant), reason = std::move(reason)](Result<Model*> opened
        ) -> LaneCompletion {
            if (opened) engine::lease_ended(**opened, grant, reason, Asker{.now = now()});
            return [](Result<void>) {};
        }
    );
}

void Engine::when_over(
    std::string_view model,
    base::CaseId case_id,
    base::Duration at_most,
    std::move_only_function<void()> call
) {
    const auto found = lane(model, Kind::look);
    if (!found) return call();
    found->when_over(case_id, at_most, std::move(call));
}

void Engine::when_beyond(
    std::string_view model, Seq seq, base::Duration at_most, std::move_only_function<void()> call
) {
    const auto found = lane(model, Kind::look);
    if (!found) return call();
    found->when_beyond(seq, at_most, std::move(call));
}

Seq Engine::durable(std::string_view model) const {
    const auto found = shared_->lanes.with([&](Shared::Lanes& lanes) -> std::shared_ptr<ModelLane> {
        const auto entry = lanes.by_name.find(model);
        return entry == lanes.by_name.end() ? nullptr : entry->second;
    });
    if (found && found->durable() != 0) return found->durable();
    const auto head = parts_.log.head(model);
    return head ? head->seq : 0;
}

Committer::Totals Engine::committed() const {
    return shared_->committer.totals();
}

void Engine::as_of(
    std::string_view model, Seq seq, std::move_only_function<void(Result<Past>)> done
) {
    shared_->background->post([this, name = std::string(model), seq, done = std::move(done)](
                              ) mutable {
        constexpr std::size_t kept_max = 4;
        auto kept = shared_->past.with([&](Shared::PastCache& cache) -> Past {
            for (const auto& [key, past] : cache.kept) {
                if (key == std::pair{name, seq}) return past;
            }
            return nullptr;
        });
        if (kept) return done(std::move(kept));
        if (const auto head = parts_.log.head(name); !head) return done(fail(head.error()));
        if (seq == 0 || seq > durable(name)) {
            return done(fail(
                ErrorCode::not_found,
                fmt::format("model '{}' has no record {}; its last is {}", name, seq, durable(name))
            ));
        }
        auto folded = fold(parts_.log, parts_.snapshots, name, seq);
        if (!folded) return done(fail(std::move(folded.error())));
        Past past = std::move(*folded);
        shared_->past.with([&](Shared::PastCache& cache) {
            cache.kept.emplace_front(std::pair{name, seq}, past);
            if (cache.kept.size() > kept_max) cache.kept.pop_back();
        });
        done(std::move(past));
    });
}

void Engine::stop() {
    auto lanes = shared_->lanes.with([](Shared::Lanes& all) {
        all.stopping = true;
        return all.by_name;
    });
    shared_->timer.stop();
    for (const auto& [name, lane] : lanes)
        lane->stop();
    shared_->background.reset();
    // The committer writes what is queued, and its completions still find their strands.
    shared_->commit_thread.reset();
    shared_->workers.reset();
    shared_->lanes.with([](Shared::Lanes& all) { all.by_name.clear(); });
}

}  // namespace engine
