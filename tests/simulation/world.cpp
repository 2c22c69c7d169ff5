#include "tests/simulation/world.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <utility>

namespace simulation {

std::uint64_t Random::next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
}

base::Duration Random::between(base::Duration from, base::Duration to) {
    return {
        from.us + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(to.us - from.us)))
    };
}

base::Duration Random::around(base::Duration usual, base::Duration rare) {
    if (chance(50)) return between({0}, rare);
    return between({0}, {2 * usual.us + 1});
}

World::World(std::uint64_t seed)
    : random(seed), tracing_(std::getenv("NETWRIGHT_SIM_TRACE") != nullptr) {}

base::Timestamp World::now() const {
    constexpr base::Timestamp start{1'700'000'000'000'000};
    return start + now_ + wall_set_by_;
}

void World::set_wall(base::Duration by) {
    trace(fmt::format("the wall clock is set by {} ms", by.ms()));
    wall_set_by_ = wall_set_by_ + by;
}

// Events of one moment happen in an order that the seed decides.
void World::after(base::Duration delay, std::move_only_function<void()> what) {
    events_.emplace(Moment{now_.us + delay.us, random.next(), ++made_}, std::move(what));
}

void World::run(base::Duration until, const std::function<void()>& checked) {
    while (!events_.empty() && std::get<0>(events_.begin()->first) <= until.us) {
        auto event = events_.extract(events_.begin());
        now_ = {std::get<0>(event.key())};
        event.mapped()();
        ++steps_;
        checked();
    }
    now_ = until;
}

void World::trace(const std::string& line) const {
    if (tracing_) fmt::print(stderr, "{:>12} {}\n", now_.us, line);
}

}  // namespace simulation
