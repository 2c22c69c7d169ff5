#include "base/limits.hpp"
#include "engine/fold_parts.hpp"
#include "engine/reader.hpp"
#include "engine/snapshot.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

// Reads the lines of a snapshot back into a state, in the order in which they were written.
class Restorer {
public:
    explicit Restorer(State& state) : state_(state) {}

    Result<void> line(std::string_view text) {
        if (text.starts_with(R"({"kind":"token")")) return token(text);
        auto parsed = base::parse_json(text, base::limits::stored);
        if (!parsed) return fail(parsed.error());
        try {
            return dispatch(*parsed);
        } catch (const Json::exception& error) {
            return fail(ErrorCode::tamper, fmt::format("snapshot line: {}", error.what()));
        }
    }

private:
    Result<void> dispatch(const Json& line) {
        const std::string kind = line.at("kind");
        if (kind == "state") {
            state_.seq = line.at("seq");
            state_.ts = {line.at("ts")};
            state_.epoch = line.at("epoch");
            state_.retired = line.at("retired");
        } else if (kind == "place") {
            auto& place =
                state_.store.place(state_.ensure_place({line.at("net"), line.at("name")}));
            place.cases = line.at("cases");
            if (line.contains("capacity"))
                place.capacity = line.at("capacity").get<std::uint64_t>();
        } else if (kind == "deployment") {
            return deployment(line);
        } else if (kind == "transition") {
            transition(line);
        } else if (kind == "net") {
            return net(line);
        } else if (kind == "case") {
            return restore_case(line);
        } else if (kind == "retiredOwner") {
            state_.retired_owners[{line.at("case")}] =
                &*state_.owners.insert(line.at("owner").get<std::string>()).first;
        } else if (kind == "operation") {
            return operation(line);
        } else if (kind == "lateResult") {
            state_.late_results.emplace_back(
                base::OperationId{line.at("operation")}, line.at("seq").get<Seq>()
            );
        } else if (kind == "pause") {
            state_.pauses[{line.at("net"), line.at("transition")}] = {
                line.at("by"), {line.at("at")}
            };
        } else if (kind == "request") {
            const auto digest = base::Digest::from_hex(line.at("digest").get<std::string>());
            if (!digest) return fail(ErrorCode::tamper, "snapshot request without a digest");
            const AnsweredRequest answered{*digest, line.at("seq")};
            if (!state_.requests.try_emplace(line.at("key"), answered).second)
                return malformed("request");
            state_.request_order.push_back(line.at("key"));
        } else {
            return fail(ErrorCode::unsupported, fmt::format("snapshot line of kind '{}'", kind));
        }
        return {};
    }

    Result<void> deployment(const Json& line) {
        auto compiled = nets::compile(line.at("document"));
        if (!compiled) return fail(compiled.error());
        auto made = std::make_shared<Deployment>();
        made->net = std::make_shared<const nets::Net>(std::move(*compiled));
        made->seq = line.at("seq");
        made->at = {line.at("at")};
        made->by = line.at("by");
        made->transitions = line.at("transitions").get<std::vector<TransitionId>>();
        for (const auto& place : made->net->places) {
            made->places.push_back(
                state_.ensure_place({place.shared ? "" : made->net->name, place.name})
            );
        }
        state_.deployments[made->seq] = made;
        held_.push_back(std::move(made));
        return {};
    }

    void transition(const Json& line) {
        TransitionEntry entry{.net = line.at("net"), .name = line.at("name")};
        entry.fired = line.at("fired");
        entry.failed = line.at("failed");
        entry.timer_next = {line.at("timerNext")};
        state_.transition_ids[{entry.net, entry.name}] =
            static_cast<TransitionId>(state_.transitions.size());
        state_.transitions.push_back(std::move(entry));
    }

    Result<void> net(const Json& line) {
        NetEntry& entry = state_.nets[line.at("name")];
        for (const auto& version : line.at("versions")) {
            const auto digest = base::Digest::from_hex(version.at("digest").get<std::string>());
            entry.versions.push_back(
                {version.at("version"),
                 version.at("seq"),
                 {version.at("at")},
                 version.at("by"),
                 digest.value_or(base::Digest{})}
            );
        }
        entry.current = engine::deployment(state_, line.at("current"));
        if (!entry.current) return {};
        const auto& ids = entry.current->transitions;
        const auto known = [&](TransitionId id) { return id < state_.transitions.size(); };
        if (ids.size() != entry.current->net->transitions.size() ||
            !std::ranges::all_of(ids, known)) {
            return malformed("net");
        }
        for (std::size_t i = 0; i < ids.size(); ++i) {
            auto& transition = state_.transitions[ids[i]];
            transition.deployment = entry.current;
            transition.index = static_cast<nets::TransitionIndex>(i);
        }
        return {};
    }

    static std::unexpected<base::Error> malformed(std::string_view kind) {
        return fail(ErrorCode::tamper, fmt::format("snapshot {} is malformed", kind));
    }

    Result<void> restore_case(const Json& line) {
        const base::CaseId id{line.at("id")};
        Case& made = state_.cases[id];
        made.id = id;
        made.deployment = engine::deployment(state_, line.at("deployment"));
        made.owner = line.at("owner");
        const int case_state = line.at("state");
        if (!made.deployment || case_state < 0 ||
            case_state > static_cast<int>(CaseState::cancelled)) {
            return malformed("case");
        }
        made.state = static_cast<CaseState>(case_state);
        made.started = {line.at("started")};
        made.ended = {line.at("ended")};
        made.parent = {line.value("parent", base::Seq{0})};
        made.depth = line.value("depth", made.depth);
        made.retirable = line.value("retirable", Seq{0});
        if (made.retirable != 0) state_.retirable.emplace(made.retirable, id);
        for (const auto& seq : line.at("operations"))
            made.operations.push_back({seq});
        for (const auto& summary : line.at("finished")) {
            made.finished.push_back(
                {{summary.at("id")},
                 summary.at("transition"),
                 summary.at("toolId"),
                 summary.at("versionHash"),
                 summary.at("state"),
                 summary.at("error")}
            );
        }
        return {};
    }

