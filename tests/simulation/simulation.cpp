#include "tests/simulation/simulation.hpp"

#include "base/files.hpp"
#include "nets/net.hpp"
#include "tests/simulation/executor.hpp"
#include "tests/simulation/nets.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <vector>

namespace simulation {

using base::ErrorCode;
using base::Result;
using base::Seq;
using engine::Asker;
using engine::Model;

namespace {

constexpr base::Duration chaos_length = base::seconds(40);
constexpr base::Duration quiet_length = base::seconds(120);

/// A client's request, repeated under its key until it is answered.
struct Request {
    std::string model;
    std::string key;
    Master::Decide decide;
    bool over = false;
    std::optional<Seq> acknowledged;
};

class Simulation {
public:
    Simulation(std::uint64_t seed, Defect defect);
    Report run();

private:
    void deploy();
    void plan();
    void plan_faults();
    void ask(const std::string& model, Master::Decide decide);
    void try_now(const std::shared_ptr<Request>& request);
    void start_or_put();
    void cancel_something();
    void abandon_uncertain();
    void work();
    void work_on(const std::string& name, const engine::Operation& packet);
    void restart_soon();
    void check_step() const;
    void check_end();
    void check_acknowledged() const;

    World world_;
    std::optional<base::TemporaryFolder> folder_;
    std::optional<engine::SnapshotStore> snapshots_;
    Disk disk_;
    Ledger ledger_{disk_.logs};
    Master master_;
    std::vector<std::unique_ptr<Executor>> executors_;
    std::vector<std::string> models_;
    std::vector<std::shared_ptr<Request>> requests_;
    Report report_;
};

Simulation::Simulation(std::uint64_t seed, Defect defect)
    : world_(seed), master_(world_, disk_, defect) {
    // Snapshots cost real synced files: in some worlds only.
    if (world_.random.chance(60)) {
        folder_.emplace("simulation");
        snapshots_.emplace(folder_->path());
        disk_.snapshots = &*snapshots_;
    }
    models_ = {"m"};
    if (world_.random.chance(300)) models_.emplace_back("n");
    const auto executors = 1 + world_.random.below(3);
    for (std::uint64_t i = 0; i < executors; ++i) {
        const auto slots = static_cast<std::int64_t>(1 + world_.random.below(3));
        executors_.push_back(
            std::make_unique<Executor>(world_, master_, ledger_, fmt::format("e{}", i), slots)
        );
    }
}

std::shared_ptr<const nets::Net> compiled(const Scene& scene) {
    auto net = nets::compile(base::parse_json(scene.document).value());
    std::string faults;
    if (!net) {
        for (const auto& detail : net.error().details)
            faults += detail.pointer + ": " + detail.message + "; ";
    }
    require(net.has_value(), fmt::format("net {}: {}", scene.net, faults));
    return std::make_shared<const nets::Net>(std::move(*net));
}

void Simulation::deploy() {
    world_.faults = false;
    master_.start();
    for (const auto& model : models_) {
        for (const auto& scene : scenes) {
            ask(model, [&scene](Model& open, const Asker& asker) -> Result<Seq> {
                auto deployed = engine::deploy(open, compiled(scene), {}, asker);
                if (!deployed) return base::fail(deployed.error());
                return deployed->seq;
            });
        }
    }
    for (auto& executor : executors_)
        executor->start();
    world_.run(base::seconds(1), [] {});
    world_.faults = true;
}

void Simulation::ask(const std::string& model, Master::Decide decide) {
    auto request =
        std::make_shared<Request>(model, fmt::format("r{}", requests_.size()), std::move(decide));
    requests_.push_back(request);
    try_now(request);
}

void Simulation::try_now(const std::shared_ptr<Request>& request) {
    if (request->over) return;
    world_.after(base::seconds(5), [this, request] { try_now(request); });
    const auto travel = world_.random.around(base::milliseconds(1), base::seconds(1));
    world_.after(travel, [this, request] {
        if (!master_.up() || world_.fault(30)) return;
        Asker asker{.actor = "client", .request_key = request->key};
        asker.request_digest = base::sha256(request->key);
        master_.write(request->model, asker, request->decide, [this, request](Result<Seq> answer) {
            if (request->over || world_.fault(50)) return;
            const auto again = [](ErrorCode code) {
                return code == ErrorCode::internal || code == ErrorCode::fenced ||
                       code == ErrorCode::overloaded;
            };
            if (!answer && again(answer.error().code)) return;
            request->over = true;
            if (answer) request->acknowledged = *answer;
        });
    });
}

void Simulation::start_or_put() {
    const Scene& scene = scenes[world_.random.below(scenes.size())];
    const auto& model = models_[world_.random.below(models_.size())];
    const auto input = fmt::format(R"({{"v":{}}})", world_.random.below(12));
    if (scene.put_into == nullptr) {
        ++report_.cases;
        return ask(model, [&scene, input](Model& open, const Asker& asker) {
            return engine::start_case(open, scene.net, input, asker);
        });
    }
    ask(model, [&scene, input](Model& open, const Asker& asker) {
        return engine::put_tokens(
            open, {scene.net, scene.put_into}, {{input, {}}, {input, {}}}, asker
        );
    });
}

void Simulation::cancel_something() {
    const auto& name = models_[world_.random.below(models_.size())];
    const Model* model = master_.up() ? master_.model(name) : nullptr;
    if (model == nullptr) return;
    std::vector<base::CaseId> running;
    for (const auto& [id, found] : model->state().cases) {
        if (found.state == engine::CaseState::running) running.push_back(id);
    }
    if (running.empty()) return;
    std::ranges::sort(running);
    const auto id = running[world_.random.below(running.size())];
    ask(name,
        [id](Model& open, const Asker& asker) { return engine::cancel_case(open, id, asker); });
}

void Simulation::abandon_uncertain() {
    for (const auto& name : models_) {
        const Model* model = master_.up() ? master_.model(name) : nullptr;
        if (model == nullptr) continue;
        std::vector<base::OperationId> uncertain;
        for (const auto& [id, operation] : model->state().operations) {
            if (operation.state == engine::OperationState::uncertain) uncertain.push_back(id);
        }
        std::ranges::sort(uncertain);
        for (const auto id : uncertain) {
            ask(name, [id](Model& open, const Asker& asker) -> Result<Seq> {
                const auto* known = open.state().find_operation(id);
                if (known == nullptr || known->state != engine::OperationState::uncertain)
                    return base::fail(ErrorCode::conflict, "not uncertain any more");
                return engine::abandon(open, id, "nobody knows", asker);
            });
        }
    }
}

// Agents come by for ever: they claim packets, forget some, and finish or fail the others.
void Simulation::work() {
    world_.after(world_.random.around(base::milliseconds(300), base::seconds(4)), [this] {
        work();
    });
    const auto& name = models_[world_.random.below(models_.size())];
    const Model* model = master_.up() ? master_.model(name) : nullptr;
    if (model == nullptr) return;
    const engine::Operation* oldest = nullptr;
    for (const auto& [id, operation] : model->state().operations) {
        if (engine::performer(operation.rules()) != engine::Performer::agent) continue;
        if (operation.state != engine::OperationState::invoking) continue;
        if (oldest == nullptr || id < oldest->id) oldest = &operation;
    }
    if (oldest != nullptr) work_on(name, *oldest);
}

void Simulation::work_on(const std::string& name, const engine::Operation& packet) {
    const engine::WorkHold hold{packet.id, packet.claim};
    if (engine::work_available(packet)) {
        return ask(name, [id = packet.id](Model& open, const Asker& asker) -> Result<Seq> {
            const auto made = engine::claim_work(
                open, {.agent = "a", .operation = id, .length = base::seconds(3)}, asker
            );
            if (!made) return base::fail(made.error());
            return open.state().seq;
        });
    }
    const auto chance = world_.random.below(10);
    if (chance < 2) return;  // the agent is gone; its claim runs out
    if (chance < 4) {
        return ask(name, [hold](Model& open, const Asker& asker) {
            return engine::extend_work(open, hold, {.length = base::seconds(3)}, asker);
        });
    }
    ask(name, [hold, fails = chance < 6](Model& open, const Asker& asker) {
        engine::WorkResult result{.result = "1"};
        if (fails) result.error = base::Error{ErrorCode::upstream, "no idea", {}, {}};
        return engine::finish_work(open, hold, std::move(result), asker);
    });
}

void Simulation::restart_soon() {
    world_.after(world_.random.around(base::milliseconds(500), base::seconds(9)), [this] {
        if (!master_.up()) master_.start();
    });
}

void Simulation::plan() {
    const auto requests = 5 + world_.random.below(25);
    for (std::uint64_t i = 0; i < requests; ++i) {
        world_.after(world_.random.between({0}, chaos_length), [this] {
            if (world_.random.chance(850)) return start_or_put();
            world_.random.chance(500) ? cancel_something() : abandon_uncertain();
        });
    }
}

void Simulation::plan_faults() {
    const auto somewhen = [&] { return world_.random.between({0}, chaos_length); };
    // By seconds, or by more than a world lasts.
    const auto steps = world_.random.below(4);
    for (std::uint64_t i = 0; i < steps; ++i) {
        const auto most = base::seconds(world_.random.chance(500) ? 20 : 86'400);
        const auto by = world_.random.between(base::Duration{-most.us}, most);
        world_.after(somewhen(), [this, by] { world_.set_wall(by); });
    }
    const auto crashes = world_.random.below(5);
    for (std::uint64_t i = 0; i < crashes; ++i) {
        const bool in_append = world_.random.chance(500);
        world_.after(somewhen(), [this, in_append] {
            ++report_.crashes;
            master_.crash(in_append);
        });
    }
    for (auto& executor : executors_) {
        const auto troubles = world_.random.below(4);
        for (std::uint64_t i = 0; i < troubles; ++i) {
            const bool stops = world_.random.chance(400);
            const auto length = world_.random.around(base::milliseconds(800), base::seconds(12));
            auto* trouble = executor.get();
            world_.after(somewhen(), [this, trouble, stops, length] {
                ++report_.crashes;
                stops ? trouble->pause() : trouble->crash();
                world_.after(length, [trouble] {
                    trouble->resume();
                    trouble->start();
                });
            });
        }
    }
}

// Cheap; the records were looked at when they became durable.
void Simulation::check_step() const {
    if (world_.steps() % 64 != 0 || !master_.up()) return;
    check_acknowledged();
}

void Simulation::check_acknowledged() const {
    for (const auto& request : requests_) {
        if (!request->acknowledged) continue;
        const auto log = disk_.logs.find(request->model);
        require(
            log != disk_.logs.end() && log->second.last() >= *request->acknowledged,
            fmt::format("{} was acknowledged and is missing", request->key)
        );
        const auto key = log->second.keys().find(request->key);
        require(
            key != log->second.keys().end() && key->second <= *request->acknowledged,
            fmt::format("{} was acknowledged and has no record", request->key)
        );
    }
}

void Simulation::check_end() {
    require(master_.up(), "the master is down");
    check_acknowledged();
    const auto& board = master_.board();
    require(board.waiting() == 0, "a job still waits for an executor");
    require(board.leased() == 0, "a lease is still held");
    for (const auto& executor : executors_)
        require(executor->idle(), fmt::format("{} is still busy", executor->id()));
    for (const auto& name : models_) {
        const Model* model = master_.model(name);
        require(model != nullptr, "a model is not open");
        master_.check_fold(name);
        require(model->claims().empty(), "a claim is left over");
        for (const auto& [id, operation] : model->state().operations) {
            require(
                false,
                fmt::format("{} of {} is left {}", text(id), name, engine::name(operation.state))
            );
        }
        for (const auto& [id, found] : model->state().cases) {
            require(
                found.state != engine::CaseState::running,
                fmt::format(
                    "case {} of {} ({}) never ends", text(id), name, found.deployment->net->name
                )
            );
        }
    }
}

Report Simulation::run() {
    const auto checked = [this] { check_step(); };
    deploy();
    plan();
    plan_faults();
    work();
    // The master comes back whenever it is down.
    for (auto at = base::seconds(1); at < chaos_length; at = at + base::seconds(1)) {
        world_.after(at, [this] {
            if (!master_.up()) restart_soon();
        });
    }
    world_.run(world_.elapsed() + chaos_length, checked);
    world_.faults = false;
    for (auto& executor : executors_) {
        executor->resume();
        executor->start();
    }
    restart_soon();
    for (int i = 0; i < 4; ++i) {
        world_.run(world_.elapsed() + quiet_length, checked);
        abandon_uncertain();
    }
    world_.run(world_.elapsed() + quiet_length, checked);
    check_end();
    report_.steps = world_.steps();
    report_.effects = ledger_.effects();
    return report_;
}

}  // namespace

Report simulate(std::uint64_t seed, Defect defect) {
    return Simulation(seed, defect).run();
}

}  // namespace simulation
