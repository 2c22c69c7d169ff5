// Patterns 17 and 40: activities one at a time, in an order that is left open. Every order that the
// pattern allows can be had, and no other.
#include "tests/patterns/pattern.hpp"
#include "tests/patterns/player.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <random>
#include <set>

using patterns::Pattern;
using patterns::Player;
using Orders = std::set<std::string>;

namespace {

struct Subject {
    int number;
    Orders allowed;
};
const std::array<Subject, 2>& subjects() {
    static const std::array<Subject, 2> all{
        Subject{17, {"ABC", "ACB", "CAB"}},  // B after A
        Subject{40, {"ABC", "ACB", "BAC", "BCA", "CAB", "CBA"}},
    };
    return all;
}

Pattern pattern(int number) {
    auto all = patterns::read_all();
    const auto found = std::ranges::find(all, number, &Pattern::number);
    REQUIRE(found != all.end());
    return *found;
}

// Nobody picks who goes next: the scheduler does.
Pattern without_picks(Pattern of) {
    auto document = *base::parse_json(of.document);
    for (auto& [name, transition] : document["transitions"].items())
        transition["in"].erase("p");
    for (const char* place : {"pick-a", "pick-b", "pick-c"})
        document["places"].erase(place);
    of.document = base::canonical(document);
    return of;
}

std::string lower(char activity) {
    return {static_cast<char>(activity - 'A' + 'a')};
}

// What runs in the case: one activity, or none.
std::string running(Player& player, const std::string& who) {
    for (const char* activity : {"", "A", "B", "C"}) {
        if (!player.take(who, fmt::format("running {}", activity))) return activity;
    }
    FAIL("more than one runs at a time");
    return {};
}

std::string complete_one(Player& player, const std::string& who) {
    const auto activity = running(player, who);
    if (!activity.empty()) CHECK_FALSE(player.take(who, "complete " + activity));
    return activity;
}

}  // namespace

TEST_CASE("interleaved routing: whatever order is picked and allowed is had, one pick at a time") {
    for (const auto& [number, allowed] : subjects()) {
        CAPTURE(number);
        const auto subject = pattern(number);
        Orders had;
        std::string order = "ABC";
        do {
            Player player(subject);
            CHECK_FALSE(player.take("1", "start"));
            bool done = true;
            for (const char activity : order) {
                CHECK_FALSE(player.take("1", "put pick-" + lower(activity)));
                done = done && complete_one(player, "1") == std::string{activity};
            }
            if (done && !player.take("1", "state completed")) had.insert(order);
        } while (std::ranges::next_permutation(order).found);
        CHECK(had == allowed);
    }
}

TEST_CASE("interleaved routing: however all are picked ahead, they run in an order that is allowed"
) {
    for (const auto& [number, allowed] : subjects()) {
        CAPTURE(number);
        const auto subject = pattern(number);
        std::string picks = "ABC";
        do {
            CAPTURE(picks);
            Player player(subject);
            CHECK_FALSE(player.take("1", "start"));
            for (const char activity : picks)
                CHECK_FALSE(player.take("1", "put pick-" + lower(activity)));
            std::string order;
            for (int i = 0; i < 3; ++i)
                order += complete_one(player, "1");
            CHECK_FALSE(player.take("1", "state completed"));
            CHECK(allowed.contains(order));
        } while (std::ranges::next_permutation(picks).found);
    }
}

TEST_CASE(
    "interleaved routing: where nobody picks every allowed order comes by itself, and no other"
) {
    for (const auto& [number, allowed] : subjects()) {
        CAPTURE(number);
        const auto subject = without_picks(pattern(number));
        Orders had;
        for (unsigned seed = 1; seed <= 20; ++seed) {
            CAPTURE(seed);
            std::mt19937 dice(seed);
            Player player(subject);
            std::map<std::string, std::string> orders;
            constexpr unsigned cases = 6;
            for (unsigned i = 0; i < cases; ++i) {
                const auto who = fmt::format("case {}", i);
                CHECK_FALSE(player.take(who, "start"));
                orders[who];
                for (unsigned n = dice() % 4; n > 0; --n) {
                    const auto other = fmt::format("case {}", dice() % (i + 1));
                    orders[other] += complete_one(player, other);
                }
            }
            for (auto& [who, order] : orders) {
                while (order.size() < 3)
                    order += complete_one(player, who);
                CHECK_FALSE(player.take(who, "state completed"));
                had.insert(order);
            }
        }
        CHECK(had == allowed);
    }
}
