// Random nets: what the engine does under random schedules and crashes must be among what
// docs/semantics.md allows. A failure names its seed: NETWRIGHT_SEED=n runs that net alone,
// NETWRIGHT_SEMANTICS_NETS=n so many from 1 on.
#include "tests/engine/test_model.hpp"
#include "tests/semantics/interpreter.hpp"
#include "tests/semantics/random_net.hpp"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <fmt/format.h>
#include <memory>
#include <optional>

namespace {

using semantics::Dice;
using semantics::Interpreter;

constexpr std::uint64_t nets_by_default = 3'000;
constexpr int steps = 40;
constexpr int faults_told = 5;
constexpr std::size_t records_max = 80;  // of one net: some of them never rest

class Run {
public:
    explicit Run(std::uint64_t seed) : dice_(seed) {}

    /// "" or what went wrong.
    std::string go() {
        document_ = semantics::random_net(dice_);
        auto compiled = nets::compile(*base::parse_json(document_));
        if (!compiled) return {};  // such as a circle of weights: the next seed, then
        net_ = std::make_shared<const nets::Net>(std::move(*compiled));
        open();
        REQUIRE(engine::deploy(*model_, net_, {}, asker()));
        for (int step = 0; step < steps && fault_.empty() && log_.size() < records_max; ++step) {
            set_aside();
            act();
            keep();
        }
        if (fault_.empty() && log_.size() < records_max) rest();
        if (fault_.empty()) return {};
        if (std::getenv("NETWRIGHT_SEED") == nullptr) return fault_;
        std::string trace = fault_ + "\n" + document_;
        for (const auto& record : log_)
            trace += "\n" + record;
        return trace + "\n" + engine_view();
    }
    [[nodiscard]] bool ran() const { return net_ != nullptr; }

private:
    engine::Asker asker() { return {.actor = "test", .now = now_}; }

    void open() {
        model_ = std::make_unique<engine::Model>("m");
        for (const auto& record : log_)
            REQUIRE(model_->replay(record));
        model_->take_over(++epoch_);
        model_->go_live(now_);
        model_->try_at_once(1 + dice_.below(3));
        // It stands again where it stood after the last record that was kept.
        const bool first = after_.empty();
        interpreter_ =
            std::make_unique<Interpreter>(first ? Interpreter(*net_) : after_[log_.size()]);
        if (first) after_.push_back(*interpreter_);
        prepares_.clear();
    }

    // What the engine thinks holds each transition back.
    std::string engine_view() const {
        std::string view = model_->scheduler().has_work() ? "has work" : "rests";
        for (engine::TransitionId id = 0; id < model_->state().transitions.size(); ++id) {
            for (const auto& held : model_->scheduler().held(id, 99)) {
                view += fmt::format(
                    "\n{} case {}: {} on arc {}",
                    model_->state().transitions[id].name,
                    held.case_id.seq,
                    static_cast<int>(held.why.reason),
                    held.why.arc
                );
            }
        }
        for (const auto& line : TestModel::lines(model_->state())) {
            if (line.contains("holder")) view += "\n" + line;
        }
        return view;
    }

    void set_aside() {
        Interpreter::Aside tokens;
        std::vector<semantics::Running> firings;
        for (const auto& [id, claim] : model_->claims()) {
            const auto& name = model_->state().transitions[claim.enabled.transition].name;
            firings.push_back({
                .transition = *net_->transition(name),
                .case_seq = claim.enabled.binding.case_id.seq,
                .key = {},
                .arcs = claim.tokens,
                .returned = claim.failure.has_value(),
            });
            for (const auto& arc : claim.tokens) {
                for (const auto token : arc)
                    tokens.emplace(token, claim.enabled.binding.case_id.seq);
            }
            for (const auto token : claim.read) {
                if (claim.holds_read) tokens.emplace(token, claim.enabled.binding.case_id.seq);
            }
        }
        interpreter_->set_aside(std::move(tokens), std::move(firings));
    }

    std::size_t pump() {
        set_aside();
        const auto fired = model_->pump(now_, 1);
        keep();
        return fired;
    }

    // What was not durable is gone, and with it all that was only in memory.
    void crash() {
        const auto kept = durable_ + dice_.below(log_.size() - durable_ + 1);
        log_.resize(kept);
        while (after_.size() > kept + 1)
            after_.pop_back();
        durable_ = kept;
        open();
    }

    void keep() {
        auto batch = model_->take_records();
        std::size_t at = 0;
        for (const auto& record : batch.records) {
            log_.push_back(batch.bytes.substr(at, record.size));
            at += record.size;
            if (!fault_.empty()) continue;
            fault_ = interpreter_->follow(*base::parse_json(log_.back()));
            if (!fault_.empty()) fault_ += "\nin " + log_.back();
            after_.push_back(*interpreter_);
        }
        for (auto& effect : model_->take_effects()) {
            if (auto* prepare = std::get_if<engine::Prepare>(&effect)) {
                prepares_.push_back(prepare->claim);
            }
        }
        if (dice_.one_in(3)) durable_ = log_.size();
    }

