#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/worker_pool.hpp"
#include "engine/committer.hpp"
#include "engine/decide.hpp"
#include "engine/handler.hpp"
#include "engine/lane.hpp"
#include "engine/log.hpp"
#include "engine/snapshot_store.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace engine {

/// All models of one log, alive: each on a strand of its own over a few threads, one committer for
/// all, timers. Thread-safe. Every callback runs on a strand or on the committer's thread: it must
/// not block.
class Engine {
public:
    struct Parts {
        EventLog& log;
        SnapshotStore& snapshots;
        TransitionHandler& handler;
        const base::Clock& clock;
        std::size_t threads = 2;
        /// A snapshot is due when the log since the last one exceeds its size and this.
        std::size_t snapshot_bytes_min = std::size_t{64} << 20U;
    };
    explicit Engine(const Parts& parts);
    /// Stops: see `stop`.
    ~Engine();
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;

    /// Opens every model of the log, so that timers run and operations under way are recovered. An
    /// error names each model that could not be opened; the others are open.
    base::Result<void> open_all();

    /// Runs `decide` on the model's strand; then, once all that it wrote and saw is durable,
    /// `done`. A model is made by its first record. Where the request's key is known, `decide` is
    /// not run and `again` (given the seq of the record that answered) is.
    template <class T>
    void write(
        std::string_view model,
        Asker asker,
        std::move_only_function<base::Result<T>(Model&, const Asker&)> decide,
        std::move_only_function<base::Result<T>(const Model&, Seq)> again,
        std::move_only_function<void(base::Result<T>)> done
    );
    /// Looks at a model; answers once what was seen is durable. not_found for a model that does not
    /// exist.
    template <class T>
    void read(
        std::string_view model,
        std::move_only_function<base::Result<T>(const Model&)> look,
        std::move_only_function<void(base::Result<T>)> done
    );

    /// How an attempt ended. `done` (may be empty) is told once that is durable.
    void settle(
        std::string_view model,
        Outcome outcome,
        std::string actor,
        std::move_only_function<void(base::Result<Settled>)> done
    );
    /// A lease began or ended; nobody waits for the record.
    void lease_granted(std::string_view model, LeaseGrant grant);
    void lease_ended(std::string_view model, LeaseGrant grant, std::string reason);

    /// Calls once when the case is over and that is durable, or at once when it is already (or is
    /// unknown). Forgotten after `at_most`, and when the engine stops.
    void when_over(
        std::string_view model,
        base::CaseId case_id,
        base::Duration at_most,
        std::move_only_function<void()> call
    );
    /// Calls once when the model's log durably goes beyond `seq`, at once when it does.
    void when_beyond(
        std::string_view model,
        Seq seq,
        base::Duration at_most,
        std::move_only_function<void()> call
    );
    /// The last durable record; seq 0 for a model without records.
    [[nodiscard]] Seq durable(std::string_view model) const;

    /// The model as it was after record `seq`, folded from the nearest snapshot; off the strands,
    /// may take long. not_found beyond the log's end.
    using Past = std::shared_ptr<const Model>;  // shared: a few are kept for the next who asks
    void as_of(
        std::string_view model, Seq seq, std::move_only_function<void(base::Result<Past>)> done
    );

    [[nodiscard]] EventLog& log() { return parts_.log; }
    [[nodiscard]] base::Timestamp now() const { return parts_.clock.now(); }
    [[nodiscard]] Committer::Totals committed() const;

    /// Writes a snapshot of every model that is worth one, commits what is queued, ends the
    /// threads.
    void stop();

private:
    struct Shared;

    using Kind = ModelLane::Kind;
    std::shared_ptr<ModelLane> lane(std::string_view model, Kind kind);
    template <class T>
    void submit(
        std::string_view model,
        Kind kind,
        Asker asker,
        std::move_only_function<base::Result<T>(Model&, const Asker&)> decide,
        std::move_only_function<base::Result<T>(const Model&, Seq)> again,
        std::move_only_function<void(base::Result<T>)> done
    );
    void post(std::string_view model, Kind kind, LaneJob job);

    Parts parts_;
    std::unique_ptr<Shared> shared_;
};

template <class T>
void Engine::write(
    std::string_view model,
    Asker asker,
    std::move_only_function<base::Result<T>(Model&, const Asker&)> decide,
    std::move_only_function<base::Result<T>(const Model&, Seq)> again,
    std::move_only_function<void(base::Result<T>)> done
) {
    submit<T>(
        model, Kind::decide, std::move(asker), std::move(decide), std::move(again), std::move(done)
    );
}

template <class T>
void Engine::submit(
    std::string_view model,
    Kind kind,
    Asker asker,
    std::move_only_function<base::Result<T>(Model&, const Asker&)> decide,
    std::move_only_function<base::Result<T>(const Model&, Seq)> again,
    std::move_only_function<void(base::Result<T>)> done
) {
    asker.now = now();
    post(
        model,
        kind,
        [asker = std::move(asker),
         decide = std::move(decide),
         again = std::move(again),
         done = std::move(done)](base::Result<Model*> opened) mutable -> LaneCompletion {
            auto answer = [&]() -> base::Result<T> {
                if (!opened) return base::fail(std::move(opened.error()));
                auto before = answered(**opened, asker);
                if (!before) return base::fail(std::move(before.error()));
                if (*before) return again(**opened, **before);
                return decide(**opened, asker);
            }();
            return [answer = std::move(answer),
                    done = std::move(done)](base::Result<void> durable) mutable {
                done(durable ? std::move(answer) : base::fail(std::move(durable.error())));
            };
        }
    );
}

template <class T>
void Engine::read(
    std::string_view model,
    std::move_only_function<base::Result<T>(const Model&)> look,
    std::move_only_function<void(base::Result<T>)> done
) {
    post(
        model,
        Kind::look,
        [look = std::move(look),
         done = std::move(done)](base::Result<Model*> opened) mutable -> LaneCompletion {
            auto answer =
                opened ? look(**opened) : base::Result<T>(base::fail(std::move(opened.error())));
            return [answer = std::move(answer),
                    done = std::move(done)](base::Result<void> durable) mutable {
                done(durable ? std::move(answer) : base::fail(std::move(durable.error())));
            };
        }
    );
}

}  // namespace engine
