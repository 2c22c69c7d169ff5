#include "base/limits.hpp"
#include "engine/arrival.hpp"
#include "engine/decisions.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

constexpr std::size_t faults_max = 100;  // told of one request

std::string place_text(const PlaceName& name) {
    return name.net.empty() ? fmt::format("shared place '{}'", name.name)
                            : fmt::format("place '{}' of net '{}'", name.name, name.net);
}

// Places of the system are written by what they are for: a hand in them would break it. No net has
// one of its own by such a name.
bool of_system(std::string_view net, std::string_view name) {
    return net.empty() && name.starts_with("p-");
}

std::vector<base::ErrorDetail> token_faults(
    const State& state, const places::Place& place, const std::vector<PutToken>& tokens
) {
    std::vector<base::ErrorDetail> faults;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string pointer = fmt::format("/tokens/{}", i);
        if (tokens[i].data.size() > token_bytes_max) {
            faults.push_back({
                pointer + "/data",
                ErrorCode::too_large,
                fmt::format(
                    "{} bytes; the inline limit is {}", tokens[i].data.size(), token_bytes_max
                ),
            });
        }
        auto misfits = arrival_faults(place, tokens[i].data, pointer + "/data");
        std::ranges::move(misfits, std::back_inserter(faults));
        if (faults.size() >= faults_max) break;
        if (!tokens[i].case_id) continue;
        const Case* owner = state.find_case(tokens[i].case_id);
        if (owner == nullptr) {
            faults.push_back({
                pointer + "/case",
                ErrorCode::not_found,
                fmt::format("case {} is unknown, or was over long ago", text(tokens[i].case_id)),
            });
        } else if (owner->state != CaseState::running) {
            faults.push_back({
                pointer + "/case",
                ErrorCode::conflict,
                case_is_over(tokens[i].case_id, owner->state).message,
            });
        }
    }
    return faults;
}

Result<places::Slot> dead_letter(const State& state, base::TokenId id) {
    const auto slot = state.store.find(id);
    if (slot == places::no_slot || state.store.token(slot).place != state.dead_letter()) {
        return fail(ErrorCode::not_found, fmt::format("{} is no dead letter", text(id)));
    }
    return slot;
}

bool text_or_absent(const base::Json& object, const char* key) {
    return !object.contains(key) || object.at(key).is_string();
}

// Why the letter's tokens cannot be put back; nothing when they can.
std::optional<std::string> not_redrivable(const base::Json& letter) {
    if (!letter.is_object() || !letter.contains("tokens") || !letter.at("tokens").is_array() ||
        !text_or_absent(letter, "net") || !text_or_absent(letter, "transition")) {
        return "names no tokens";
    }
    for (const auto& token : letter.at("tokens")) {
        const bool shaped = token.is_object() && text_or_absent(token, "net") &&
                            text_or_absent(token, "place") && text_or_absent(token, "case");
        if (!shaped) return "names a token that is not an object";
        if (token.contains("data")) continue;
        return fmt::format(
            "names token {} without its data, which is in the record that produced it",
            token.contains("id") ? token.at("id").dump() : "?"
        );
    }
    return std::nullopt;
}

}  // namespace

Result<Seq> put_tokens(
    Model& model, const PlaceName& place, std::vector<PutToken> tokens, const Asker& asker
) {
    const State& state = model.state();
    if (of_system(place.net, place.name)) {
        return fail(
            ErrorCode::not_permitted,
            fmt::format("{} is the system's: nobody puts tokens there by hand", place_text(place)),
            "tools are registered with: netwright tool register"
        );
    }
    const auto id = state.place_in_force(place);
    if (!id) {
        return fail(
            ErrorCode::not_found,
            fmt::format("{} is unknown", place_text(place)),
            "see which places there are: netwright net show NET"
        );
    }
    if (tokens.empty() || tokens.size() > tokens_put_max) {
        return fail(
            ErrorCode::validation,
            fmt::format("{} tokens; one request puts 1 to {}", tokens.size(), tokens_put_max)
        );
    }
    auto faults = token_faults(state, state.store.place(*id), tokens);
    if (!faults.empty()) {
        return fail(base::Error{
            faults.front().code,
            "no token was put",
            "mend these and send all again",
            std::move(faults)
        });
    }
    std::size_t bytes = 0;
    for (const auto& token : tokens)
        bytes += token.data.size();
    if (bytes > base::limits::firing_bytes_max) {
        return fail(
            ErrorCode::too_large,
            fmt::format(
                "tokens of {} bytes together; one request puts at most {}",
                bytes,
                base::limits::firing_bytes_max
            ),
            "put them in several requests"
        );
    }
    if (!state.store.place(*id).has_room(tokens.size())) {
        const auto& box = state.store.place(*id);
        return fail(
            ErrorCode::conflict,
            fmt::format(
                "{} holds {} tokens of at most {}; {} more do not fit",
                place_text(place),
                box.count + box.room_held,
                *box.capacity,
                tokens.size()
            ),
            "wait until the net has taken tokens from it"
        );
    }
    Event event;
    event.type = EventType::tokens_put;
    event.net = place.net;
    for (auto& token : tokens) {
        event.produced.push_back({
            .place = *id,
            .case_id = token.case_id,
            .data = places::Payload::make(token.data),
        });
    }
    Decisions decisions{model, asker};
    const Seq seq = decisions.emit(std::move(event));
    for (const auto& token : tokens) {
        if (token.case_id) decisions.end_if_quiet(token.case_id);
    }
    return seq;
}

