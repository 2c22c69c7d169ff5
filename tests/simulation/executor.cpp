#include "tests/simulation/executor.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace simulation {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

jobs::Outcome outcome_of(jobs::OutcomeClass outcome_class, ErrorCode code, std::string why) {
    jobs::Outcome outcome;
    outcome.outcome_class = outcome_class;
    outcome.error = jobs::OutcomeError{code, std::move(why)};
    return outcome;
}

jobs::Outcome done_of(const jobs::Job& job, std::uint64_t number) {
    jobs::Outcome outcome;
    outcome.exit_code = 0;
    outcome.duration_ms = static_cast<std::int64_t>(number);
    outcome.standard_output.text = job.args;
    outcome.standard_output.bytes_total = job.args.size();
    outcome.standard_output.bytes_kept = job.args.size();
    return outcome;
}

}  // namespace

Executor::Executor(World& world, Master& master, Ledger& ledger, std::string id, std::int64_t slots)
    : world_(world),
      master_(master),
      ledger_(ledger),
      id_(std::move(id)),
      slots_(slots),
      boot_(world.random.between({0}, base::seconds(1000))) {}

// Something in this process: not after its end, and not while it stands still.
void Executor::soon(base::Duration delay, std::move_only_function<void()> what) {
    world_.after(delay, [this, life = life_, what = std::move(what)]() mutable {
        if (!up_ || life != life_) return;
        if (paused_) {
            deferred_.push_back(std::move(what));
            return;
        }
        what();
        pump();
    });
}

void Executor::start() {
    if (up_) return;
    up_ = true;
    ++life_;
    world_.trace(fmt::format("executor {} starts", id_));
    executor::LeftOver left;
    for (const auto& [lease, kept] : journal_) {
        if (kept.outcome) {
            left.done.push_back({kept.ref, *kept.outcome});
        } else {
            left.lost.push_back(kept.ref);
        }
    }
    executor::AgentOptions options;
    options.session = life_;
    options.seed = world_.random.next();
    options.introduction.slots = slots_;
    options.introduction.capabilities.runtimes = {{"bash", "5"}};
    options.introduction.capabilities.sandbox = "bwrap";
    options.introduction.capabilities.networks = {"deny"};
    options.introduction.capabilities.cpus = 8;
    options.introduction.capabilities.memory_mb = 4096;
    agent_ = std::make_unique<executor::Agent>(std::move(options), std::move(left));
    wake_ = {};
    soon({100}, [] {});
}

void Executor::crash() {
    if (!up_) return;
    world_.trace(fmt::format("executor {} crashes", id_));
    up_ = false;
    paused_ = false;
    deferred_.clear();
    jobs_.clear();
    connections_.clear();
    // What was forgotten without a sync may be remembered again.
    for (auto& [lease, kept] : std::exchange(unsynced_forgotten_, {})) {
        if (world_.random.chance(500)) journal_.emplace(lease, std::move(kept));
    }
    while (!tickets_.empty())
        close(tickets_.begin()->first);
}

void Executor::close(std::uint64_t connection) {
    auto tickets = tickets_.extract(connection);
    if (tickets.empty()) return;
    world_.after(travel(), [this, tickets = std::move(tickets.mapped())] {
        if (!master_.up() || master_.life() != tickets.first) return;
        for (const auto ticket : tickets.second)
            master_.closed(ticket);
    });
}

void Executor::pause() {
    if (up_) paused_ = true;
}

void Executor::resume() {
    if (!std::exchange(paused_, false)) return;
    while (!deferred_.empty()) {
        // Its threads wake up in any order.
        auto at =
            deferred_.begin() + static_cast<std::ptrdiff_t>(world_.random.below(deferred_.size()));
        auto what = std::move(*at);
        deferred_.erase(at);
        what();
        pump();
    }
    pump();
}

void Executor::pump() {
    perform(agent_->tick(clock()));
    while (auto out = agent_->next_sync(clock()))
        send(std::move(*out));
    const auto at = std::max(agent_->wake_at(clock()), clock() + base::Duration{10});
    if (wake_ > clock() && wake_ <= at) return;
    wake_ = at;
    soon(at - clock(), [] {});
}

void Executor::perform(executor::Actions actions) {
    for (auto& action : actions) {
        if (auto* start_job = std::get_if<executor::StartJob>(&action)) {
            begin(std::move(start_job->lease));
        } else if (const auto* stop_job = std::get_if<executor::StopJob>(&action)) {
            const auto job = jobs_.find(stop_job->lease);
            if (job != jobs_.end()) stop(job->second, stop_job->order);
        } else {
            forget(std::get<executor::ForgetLease>(action).lease);
        }
    }
}

void Executor::begin(jobs::Lease lease) {
    const auto id = lease.id;
    jobs_.emplace(id, JobState{.lease = std::move(lease), .number = ++numbers_});
    soon(world_.random.around(base::milliseconds(2), base::seconds(3)), [this, id] { set_up(id); });
}

