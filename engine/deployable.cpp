#include "engine/deployable.hpp"

#include "base/json.hpp"
#include "engine/arrival.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t misfits_max = 100;  // told of one deployment
constexpr std::uint64_t tokens_held_against_max = 100'000;

// Whether the place of this name is still the net's own, and not one that it shares.
bool keeps(const nets::Net& next, std::string_view name) {
    const auto index = next.place(name);
    return index && !next.places[*index].shared;
}

// Places of the current version that the new one lacks must be empty.
std::vector<base::ErrorDetail> lost_tokens(
    const State& state, const Deployment& current, const nets::Net& next
) {
    std::vector<base::ErrorDetail> faults;
    for (const auto& place : current.net->places) {
        const bool moves = std::ranges::any_of(next.migrate, [&](const auto& move) {
            return move.first == place.name;
        });
        if (place.shared || moves || keeps(next, place.name)) continue;
        const auto id = state.place({current.net->name, place.name});
        const auto count = id ? state.store.place(*id).count : 0;
        if (count == 0) continue;
        faults.push_back({
            base::pointer_child("/places", place.name),
            ErrorCode::conflict,
            fmt::format(
                "place '{}' is {} in this version but holds {} tokens",
                place.name,
                next.place(place.name) ? "shared" : "gone",
                count
            ),
        });
    }
    return faults;
}

// Firings in flight end under the version that began them: where they put tokens must be there.
std::vector<base::ErrorDetail> lost_answers(const State& state, const nets::Net& next) {
    std::map<std::string, std::set<std::string>> lost;  // place -> transitions
    for (const auto& [id, operation] : state.operations) {
        const nets::Net& net = *operation.deployment->net;
        if (net.name != next.name) continue;
        const auto look = [&](const nets::Outputs& outputs) {
            for (const auto& rule : outputs.rules) {
                const auto& place = net.places[rule.place];
                if (!place.shared && !keeps(next, place.name))
                    lost[place.name].insert(operation.rules().name);
            }
        };
        look(operation.rules().out);
        if (operation.rules().fail) look(*operation.rules().fail);
    }
    std::vector<base::ErrorDetail> faults;
    for (const auto& [place, transitions] : lost) {
        faults.push_back({
            base::pointer_child("/places", place),
            ErrorCode::conflict,
            fmt::format(
                "firings in flight of '{}' may still put tokens into place '{}', which is {} in "
                "this version",
                fmt::join(transitions, "', '"),
                place,
                next.place(place) ? "shared" : "gone"
            ),
        });
    }
    return faults;
}

// What the nets in force say of a place, but for the one that is deployed anew.
struct Said {
    const nets::Place* schema = nullptr;
    const nets::Place* capacity = nullptr;
    std::string_view schema_by;
    std::string_view capacity_by;
};

Said said_of_shared(const State& state, const nets::Place& place, std::string_view but) {
    Said said;
    for (const auto& [name, entry] : state.nets) {
        if (!entry.current || name == but) continue;
        const auto index = entry.current->net->place(place.name);
        if (!index) continue;
        const nets::Place& other = entry.current->net->places[*index];
        if (!other.shared) continue;
        if (other.schema) {
            said.schema = &other;
            said.schema_by = name;
        }
        if (other.capacity) {
            said.capacity = &other;
            said.capacity_by = name;
        }
    }
    return said;
}

// A shared place has one schema and one capacity, whichever net says it.
void add_contradictions(
    std::vector<base::ErrorDetail>& faults,
    const nets::Place& place,
    const Said& said,
    const std::string& at
) {
    if (place.schema && said.schema != nullptr &&
        place.schema->document != said.schema->schema->document) {
        faults.push_back({
            at + "/schema",
            ErrorCode::conflict,
            fmt::format("net '{}' gives the shared place another schema", said.schema_by),
        });
    }
    if (place.capacity && said.capacity != nullptr && place.capacity != said.capacity->capacity) {
        faults.push_back({
            at + "/capacity",
            ErrorCode::conflict,
            fmt::format(
                "net '{}' gives the shared place a capacity of {}",
                said.capacity_by,
                *said.capacity->capacity
            ),
        });
    }
}

// What lies in the place already, where the version brings a schema that did not hold so far.
void add_misfits(
    std::vector<base::ErrorDetail>& faults,
    const State& state,
    places::PlaceId id,
    const places::Place& box,
    const std::string& at
) {
    const auto count = state.store.place(id).count;
    if (count > tokens_held_against_max) {
        faults.push_back({
            at + "/schema",
            ErrorCode::too_large,
            fmt::format(
                "the place holds {} tokens; at most {} are held against a new schema",
                count,
                tokens_held_against_max
            ),
        });
        return;
    }
    for (auto slot = state.store.first_in(id);
         slot != places::no_slot && faults.size() < misfits_max;
         slot = state.store.next_in_place(slot)) {
        const auto& token = state.store.token(slot);
        for (auto& misfit : arrival_faults(box, token.data.view(), "")) {
            faults.push_back({
                at + "/schema",
                ErrorCode::conflict,
                fmt::format(
                    "token {} lies there and does not fit: {}", text(token.id), misfit.message
                ),
            });
        }
    }
}

std::vector<base::ErrorDetail> place_faults(const State& state, const nets::Net& next) {
    std::vector<base::ErrorDetail> faults;
    const Deployment* current = state.current(next.name);
    for (const auto& place : next.places) {
        const std::string at = base::pointer_child("/places", place.name);
        places::Place box{.name = place.name};
        if (place.schema) box.schema = place.schema->compiled;
        Said said;
        if (place.shared) said = said_of_shared(state, place, next.name);
        add_contradictions(faults, place, said, at);
        if (said.schema != nullptr) box.schema = said.schema->schema->compiled;
        if (!box.schema) continue;
        for (std::size_t i = 0; i < place.tokens.size(); ++i) {
            auto misfits = arrival_faults(box, place.tokens[i], fmt::format("{}/tokens/{}", at, i));
            std::ranges::move(misfits, std::back_inserter(faults));
        }
        const auto id = state.place({place.shared ? "" : next.name, place.name});
        if (!id || said.schema != nullptr) continue;
        const auto before = current != nullptr ? current->net->place(place.name) : std::nullopt;
        const nets::Place* was = before ? &current->net->places[*before] : nullptr;
        const bool same = was != nullptr && was->shared == place.shared && was->schema &&
                          was->schema->document == place.schema->document;
        if (!same) add_misfits(faults, state, *id, box, at);
    }
    return faults;
}

}  // namespace

Result<void> deployable(const State& state, const nets::Net& next) {
    const Deployment* current = state.current(next.name);
    if (current != nullptr) {
        if (auto faults = lost_tokens(state, *current, next); !faults.empty()) {
            return fail(base::Error{
                ErrorCode::conflict,
                fmt::format("net '{}' would lose tokens", next.name),
                "empty these places first, keep them, or say in 'migrate' where their tokens go",
                std::move(faults)
            });
        }
    }
    if (auto faults = lost_answers(state, next); !faults.empty()) {
        return fail(base::Error{
            ErrorCode::conflict,
            fmt::format("net '{}' would lose what firings in flight make", next.name),
            "keep these places, or let the firings end first, and deploy again",
            std::move(faults)
        });
    }
    if (auto faults = place_faults(state, next); !faults.empty()) {
        return fail(base::Error{
            faults.front().code,
            fmt::format("what net '{}' says of its places does not hold", next.name),
            "mend these and deploy again",
            std::move(faults)
        });
    }
    return {};
}

}  // namespace engine