Result<Seq> remove_token(Model& model, base::TokenId id, const Asker& asker) {
    const State& state = model.state();
    const auto slot = state.store.find(id);
    if (slot == places::no_slot) {
        return fail(ErrorCode::not_found, fmt::format("token {} is unknown", text(id)));
    }
    const auto& token = state.store.token(slot);
    if (const auto& place = state.store.place(token.place); of_system(place.net, place.name)) {
        return fail(
            ErrorCode::not_permitted,
            fmt::format("token {} is in '{}', a place of the system", text(id), place.name),
            "a dead letter is dropped with: netwright dead-letter drop ID"
        );
    }
    if (token.holder != 0) {
        return fail(
            ErrorCode::conflict,
            fmt::format("token {} is reserved by a firing", text(id)),
            "wait for the firing, or abandon its operation"
        );
    }
    Event event;
    event.type = EventType::tokens_removed;
    event.consumed.push_back(id);
    const auto case_id = token.case_id;
    event.case_id = case_id;
    Decisions decisions{model, asker};
    const Seq seq = decisions.emit(std::move(event));
    if (case_id) decisions.end_if_quiet(case_id);
    return seq;
}

Result<Seq> redrive(Model& model, base::TokenId id, const Asker& asker) {
    const State& state = model.state();
    const auto slot = dead_letter(state, id);
    if (!slot) return fail(slot.error());
    const auto& letter = state.store.token(*slot);
    const Case* owner = state.find_case(letter.case_id);
    if (owner != nullptr && owner->state == CaseState::cancelled) {
        return fail(
            ErrorCode::conflict,
            fmt::format("case {} was cancelled", text(letter.case_id)),
            "drop the dead letter"
        );
    }
    const auto data = base::parse_json(letter.data.view(), base::limits::stored);
    if (!data) return fail(ErrorCode::tamper, data.error().message, "netwright audit verify");
    if (const auto unfit = not_redrivable(*data)) {
        return fail(
            ErrorCode::conflict,
            fmt::format("{} {}", text(id), *unfit),
            "put its tokens elsewhere, and drop the dead letter"
        );
    }
    Event event;
    event.type = EventType::dead_letter_redriven;
    event.case_id = letter.case_id;
    event.net = data->value("net", "");
    event.transition = data->value("transition", "");
    event.consumed.push_back(id);
    std::vector<base::ErrorDetail> faults;
    for (const auto& token : data->at("tokens")) {
        const PlaceName place{token.value("net", ""), token.value("place", "")};
        const auto place_id = state.place_in_force(place);
        if (!place_id) {
            return fail(
                ErrorCode::conflict,
                fmt::format("{} is gone", place_text(place)),
                "deploy a version that has it, or drop the dead letter and put its tokens elsewhere"
            );
        }
        const auto text = base::canonical(token.at("data"));
        auto misfits = arrival_faults(
            state.store.place(*place_id),
            text,
            fmt::format("/tokens/{}/data", event.produced.size())
        );
        std::ranges::move(misfits, std::back_inserter(faults));
        event.produced.push_back({
            .place = *place_id,
            .case_id = base::case_id(token.value("case", "")).value_or(base::CaseId{}),
            .data = places::Payload::make(text),
        });
    }
    if (!faults.empty()) {
        return fail(base::Error{
            ErrorCode::conflict,
            "a token of the dead letter no longer fits its place",
            "drop the dead letter and put a token that fits",
            std::move(faults)
        });
    }
    for (const auto& token : event.produced) {
        const auto& box = state.store.place(token.place);
        const auto more = std::ranges::count(event.produced, token.place, &NewToken::place);
        if (box.has_room(static_cast<std::uint64_t>(more))) continue;
        if (static_cast<std::uint64_t>(more) > *box.capacity) {
            return fail(
                ErrorCode::conflict,
                fmt::format(
                    "the dead letter puts {} tokens into place '{}', whose capacity is {}",
                    more,
                    box.name,
                    *box.capacity
                ),
                "deploy a version in which the place holds as many, or drop the dead letter and "
                "put its tokens one by one"
            );
        }
        return fail(
            ErrorCode::conflict,
            fmt::format("place '{}' is at its capacity of {}", box.name, *box.capacity),
            "wait until the net has taken tokens from it"
        );
    }
    const auto case_id = event.case_id;
    Decisions decisions{model, asker};
    const Seq seq = decisions.emit(std::move(event));
    // The places may be end places by now.
    if (case_id) decisions.end_if_quiet(case_id);
    return seq;
}

Result<Seq> drop(Model& model, base::TokenId id, const Asker& asker) {
    const auto slot = dead_letter(model.state(), id);
    if (!slot) return fail(slot.error());
    Event event;
    event.type = EventType::dead_letter_dropped;
    event.case_id = model.state().store.token(*slot).case_id;
    event.consumed.push_back(id);
    return Decisions{model, asker}.emit(std::move(event));
}

Seq write(Model& model, const Change& change, const Asker& asker) {
    Decisions decisions{model, asker};
    Event event;
    event.type = change.type;
    event.info = change.info;
    event.consumed.assign(change.consumed.begin(), change.consumed.end());
    for (const auto& [place, data] : change.produced) {
        event.produced.push_back({
            .place = decisions.state().ensure_place({"", place}),
            .data = places::Payload::make(data),
        });
    }
    return decisions.emit(std::move(event));
}

}  // namespace engine