    void act() {
        switch (dice_.below(12)) {
            case 0:
            case 1:
                (void)engine::start_case(*model_, "n", semantics::random_token(dice_), asker());
                break;
            case 2:
                put();
                break;
            case 3:
                now_ = now_ + base::milliseconds(static_cast<std::int64_t>(dice_.below(4000)));
                break;
            case 4:
                if (dice_.one_in(3)) crash();
                break;
            case 5:
            case 6:
                prepare();
                break;
            case 7:
            case 8:
                settle();
                break;
            default:
                for (auto n = 1 + dice_.below(4); n > 0 && fault_.empty(); --n)
                    pump();
        }
    }

    void put() {
        const auto& place = net_->places[dice_.below(net_->places.size())];
        base::CaseId of;
        std::vector<base::CaseId> running;
        for (const auto& [id, owner] : model_->state().cases) {
            if (owner.state == engine::CaseState::running) running.push_back(id);
        }
        std::ranges::sort(running);
        if (!running.empty() && dice_.one_in(2)) of = running[dice_.below(running.size())];
        (void)engine::put_tokens(
            *model_, {"n", place.name}, {{semantics::random_token(dice_), of}}, asker()
        );
    }

    void prepare() {
        if (prepares_.empty()) return;
        const auto index = dice_.below(prepares_.size());
        const auto claim = prepares_[index];
        prepares_.erase(prepares_.begin() + static_cast<std::ptrdiff_t>(index));
        if (dice_.one_in(8)) {
            engine::prepared(*model_, claim, base::fail(base::ErrorCode::not_found, "no"), asker());
        } else {
            const char* effect = dice_.one_in(2) ? "once" : "pure";
            engine::prepared(*model_, claim, engine::Prepared{"{}", effect, "tool", "v"}, asker());
        }
    }

    void settle() {
        std::vector<base::OperationId> open;
        for (const auto& [id, operation] : model_->state().operations)
            open.push_back(id);
        if (open.empty()) return;
        std::ranges::sort(open);
        const auto id = open[dice_.below(open.size())];
        const auto& operation = *model_->state().find_operation(id);
        const bool returned = operation.state == engine::OperationState::returned;
        if (returned && !dice_.one_in(4)) return;
        if (returned || operation.state == engine::OperationState::uncertain) {
            (void)engine::abandon(*model_, id, "test", asker());
            return;
        }
        using Kind = engine::Outcome::Kind;
        const auto roll = dice_.below(8);
        const Kind kind = roll == 0 ? Kind::lost : roll == 1 ? Kind::error : Kind::returned;
        engine::settle(
            *model_,
            {.operation = id,
             .attempt = operation.attempt,
             .kind = kind,
             .result = R"({"k":1,"n":1})",
             .meta = "{}",
             .error = {base::ErrorCode::upstream, "no", {}, {}}},
            asker()
        );
    }

    // Everything that is asked for is answered, and nothing more can fire.
    void rest() {
        while (fault_.empty() && log_.size() < records_max) {
            const auto fired = pump();
            if (!fault_.empty()) return;
            const bool asked = !prepares_.empty();
            while (!prepares_.empty()) {
                set_aside();
                engine::prepared(
                    *model_, prepares_.back(), engine::Prepared{"{}", "once", "tool", "v"}, asker()
                );
                prepares_.pop_back();
            }
            keep();
            if (!fault_.empty()) return;
            if (fired != 0 || asked || model_->scheduler().searching()) continue;
            set_aside();
            fault_ = interpreter_->at_rest(now_);
            if (fault_.empty()) fault_ = why_not_disagrees();
            return;
        }
    }

    // A look at everything finds no more than what came by itself.
    std::string why_not_disagrees() const {
        const auto& scheduler = model_->scheduler();
        for (engine::TransitionId id = 0; id < model_->state().transitions.size(); ++id) {
            const auto& name = model_->state().transitions[id].name;
            if (scheduler.waiting(id).rooms.empty() && scheduler.peek(id, now_))
                return fmt::format("S29: '{}' is enabled at rest", name);
            for (const auto& held : scheduler.held(id, 99)) {
                if (held.why.reason == engine::Unbound::Reason::searching)
                    return fmt::format("S29: '{}' is still searching at rest", name);
            }
        }
        return {};
    }

    Dice dice_;
    std::string document_;
    std::shared_ptr<const nets::Net> net_;
    std::unique_ptr<engine::Model> model_;
    std::unique_ptr<Interpreter> interpreter_;
    std::deque<Interpreter> after_;  // so many records
    base::Timestamp now_{1'000'000'000};
    engine::Epoch epoch_ = 0;
    std::vector<std::string> log_;
    std::size_t durable_ = 0;
    std::vector<engine::ClaimId> prepares_;
    std::string fault_;
};

std::optional<std::uint64_t> number(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return std::nullopt;
    return std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_CASE("S1 S2 S3 S4 S5 S7 S26 S27 S29 S30: random nets do only what the clauses allow") {
    const auto one = number("NETWRIGHT_SEED");
    const auto last = one ? *one : number("NETWRIGHT_SEMANTICS_NETS").value_or(nets_by_default);
    std::uint64_t ran = 0;
    int faults = 0;
    for (std::uint64_t seed = one.value_or(1); seed <= last; ++seed) {
        Run run(seed);
        const auto fault = run.go();
        ran += run.ran() ? 1 : 0;
        if (!fault.empty()) {
            FAIL_CHECK("NETWRIGHT_SEED=", seed, ": ", fault);
            if (++faults == faults_told) break;
        }
    }
    if (!one) CHECK(ran > last / 2);
}
