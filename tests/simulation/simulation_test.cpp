#include "tests/simulation/simulation.hpp"

#include "base/log.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>
#include <utility>

using namespace simulation;

namespace {

#ifdef __OPTIMIZE__
constexpr std::uint64_t seeds_usual = 2000;
#else
constexpr std::uint64_t seeds_usual = 150;
#endif

std::uint64_t number(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

char running[64] = "";

// A check that failed inside the engine ends the process: say in which world.
void tell_seed(int signal) {
    const auto written = ::write(STDERR_FILENO, running, sizeof running);
    static_cast<void>(written);
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/// Empty, or which invariant broke.
std::string broken(std::uint64_t seed, Report& sum, Defect defect = Defect::none) {
    fmt::format_to_n(running, sizeof running - 1, "NETWRIGHT_SIM_SEED={}\n", seed);
    try {
        const auto report = simulate(seed, defect);
        sum.steps += report.steps;
        sum.effects += report.effects;
        sum.cases += report.cases;
        sum.crashes += report.crashes;
        return {};
    } catch (const Violation& violation) {
        return fmt::format("NETWRIGHT_SIM_SEED={} replays: {}", seed, violation.what());
    }
}

}  // namespace

TEST_CASE("whatever crashes, stalls or gets lost, no firing is lost or doubled") {
    base::log_quietly();
    std::signal(SIGABRT, tell_seed);
    Report sum;
    if (std::getenv("NETWRIGHT_SIM_SEED") != nullptr) {
        const auto why = broken(number("NETWRIGHT_SIM_SEED", 1), sum);
        CHECK_MESSAGE(why.empty(), why);
        return;
    }
    const auto first = number("NETWRIGHT_SIM_FIRST", 1);
    const auto seeds = number("NETWRIGHT_SIM_SEEDS", seeds_usual);
    std::size_t failures = 0;
    for (auto seed = first; seed < first + seeds && failures < 10; ++seed) {
        const auto why = broken(seed, sum);
        failures += why.empty() ? 0 : 1;
        CHECK_MESSAGE(why.empty(), why);
    }
    MESSAGE(fmt::format(
        "{} worlds: {} steps, {} cases, {} jobs run, {} crashes and stalls",
        seeds,
        sum.steps,
        sum.cases,
        sum.effects,
        sum.crashes
    ));
    CHECK(sum.effects > seeds);
    CHECK(sum.crashes > seeds / 2);
}

TEST_CASE("the same seed gives the same world") {
    Report once;
    Report again;
    CHECK(broken(7, once) == broken(7, again));
    CHECK(once.steps == again.steps);
    CHECK(once.effects == again.effects);
}

TEST_CASE("a master with a defect is caught") {
    const std::pair<Defect, const char*> defects[] = {
        {Defect::effects_before_durable, "before it was durably invoked"},
        {Defect::offers_lost_again, "is to run once"},
        {Defect::lengths_by_wall_clock, "never ends"},
    };
    for (const auto& [defect, invariant] : defects) {
        Report sum;
        std::string found;
        for (std::uint64_t seed = 1; seed <= 300 && found.empty(); ++seed)
            found = broken(seed, sum, defect);
        CHECK(found.find(invariant) != std::string::npos);
    }
}