    Result<void> operation(const Json& line) {
        const base::OperationId id{line.at("id")};
        Operation& made = state_.operations[id];
        made.id = id;
        const int operation_state = line.at("state");
        made.state = static_cast<OperationState>(operation_state);
        made.revision = line.at("revision");
        made.transition = line.at("transition");
        made.deployment = engine::deployment(state_, line.at("deployment"));
        made.index = line.at("index");
        if (!made.deployment || made.index >= made.deployment->net->transitions.size() ||
            made.transition >= state_.transitions.size() || operation_state < 0 ||
            operation_state > static_cast<int>(OperationState::returned) ||
            line.at("reserved").size() > made.rules().in.size()) {
            return malformed("operation");
        }
        made.case_id = {line.at("case")};
        for (const auto& arc : line.at("reserved")) {
            auto& ids = made.reserved.emplace_back();
            for (const auto& text : arc) {
                ids.push_back(base::token_id(text.get<std::string>()).value_or(base::TokenId{}));
            }
        }
        made.values = line.at("values");
        made.attempt = line.at("attempt");
        made.lost = line.at("lost");
        made.started = {line.at("started")};
        made.next = {line.at("next")};
        made.call = line.at("call");
        made.tool_id = line.at("toolId");
        made.version_hash = line.at("versionHash");
        made.effect = line.at("effect");
        made.error = line.at("error");
        made.executor = line.at("executor");
        made.fencing = line.at("fencing");
        made.attempt_started = {line.value("attemptStarted", std::int64_t{0})};
        made.child = {line.value("child", base::Seq{0})};
        made.claim = line.value("claim", "");
        made.claimed_until = {line.value("claimedUntil", std::int64_t{0})};
        made.steps = line.value("steps", std::uint64_t{0});
        made.progress = line.value("progress", "");
        made.answer = line.value("answer", "");
        made.answered = {line.value("answered", std::int64_t{0})};
        made.room = line.at("room").get<std::vector<places::PlaceId>>();
        for (const auto place : made.room) {
            if (place >= state_.store.place_count()) return malformed("operation");
            state_.store.hold_room(place);
        }
        ++state_.transitions[made.transition].in_flight;
        index_work(state_, made);
        return {};
    }

    Result<void> token(std::string_view text) {
        Reader reader(text);
        places::Token made;
        reader.open_object();
        while (const auto key = reader.key()) {
            if (*key == "kind") {
                reader.string();
            } else if (*key == "id") {
                made.id = base::token_id(reader.string()).value_or(base::TokenId{});
            } else if (*key == "place") {
                made.place = static_cast<places::PlaceId>(reader.unsigned_integer());
            } else if (*key == "case") {
                made.case_id = {reader.unsigned_integer()};
            } else if (*key == "at") {
                made.at = {reader.integer()};
            } else if (*key == "visibleAt") {
                made.visible_at = {reader.integer()};
            } else if (*key == "holder") {
                made.holder = reader.unsigned_integer();
            } else {
                made.data = places::Payload::make(reader.raw());
            }
        }
        if (!reader.at_end() || made.place >= state_.store.place_count() || made.id.seq == 0 ||
            state_.store.find(made.id) != places::no_slot) {
            return malformed("token");
        }
        made.hidden = made.visible_at.us != 0 && made.holder == 0;
        if (made.hidden) state_.delayed.emplace(made.visible_at, made.id);
        count_restored(made);
        state_.store.add(std::move(made));
        return {};
    }

    void count_restored(const places::Token& token) {
        const bool dead = token.place == state_.dead_letter();
        if (dead) ++state_.dead_letters;
        Case* owner = state_.find_case(token.case_id);
        if (owner == nullptr) return;
        if (dead) {
            ++owner->dead_letters;
            return;
        }
        ++owner->tokens;
        if (!owner->deployment->ends_in(token.place)) ++owner->open_tokens;
        if (token.hidden) ++owner->delayed;
    }

    State& state_;
    std::vector<std::shared_ptr<const Deployment>> held_;
};

}  // namespace

Result<void> read_snapshot(State& state, SnapshotReader& reader) {
    Restorer restorer(state);
    base::Sha256 hasher;
    std::string pending;
    while (true) {
        const auto piece = reader.read();
        if (!piece) return fail(piece.error());
        if (piece->empty()) break;
        hasher.update(*piece);
        pending += *piece;
        std::size_t from = 0;
        for (auto end = pending.find('\n'); end != std::string::npos;
             end = pending.find('\n', from)) {
            auto done = restorer.line(std::string_view(pending).substr(from, end - from));
            if (!done) return done;
            from = end + 1;
        }
        pending.erase(0, from);
    }
    if (!pending.empty() || hasher.finish() != reader.info().state_hash) {
        return fail(ErrorCode::tamper, "the snapshot's state does not have the hash that it names");
    }
    for (const auto& [id, value] : state.cases) {
        for (const auto operation : value.operations) {
            if (state.find_operation(operation) == nullptr)
                return fail(ErrorCode::tamper, "snapshot case names an unknown operation");
        }
    }
    for (const auto& [name, entry] : state.nets) {
        if (entry.current) settle_places(state, *entry.current);
    }
    return {};
}

}  // namespace engine
