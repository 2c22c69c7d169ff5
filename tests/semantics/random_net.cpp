#include "tests/semantics/random_net.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <vector>

namespace semantics {

using Json = nlohmann::json;

namespace {

struct Maker {
    Dice& dice;
    std::size_t places;

    std::string place() { return fmt::format("p{}", dice.below(places)); }

    // Aliases bound to one token for certain, so far.
    std::vector<std::string> single;

    void weigh(Json& arc, const std::string& alias) {
        switch (dice.below(9)) {
            case 0:
                arc["take"] = 2;
                return;
            case 1:
                arc["take"] = {{"min", dice.below(2)}, {"max", 2}};
                return;
            case 2:
                arc["take"] = "all";
                return;
            case 3:
                arc["take"] = "any";
                return;
            case 4:
                if (!single.empty()) {
                    arc["take"] = fmt::format("${{{}.n}}", single[dice.below(single.size())]);
                    return;
                }
                break;
            default:
                break;
        }
        single.push_back(alias);
    }

    Json arc(std::size_t index, const std::string& alias, bool keyed) {
        Json made = {{"place", place()}};
        const auto kind = index == 0 ? 0 : dice.below(8);
        if (kind == 5) made["arc"] = "inhibit";
        if (kind == 6) made["arc"] = "reset";
        if (kind == 7) made["arc"] = "read";
        if (dice.one_in(5)) made["where"] = dice.one_in(2) ? "token.n > 0" : "token.k != 1";
        if (keyed && dice.one_in(2)) made["key"] = "token.k";
        if (dice.one_in(12)) made["anyCase"] = true;
        if (kind == 5 && dice.one_in(3)) made["take"] = 2;
        if (kind == 5 || kind == 6) return made;
        if (index == 0) {
            single.push_back(alias);
            if (keyed) made["key"] = "token.k";
        } else {
            weigh(made, alias);
        }
        if (dice.one_in(6)) made["order"] = dice.one_in(2) ? "lifo" : "token.n";
        if (dice.one_in(12)) made["age"] = "3s";
        return made;
    }

    // Of one token, of two (an equality has an index, other relations have none), or of a list.
    std::string guard(const Json& in) {
        const auto one = alias_of_one();
        const auto other = alias_of_one();
        std::string list;
        for (const auto& [alias, arc] : in.items()) {
            if (arc.contains("take") && arc["take"].is_string() && !arc.contains("arc"))
                list = alias;
        }
        switch (dice.below(5)) {
            case 0:
                return fmt::format("{}.k == {}.n", one, other);
            case 1:
                return fmt::format("{}.n + {}.n == 3", one, other);
            case 2:
                return fmt::format("{}.n == {}.n && {}.k < 2", one, other, other);
            case 3:
                if (!list.empty()) return fmt::format("size({}) < 2", list);
                break;
            default:
                break;
        }
        return fmt::format("{}.n {} 1", one, dice.one_in(2) ? ">=" : "!=");
    }

    std::string alias_of_one() { return single[dice.below(single.size())]; }

    Json token(bool joins) {
        // The aliases of an or-join may be null.
        if (joins || dice.one_in(2)) return {{"k", dice.below(3)}, {"n", dice.below(4)}};
        return fmt::format("${{{}}}", alias_of_one());
    }

    Json outputs(bool joins) {
        if (dice.one_in(3)) {
            Json made = Json::object();
            for (std::uint64_t n = dice.below(3); n > 0; --n)
                made[place()] = token(joins);
            return made;
        }
        Json made = Json::array();
        for (std::uint64_t n = 1 + dice.below(3); n > 0; --n) {
            Json rule = {{"to", place()}, {"token", token(joins)}};
            if (dice.one_in(6)) {
                rule["each"] = dice.one_in(2) ? "[{'k':0,'n':1},{'k':1,'n':0}]" : "[]";
                rule["token"] = "${each}";
            }
            if (!joins && dice.one_in(3)) rule["when"] = fmt::format("{}.n > 1", alias_of_one());
            if (dice.one_in(6)) rule["delay"] = "2s";
            made.push_back(std::move(rule));
        }
        if (dice.one_in(3)) {
            made.push_back({{"to", "end"}, {"token", token(joins)}, {"otherwise", true}});
        }
        return made;
    }

    Json transition() {
        single.clear();
        Json made = {{"in", Json::object()}};
        const bool joins = dice.one_in(5);
        const bool keyed = dice.one_in(4);
        const auto arcs = 1 + dice.below(3);
        for (std::size_t i = 0; i < arcs; ++i) {
            const auto alias = fmt::format("a{}", i);
            made["in"][alias] = arc(i, alias, keyed);
        }
        if (joins) {
            made["join"] = "or";
            made["in"]["a0"].erase("anyCase");
            for (auto& [alias, arc] : made["in"].items()) {
                if (arc.contains("take") && arc["take"].is_string()) arc["take"] = "all";
                if (arc.value("arc", "") == "inhibit") arc.erase("take");
            }
        } else if (dice.one_in(3)) {
            made["guard"] = guard(made["in"]);
        }
        if (dice.one_in(3)) {
            made["call"] = {{"toolId", "tool"}, {"args", Json::object()}};
            if (dice.one_in(2)) made["retry"] = {{"attempts", 2}, {"backoff", "1s"}};
        }
        if (!dice.one_in(8)) made["out"] = outputs(joins);
        if (dice.one_in(3)) {
            made["fail"] = {{dice.one_in(3) ? place() : "end", {{"k", 0}, {"n", 0}}}};
        }
        if (dice.one_in(5)) made["priority"] = dice.below(3);
        return made;
    }
};

}  // namespace

std::string random_token(Dice& dice) {
    return fmt::format(R"({{"k":{},"n":{}}})", dice.below(3), dice.below(4));
}

std::string random_net(Dice& dice) {
    Maker maker{dice, 2 + dice.below(4), {}};
    Json document = {
        {"net", "n"},
        {"version", "1"},
        {"start", "p0"},
        {"end", {"end"}},
        {"places", {{"end", Json::object()}}}
    };
    for (std::uint64_t n = 2 + dice.below(4); n > 0; --n) {
        document["transitions"][fmt::format("t{}", n)] = maker.transition();
    }
    for (std::size_t i = 0; i < maker.places; ++i) {
        Json place = Json::object();
        if (i != 0 && dice.one_in(7)) place["cases"] = false;
        if (i != 0 && dice.one_in(4)) place["capacity"] = 1 + dice.below(4);
        document["places"][fmt::format("p{}", i)] = place;
    }
    return document.dump();
}

}  // namespace semantics
