#include "base/clock.hpp"
#include "nets/analysis/check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace analysis = nets::analysis;
using analysis::Answer;
using analysis::PlaceId;
using analysis::PtNet;

namespace {

/// Time is how often it was looked at: the same on every machine.
class CountingClock final : public base::Clock {
public:
    [[nodiscard]] base::Timestamp now() const override { return {}; }
    [[nodiscard]] base::Duration elapsed() const override { return {++looks_}; }
    [[nodiscard]] std::int64_t looks() const { return looks_; }

private:
    mutable std::int64_t looks_ = 0;
};

PlaceId add_place(PtNet& net, std::string id, analysis::Count initial = 0) {
    net.places.push_back({.id = std::move(id), .initial = initial});
    return static_cast<PlaceId>(net.places.size() - 1);
}

/// One case, split into branches that go their own way and meet again: 2^branches + 2 markings.
PtNet split_and_join(std::uint64_t branches) {
    PtNet net{.name = "split and join"};
    net.start = add_place(net, "start");
    net.end = {add_place(net, "end")};
    analysis::PtTransition split{.id = "split", .consume = {{.place = *net.start}}};
    analysis::PtTransition join{.id = "join", .produce = {{.place = net.end[0]}}};
    for (std::uint64_t b = 0; b < branches; ++b) {
        const auto before = add_place(net, fmt::format("before {}", b));
        const auto after = add_place(net, fmt::format("after {}", b));
        split.produce.push_back({.place = before});
        join.consume.push_back({.place = after});
        net.transitions.push_back(
            {.id = fmt::format("go {}", b),
             .consume = {{.place = before}},
             .produce = {{.place = after}}}
        );
    }
    net.transitions.push_back(std::move(split));
    net.transitions.push_back(std::move(join));
    return net;
}

/// Philosophers who take one fork after the other, and a store that each meal adds to.
PtNet philosophers(std::uint64_t count) {
    PtNet net{.name = "philosophers"};
    std::vector<PlaceId> forks;
    for (std::uint64_t p = 0; p < count; ++p)
        forks.push_back(add_place(net, fmt::format("fork {}", p), 1));
    const auto meals = add_place(net, "meals");
    for (std::uint64_t p = 0; p < count; ++p) {
        const auto thinks = add_place(net, fmt::format("thinks {}", p), 1);
        const auto holds = add_place(net, fmt::format("holds {}", p));
        const auto right = forks[(p + 1) % count];
        net.transitions.push_back(
            {.id = fmt::format("take {}", p),
             .consume = {{.place = thinks}, {.place = forks[p]}},
             .produce = {{.place = holds}}}
        );
        net.transitions.push_back(
            {.id = fmt::format("eat {}", p),
             .consume = {{.place = holds}, {.place = right}},
             .produce = {{.place = thinks}, {.place = forks[p]}, {.place = right}, {.place = meals}}
            }
        );
    }
    return net;
}

analysis::Report checked(
    const PtNet& net, const CountingClock& clock, std::int64_t looks, std::uint64_t states_max
) {
    return analysis::check(
        net, {.states_max = states_max, .time_max = base::Duration{looks}, .clock = &clock}
    );
}

constexpr std::int64_t for_ever = 1'000'000'000;
constexpr std::int64_t late_looks_max = 60;
constexpr std::int64_t deadlines = 25;

/// Wherever the time ends, what is said is what would be said without an end, or `unknown`.
void check_every_end(const PtNet& net, std::uint64_t states_max) {
    const CountingClock patient;
    const auto all = checked(net, patient, for_ever, states_max);
    const auto looks = patient.looks();
    REQUIRE(looks > 5);
    for (std::int64_t i = 0; i < deadlines; ++i) {
        const CountingClock clock;
        const std::int64_t end = 1 + looks * i / deadlines;
        CAPTURE(end);
        const auto report = checked(net, clock, end, states_max);
        CHECK(clock.looks() < end + late_looks_max);
        for (const auto& verdict : report.verdicts) {
            CAPTURE(analysis::name(verdict.property));
            if (verdict.answer == Answer::unknown) {
                CHECK(verdict.reason.contains("limit on "));
            } else if (all.verdict(verdict.property)->answer != Answer::unknown) {
                CHECK(verdict.answer == all.verdict(verdict.property)->answer);
            }
        }
    }
}

}  // namespace

TEST_CASE("time that ends in any phase of a finished exploration leaves what is not known unknown"
) {
    check_every_end(split_and_join(14), 1'000'000);
}

TEST_CASE("time that ends in any phase of a net without end leaves what is not known unknown") {
    check_every_end(philosophers(40), 2'000);
}

TEST_CASE("a place that thousands of transitions share costs no memory for each pair of them") {
    PtNet net{.name = "star"};
    const auto hub = add_place(net, "hub", 1);
    const auto rim = add_place(net, "rim");
    for (int t = 0; t < 20'000; ++t) {
        net.transitions.push_back(
            {.id = fmt::format("t{}", t),
             .consume = {{.place = hub}},
             .produce = {{.place = hub}, {.place = rim, .weight = 1 + (t % 2 == 0 ? 1U : 0U)}}}
        );
    }
    const auto report = analysis::check(net, {.states_max = 5});
    CHECK(report.verdicts.size() == 5);
}

TEST_CASE("a net of nothing is answered, with any limit") {
    for (const std::uint64_t states : {0U, 1U, 10U})
        CHECK(
            analysis::check(PtNet{.name = "nothing"}, {.states_max = states}).verdicts.size() == 5
        );
}