void Executor::set_up(const jobs::LeaseId& id) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end()) return;
    JobState& job = found->second;
    if (job.stopping) {
        return end(id, job.number, jobs::given_back("not started"));
    }
    if (world_.fault(50)) {
        const auto class_of = jobs::OutcomeClass::infra;
        return end(id, job.number, outcome_of(class_of, ErrorCode::sandbox_unavailable, "no room"));
    }
    if (job.lease.job.effect != jobs::Effect::pure) {
        journal_[id] = {job.lease.ref(), std::nullopt};
        journal_synced();
    }
    soon(world_.random.around(base::milliseconds(1), base::milliseconds(50)), [this, id] {
        const auto starting = jobs_.find(id);
        if (starting != jobs_.end()) run_process(starting->second);
    });
}

void Executor::run_process(JobState& job) {
    world_.trace(fmt::format("{} runs {}", id_, job.lease.id.text));
    job.process = true;
    ledger_.effect(id_, job.lease);
    const auto id = job.lease.id;
    auto outcome = done_of(job.lease.job, job.number);
    if (world_.fault(100)) {
        outcome = outcome_of(jobs::OutcomeClass::job, ErrorCode::exit_nonzero, "exit status 1");
        outcome.exit_code = 1;
    }
    const auto rare = world_.faults ? base::seconds(15) : base::seconds(2);
    soon(
        world_.random.around(base::milliseconds(150), rare),
        [this, id, number = job.number, outcome = std::move(outcome)]() mutable {
            end(id, number, std::move(outcome));
        }
    );
}

void Executor::stop(JobState& job, const executor::StopOrder& order) {
    if (std::exchange(job.stopping, true) || !job.process) return;
    const auto id = job.lease.id;
    soon(world_.random.between({0}, {order.grace.us + 1}), [this, id, number = job.number] {
        const auto class_of = jobs::OutcomeClass::interrupted;
        end(id, number, outcome_of(class_of, ErrorCode::uncertain, "stopped"));
    });
}

void Executor::end(const jobs::LeaseId& id, std::uint64_t number, jobs::Outcome outcome) {
    const auto found = jobs_.find(id);
    if (found == jobs_.end() || found->second.number != number || found->second.over) return;
    found->second.over = true;
    const auto kept = journal_.find(id);
    if (kept != journal_.end()) {
        kept->second.outcome = outcome;
        journal_synced();
    }
    soon(
        world_.random.around(base::milliseconds(1), base::milliseconds(200)),
        [this, id, outcome = std::move(outcome)]() mutable {
            jobs_.erase(id);
            agent_->finished(id, std::move(outcome));
        }
    );
}

void Executor::forget(const jobs::LeaseId& id) {
    auto node = journal_.extract(id);
    if (!node.empty()) unsynced_forgotten_.insert_or_assign(id, std::move(node.mapped()));
}

base::Duration Executor::travel() {
    const auto rare = world_.faults ? base::seconds(4) : base::milliseconds(20);
    return world_.random.around(base::milliseconds(1), rare);
}

// Each connection carries one sync at a time and belongs to one run of the master.
void Executor::send(executor::OutgoingSync out) {
    const auto connection = ++numbers_;
    const auto seq = out.request->seq;
    connections_[seq] = connection;
    soon(out.timeout, [this, connection, seq] {
        answered(connection, seq, fail(ErrorCode::timeout, "no answer in time"));
    });
    if (!master_.up()) {
        return soon(travel(), [this, connection, seq] {
            answered(connection, seq, fail(ErrorCode::overloaded, "connection refused"));
        });
    }
    const auto copies = world_.fault(30) ? 2 : 1;
    for (int copy = 0; copy < copies; ++copy) {
        if (world_.fault(30)) continue;
        world_.after(
            travel(),
            [this, life = life_, master = master_.life(), connection, request = out.request] {
                // Also when the process that sent it is dead.
                if (master_.up() && master_.life() == master) {
                    deliver(connection, *request);
                    if (!up_ || life != life_) close(connection);
                } else if (up_) {
                    soon(travel(), [this, connection, seq = request->seq] {
                        answered(connection, seq, fail(ErrorCode::overloaded, "reset"));
                    });
                }
            }
        );
    }
}

void Executor::deliver(std::uint64_t connection, const jobs::SyncRequest& request) {
    // The answer, once sent, arrives although its sender may be dead by then.
    const auto ticket = master_.sync(
        id_,
        request,
        [this, life = life_, connection, seq = request.seq](Result<jobs::SyncReply> reply) {
            if (!up_ || life != life_ || world_.fault(30)) return;
            soon(travel(), [this, connection, seq, reply = std::move(reply)]() mutable {
                answered(connection, seq, std::move(reply));
            });
        }
    );
    auto& tickets = tickets_[connection];
    tickets.first = master_.life();
    tickets.second.push_back(ticket);
}

void Executor::answered(
    std::uint64_t connection, std::uint64_t seq, Result<jobs::SyncReply> reply
) {
    const auto current = connections_.find(seq);
    if (current == connections_.end() || current->second != connection) return;
    connections_.erase(current);
    if (reply) {
        tickets_.erase(connection);
        return perform(agent_->replied(seq, std::move(*reply), clock()));
    }
    close(connection);
    require(reply.error().code != ErrorCode::fenced, "a session is fenced without a newer one");
    agent_->failed(seq, {reply.error(), std::nullopt}, clock());
}

}  // namespace simulation
