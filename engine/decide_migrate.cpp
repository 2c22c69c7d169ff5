#include "base/json.hpp"
#include "engine/arrival.hpp"
#include "engine/decisions.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace engine {

using base::ErrorCode;

namespace {

constexpr std::size_t misfits_max = 100;  // told of one deployment
constexpr std::size_t tokens_moved_max = 100'000;
constexpr std::size_t bytes_moved_max = std::size_t{32} << 20U;

// The place that takes the tokens, as it will be under the next version.
places::Place target_of(const State& state, const nets::Net& next, const nets::Place& rules) {
    places::Place box{.name = rules.name, .capacity = rules.capacity};
    if (rules.schema) box.schema = rules.schema->compiled;
    const auto there = state.place({rules.shared ? "" : next.name, rules.name});
    if (!there) return box;
    const auto& now = state.store.place(*there);
    box.count = now.count + now.room_held;
    if (rules.shared && !box.schema) box.schema = now.schema;
    return box;
}

}  // namespace

std::vector<base::ErrorDetail> Decisions::move_tokens(Event& event, const nets::Net& next) {
    struct Move {
        places::PlaceId from;
        const nets::Place& to;
    };
    std::vector<Move> moves;
    std::vector<base::ErrorDetail> faults;
    std::size_t tokens = 0;
    std::size_t bytes = 0;
    const Deployment* current = state().current(next.name);
    for (const auto& [from, to] : next.migrate) {
        const auto source = state().place({next.name, from});
        // Where the version before had no such place, nothing is to move.
        if (!source || current == nullptr || !current->net->place(from)) continue;
        const std::string at = base::pointer_child("/migrate", from);
        places::Place box = target_of(state(), next, next.places[to]);
        std::uint64_t held = 0;
        for (auto slot = state().store.first_in(*source); slot != places::no_slot;
             slot = state().store.next_in_place(slot)) {
            const auto& token = state().store.token(slot);
            if (token.holder != 0 && (token.holder & places::claim_bit) == 0) ++held;
            if (faults.size() < misfits_max) {
                auto misfits = arrival_faults(box, token.data.view(), at);
                std::ranges::move(misfits, std::back_inserter(faults));
            }
            ++box.count;
            ++tokens;
            bytes += token.data.view().size();
        }
        if (held != 0) {
            faults.push_back({
                at,
                ErrorCode::conflict,
                fmt::format("firings in flight hold {} tokens of place '{}'", held, from),
            });
        }
        if (!box.has_room(0)) {
            faults.push_back({
                at,
                ErrorCode::conflict,
                fmt::format("place '{}' has room for {} tokens", box.name, *box.capacity),
            });
        }
        moves.push_back({*source, next.places[to]});
    }
    if (tokens > tokens_moved_max || bytes > bytes_moved_max) {
        faults.push_back({
            "/migrate",
            ErrorCode::too_large,
            fmt::format(
                "{} tokens of {} bytes are to move; at most {} of {} bytes move at once",
                tokens,
                bytes,
                tokens_moved_max,
                bytes_moved_max
            ),
        });
    }
    if (!faults.empty()) return faults;
    for (const auto& [from, to] : moves) {
        const auto id = state().ensure_place({to.shared ? "" : next.name, to.name});
        for (auto slot = state().store.first_in(from); slot != places::no_slot;
             slot = state().store.next_in_place(slot)) {
            const auto& token = state().store.token(slot);
            event.consumed.push_back(token.id);
            event.produced.push_back({
                .place = id,
                .case_id = token.case_id,
                .visible_at = token.hidden ? token.visible_at : base::Timestamp{},
                .data = token.data,
            });
        }
    }
    return {};
}

void Decisions::drop_claims_of(const Deployment& deployment) {
    std::vector<ClaimId> held;
    for (const auto& [id, claim] : claims())
        if (claim.enabled.deployment.get() == &deployment) held.push_back(id);
    for (const auto id : held)
        drop_claim(id);
}

void Decisions::end_quiet_cases(std::string_view net) {
    std::vector<base::CaseId> quiet;
    for (const auto& [id, value] : state().cases) {
        const bool running = value.state == CaseState::running;
        if (running && value.quiet() && value.deployment->net->name == net) quiet.push_back(id);
    }
    std::ranges::sort(quiet);
    for (const auto id : quiet)
        end_if_quiet(id);
}

}  // namespace engine
