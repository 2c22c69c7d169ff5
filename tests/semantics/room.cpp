#include "tests/semantics/interpreter.hpp"

#include <algorithm>
#include <fmt/format.h>

// S5: room in places with a capacity.
namespace semantics {

using base::Json;
using nets::ArcKind;

namespace {

std::uint64_t of(const std::map<nets::PlaceIndex, std::uint64_t>& counts, nets::PlaceIndex place) {
    const auto found = counts.find(place);
    return found == counts.end() ? 0 : found->second;
}

}  // namespace

Interpreter::Counts Interpreter::counts(const Json& made) const {
    Counts all;
    for (const auto& token : made)
        ++all[*net_.place(token.at("place").get<std::string>())];
    return all;
}

Interpreter::Counts Interpreter::made_at_end(const Running& running) const {
    const auto& rules = net_.transitions[running.transition];
    const auto names = values(rules, {running.case_seq, running.key, running.arcs});
    std::optional<Json> all;
    if (!running.failed) all = made(rules, rules.out, names, now_);
    if (!all && rules.fail) all = made(rules, *rules.fail, names, now_);
    return all ? counts(*all) : Counts{};
}

Interpreter::Counts Interpreter::given_up(
    const nets::Transition& rules, const Binding& binding, bool failed
) const {
    Counts all;
    for (const auto id : bound(rules, binding, ArcKind::consume))
        ++all[tokens_.at(id).place];
    if (failed) return all;  // S18
    for (const auto id : resets(rules, binding))
        ++all[tokens_.at(id).place];
    return all;
}

Interpreter::Counts Interpreter::most_made(
    const nets::Transition& rules, const std::vector<std::vector<base::TokenId>>& arcs
) const {
    Counts together;
    Counts most;
    for (const auto& rule : rules.out.rules) {
        if (rule.each || !net_.places[rule.place].capacity) continue;
        const bool alone = rules.out.first_only || rule.otherwise;
        if (!alone) ++together[rule.place];
        auto& so_far = most[rule.place];
        so_far = std::max({so_far, std::uint64_t{1}, together[rule.place]});
        so_far = std::min(so_far, *net_.places[rule.place].capacity);
    }
    for (std::size_t arc = 0; arc < arcs.size(); ++arc) {
        if (rules.in[arc].kind != ArcKind::consume) continue;
        const auto place = rules.in[arc].place;
        if (most.contains(place))
            most[place] -= std::min<std::uint64_t>(most[place], arcs[arc].size());
    }
    return most;
}

Interpreter::Counts Interpreter::kept_room(std::uint64_t save) const {
    Counts all;
    const auto add = [&](const Running& running) {
        if (running.returned) return;
        const auto& rules = net_.transitions[running.transition];
        for (const auto& [place, count] : most_made(rules, running.arcs))
            all[place] += count;
    };
    for (const auto& [id, running] : running_)
        if (id != save) add(running);
    for (const auto& running : preparing_)
        add(running);
    return all;
}

std::set<nets::PlaceIndex> Interpreter::lacking(
    const Counts& made, const Counts& given, std::uint64_t save
) const {
    std::set<nets::PlaceIndex> found;
    const auto kept = kept_room(save);
    for (const auto& [place, count] : made) {
        const auto& capacity = net_.places[place].capacity;
        if (!capacity) continue;
        const auto there =
            static_cast<std::uint64_t>(std::ranges::count_if(tokens_, [&](const auto& token) {
                return token.second.place == place;
            }));
        if (there + of(kept, place) + count > *capacity + of(given, place)) found.insert(place);
    }
    return found;
}

bool Interpreter::waits(std::uint64_t operation) const {
    const auto& running = running_.at(operation);
    const auto& rules = net_.transitions[running.transition];
    const Binding binding{running.case_seq, running.key, running.arcs};
    const auto made = made_at_end(running);
    const bool failed =
        running.failed || !this->made(rules, rules.out, values(rules, binding), now_);
    const auto given = given_up(rules, binding, failed);
    if (!lacking(made, given, operation).empty()) return true;
    // An older one that waits for room in the same place goes first.
    return std::ranges::any_of(running_, [&](const auto& entry) {
        if (entry.first >= operation || !entry.second.returned) return false;
        if (!foretold(net_.transitions[entry.second.transition])) return true;  // perhaps
        return std::ranges::any_of(made_at_end(entry.second), [&](const auto& wanted) {
            return net_.places[wanted.first].capacity && of(made, wanted.first) > 0;
        });
    });
}

bool Interpreter::wants_room(nets::TransitionIndex t, const Binding& binding) const {
    const auto& rules = net_.transitions[t];
    Counts makes;
    Counts given;
    if (std::holds_alternative<nets::Map>(rules.action)) {
        const auto names = values(rules, binding);
        auto all = made(rules, rules.out, names, now_);
        given = given_up(rules, binding, !all);
        if (!all && rules.fail) all = made(rules, *rules.fail, names, now_);
        if (all) makes = counts(*all);
    } else {
        makes = most_made(rules, binding.arcs);
    }
    if (!lacking(makes, given, 0).empty()) return true;
    return std::ranges::any_of(makes, [&](const auto& entry) {
        const auto& [place, count] = entry;
        if (!net_.places[place].capacity || count <= of(given, place)) return false;
        return std::ranges::any_of(running_, [&](const auto& other) {
            if (!other.second.returned) return false;
            return !foretold(net_.transitions[other.second.transition]) ||
                   of(made_at_end(other.second), place) > 0;
        });
    });
}

// Who has an answer and lacks room in this place alone gets it before a new firing.
std::string Interpreter::check_passes_none(nets::TransitionIndex t, const Binding& binding) const {
    const auto& rules = net_.transitions[t];
    const auto names = values(rules, binding);
    auto all = made(rules, rules.out, names, now_);
    const bool failed = !all;
    if (!all && rules.fail) all = made(rules, *rules.fail, names, now_);
    if (!all) return {};
    const auto given = given_up(rules, binding, failed);
    for (const auto& [place, count] : counts(*all)) {
        if (!net_.places[place].capacity || count <= of(given, place)) continue;
        for (const auto& [id, running] : running_) {
            const auto& other = net_.transitions[running.transition];
            if (!running.returned || !foretold(other)) continue;
            const auto gives =
                given_up(other, {running.case_seq, running.key, running.arcs}, running.failed);
            if (lacking(made_at_end(running), gives, id) == std::set{place})
                return fmt::format("S5: '{}' passes o{}, which waits for room", rules.name, id);
        }
    }
    return {};
}

}  // namespace semantics
