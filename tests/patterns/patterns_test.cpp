// The workflow control-flow patterns of nets/patterns, each played on the engine: what they must
// do, what they must not, and that a case beside them is as if it were alone.
#include "nets/analysis/check_net.hpp"
#include "tests/patterns/pattern.hpp"
#include "tests/patterns/player.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <set>

using patterns::Pattern;
using patterns::Player;
using patterns::Script;

namespace {

constexpr int patterns_count = 43;

/// What `lint` may say of a pattern: events are put into their places from outside, and where a
/// case just ends nobody asks what its last activities gave.
const std::set<std::string> meant{"place_unfed", "result_dropped"};

/// Read once: a test case begins anew for each of its subcases.
const std::vector<Pattern>& all() {
    static const std::vector<Pattern> patterns = patterns::read_all();
    return patterns;
}

const std::string beside = "beside";

/// A second case of the same net, which does what the first script that is accepted says. It is
/// played twice: beside the case under test, and alone.
class Beside {
public:
    Beside(const Pattern& pattern, Player& shared)
        : steps_(pattern.scripts.front().steps), shared_(shared), alone_(pattern) {}

    void take() {
        if (next_ == steps_.size()) return;
        const auto& step = steps_[next_++];
        CAPTURE(step);
        const auto refusal = shared_.take(beside, step);
        // Time that passed for both may have made the step impossible: then it is so alone as well.
        CHECK(refusal == alone_.take(beside, step));
        compare();
    }
    void take_until(std::size_t step) {
        while (next_ < step)
            take();
    }
    /// The case under test took this step.
    void beside_of(const std::string& step) {
        if (patterns::is_wait(step)) alone_.take(beside, step);
        compare();
    }
    [[nodiscard]] std::size_t size() const { return steps_.size(); }
    [[nodiscard]] bool waits() const { return std::ranges::any_of(steps_, patterns::is_wait); }

private:
    void compare() const {
        if (next_ > 0) CHECK(shared_.view(beside) == alone_.view(beside));
    }

    const std::vector<std::string>& steps_;
    Player& shared_;
    Player alone_;
    std::size_t next_ = 0;
};

void play(
    const Script& script, Player& player, const std::function<void(const std::string&)>& after
) {
    CAPTURE(script.that);
    for (std::size_t i = 0; i < script.steps.size(); ++i) {
        const auto& step = script.steps[i];
        CAPTURE(step);
        const auto [who, what] = patterns::addressed(step);
        const auto refusal = player.take(who, what);
        if (script.refused && i + 1 == script.steps.size()) {
            CHECK_MESSAGE(refusal.has_value(), "this must be refused");
        } else {
            CHECK_MESSAGE(!refusal, refusal.value_or(""));
        }
        after(step);
    }
    player.check_fold();
}

/// Each script, with the case beside it standing still after `halt` of its steps.
void play_beside_halted(const Pattern& pattern, const Script& script) {
    for (std::size_t halt = 0; halt <= pattern.scripts.front().steps.size(); ++halt) {
        CAPTURE(halt);
        Player player(pattern);
        Beside other(pattern, player);
        other.take_until(halt);
        play(script, player, [&](const std::string& step) { other.beside_of(step); });
        other.take_until(other.size());
    }
}

/// Each script, taking turns with the case beside it.
void play_in_turns(const Pattern& pattern, const Script& script) {
    Player player(pattern);
    Beside other(pattern, player);
    if (other.waits()) return;  // time passes for both: the script would see it
    play(script, player, [&](const std::string& step) {
        other.beside_of(step);
        other.take();
    });
}

using nets::analysis::Answer;
using nets::analysis::Property;

std::string answer(const nets::analysis::Report& report, Property property) {
    return std::string(name(report.verdict(property)->answer));
}

/// proved, refuted or unknown; `refuted for some data` when each way to the trouble passes a choice
/// that the check knows nothing of.
std::string soundness(const nets::analysis::Report& report) {
    const auto sound = answer(report, Property::sound);
    if (report.verdict(Property::sound)->answer != Answer::refuted) return sound;
    for (const auto part : {Property::option_to_complete, Property::proper_completion}) {
        const auto& verdict = *report.verdict(part);
        const bool certain = !verdict.trace || verdict.trace->certain;
        if (verdict.answer == Answer::refuted && certain) return sound;
    }
    return sound + " for some data";
}

}  // namespace

TEST_CASE("every workflow control-flow pattern has a folder") {
    std::set<int> missing;
    for (int number = 1; number <= patterns_count; ++number)
        missing.insert(number);
    for (const auto& pattern : all()) {
        CAPTURE(pattern.folder);
        CHECK(missing.erase(pattern.number) == 1);
        CHECK(pattern.folder.starts_with(fmt::format("wcp-{:02}-", pattern.number)));
        CHECK(pattern.net == pattern.folder);
    }
    CHECK(missing.empty());
}

TEST_CASE("a pattern does what it must and refuses what it must not, and no other case notices") {
    for (const auto& pattern : all()) {
        SUBCASE(pattern.folder.c_str()) {
            CAPTURE(pattern.folder);
            for (const auto& script : pattern.scripts) {
                Player player(pattern);
                play(script, player, [](const std::string&) {});
                if (!pattern.cases_meet.empty()) continue;
                play_beside_halted(pattern, script);
                play_in_turns(pattern, script);
            }
        }
    }
}

TEST_CASE("the check says of every pattern what stands beside it") {
    for (const auto& pattern : all()) {
        SUBCASE(pattern.folder.c_str()) {
            CAPTURE(pattern.folder);
            auto net = nets::compile(*base::parse_json(pattern.document));
            REQUIRE(net.has_value());
            nets::analysis::Limits limits;
            limits.states_max = nets::analysis::deployment_states_max;
            const auto report = nets::analysis::check(*net, limits);
            std::set<std::string> findings;
            for (const auto& finding : report.findings) {
                const bool note = finding.severity == nets::analysis::Severity::note;
                if (!note && !meant.contains(finding.code)) findings.insert(finding.code);
            }
            const base::Json found{
                {"bounded", answer(report, Property::bounded)},
                {"sound", soundness(report)},
                {"findings", findings},
            };
            CHECK(base::canonical(found) == pattern.check);
            CHECK_FALSE(report.has_errors());
        }
    }
}
