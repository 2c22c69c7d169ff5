#include "engine/snapshot.hpp"

#include "base/json.hpp"
#include "engine/fold_parts.hpp"
#include "engine/reader.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <utility>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

Json place_json(const places::Place& place) {
    Json line = {
        {"kind", "place"}, {"name", place.name}, {"net", place.net}, {"cases", place.cases}
    };
    if (place.capacity) line["capacity"] = *place.capacity;
    return line;
}

Json net_json(const std::string& name, const NetEntry& entry) {
    Json versions = Json::array();
    for (const auto& version : entry.versions) {
        versions.push_back(
            {{"version", version.version},
             {"seq", version.seq},
             {"at", version.at.us},
             {"by", version.by},
             {"digest", version.digest.hex()}}
        );
    }
    return {
        {"kind", "net"},
        {"name", name},
        {"current", entry.current ? entry.current->seq : 0},
        {"versions", std::move(versions)}
    };
}

Json summary_json(const OperationSummary& summary) {
    return {
        {"id", summary.id.seq},
        {"transition", summary.transition},
        {"toolId", summary.tool_id},
        {"versionHash", summary.version_hash},
        {"state", summary.state},
        {"error", summary.error}
    };
}

Json case_json(const Case& value) {
    Json finished = Json::array();
    for (const auto& summary : value.finished)
        finished.push_back(summary_json(summary));
    Json operations = Json::array();
    for (const auto id : value.operations)
        operations.push_back(id.seq);
    return {
        {"kind", "case"},
        {"id", value.id.seq},
        {"deployment", value.deployment->seq},
        {"owner", value.owner},
        {"state", static_cast<int>(value.state)},
        {"started", value.started.us},
        {"ended", value.ended.us},
        {"operations", std::move(operations)},
        {"finished", std::move(finished)}
    };
}

Json operation_json(const Operation& value) {
    Json reserved = Json::array();
    for (const auto& arc : value.reserved) {
        Json ids = Json::array();
        for (const auto id : arc)
            ids.push_back(text(id));
        reserved.push_back(std::move(ids));
    }
    return {
        {"kind", "operation"},
        {"id", value.id.seq},
        {"state", static_cast<int>(value.state)},
        {"revision", value.revision},
        {"transition", value.transition},
        {"deployment", value.deployment->seq},
        {"index", value.index},
        {"case", value.case_id.seq},
        {"reserved", std::move(reserved)},
        {"values", value.values},
        {"attempt", value.attempt},
        {"lost", value.lost},
        {"started", value.started.us},
        {"next", value.next.us},
        {"call", value.call},
        {"toolId", value.tool_id},
        {"versionHash", value.version_hash},
        {"effect", value.effect},
        {"error", value.error},
        {"executor", value.executor},
        {"fencing", value.fencing},
        {"room", value.room}
    };
}

// Deployments that are current or that a case or an operation still follows.
std::map<Seq, std::shared_ptr<const Deployment>> live_deployments(const State& state) {
    std::map<Seq, std::shared_ptr<const Deployment>> live;
    for (const auto& [name, entry] : state.nets) {
        if (entry.current) live.emplace(entry.current->seq, entry.current);
    }
    for (const auto& [id, value] : state.cases)
        live.emplace(value.deployment->seq, value.deployment);
    for (const auto& [id, value] : state.operations) {
        live.emplace(value.deployment->seq, value.deployment);
    }
    return live;
}

template <class Map>
auto sorted_values(const Map& map) {
    std::vector<const typename Map::mapped_type*> values;
    for (const auto& [id, value] : map)
        values.push_back(&value);
    std::ranges::sort(values, {}, [](const auto* value) { return value->id; });
    return values;
}

std::string token_line(const places::Token& token) {
    std::string line = fmt::format(
        R"({{"kind":"token","id":"{}","place":{},"case":{},"at":{},"visibleAt":{},"holder":{},"data":)",
        text(token.id),
        token.place,
        token.case_id.seq,
        token.at.us,
        token.visible_at.us,
        // A claim is no part of the state: a crash forgets it.
        (token.holder & places::claim_bit) != 0 ? 0 : token.holder
    );
    line += token.data.view();
    line += "}";
    return line;
}

}  // namespace

FrozenState::FrozenState(const State& state) : seq_(state.seq) {
    const auto add = [&](const Json& line) { lines_.push_back(line.dump()); };
    add(
        {{"kind", "state"},
         {"model", state.model},
         {"seq", state.seq},
         {"ts", state.ts.us},
         {"epoch", state.epoch}}
    );
    for (places::PlaceId id = 0; id < state.store.place_count(); ++id) {
        add(place_json(state.store.place(id)));
    }
    for (const auto& [seq, deployment] : live_deployments(state)) {
        lines_.push_back(fmt::format(
            R"({{"kind":"deployment","seq":{},"at":{},"by":{},"transitions":{},"document":{}}})",
            seq,
            deployment->at.us,
            Json(deployment->by).dump(),
            Json(deployment->transitions).dump(),
            deployment->net->document
        ));
    }
    for (const auto& transition : state.transitions) {
        add(
            {{"kind", "transition"},
             {"net", transition.net},
             {"name", transition.name},
             {"fired", transition.fired},
             {"failed", transition.failed},
             {"timerNext", transition.timer_next.us}}
        );
    }
    for (const auto& [name, entry] : state.nets)
        add(net_json(name, entry));
    for (const auto* value : sorted_values(state.cases))
        add(case_json(*value));
    for (const auto* value : sorted_values(state.operations))
        add(operation_json(*value));
    for (const auto& key : state.request_order) {
        const auto& request = state.requests.at(key);
        add(
            {{"kind", "request"},
             {"key", key},
             {"digest", request.digest.hex()},
             {"seq", request.seq}}
        );
    }
    tokens_.reserve(state.store.size());
    state.store.for_each([&](const places::Token& token) { tokens_.push_back(token); });
}

void FrozenState::write(const std::function<bool(std::string_view)>& sink) const {
    for (const auto& line : lines_) {
        if (!sink(line)) return;
    }
    std::vector<const places::Token*> order;
    order.reserve(tokens_.size());
    for (const auto& token : tokens_)
        order.push_back(&token);
    std::ranges::sort(order, {}, [](const places::Token* token) { return token->id; });
    for (const auto* token : order) {
        if (!sink(token_line(*token))) return;
    }
}

base::Digest state_hash(const State& state) {
    base::Sha256 hasher;
    FrozenState(state).write([&](std::string_view line) {
        hasher.update(line).update("\n");
        return true;
    });
    return hasher.finish();
}

Result<SnapshotInfo> write_snapshot(
    SnapshotStore& store, const FrozenState& state, std::string_view model, const LogHead& head
) {
    auto writer = store.create(model, head);
    if (!writer) return fail(writer.error());
    base::Sha256 hasher;
    std::string pending;
    Result<void> written;
    const auto flush = [&] {
        written = writer->write(pending);
        pending.clear();
        return written.has_value();
    };
    state.write([&](std::string_view line) {
        hasher.update(line).update("\n");
        pending.append(line).push_back('\n');
        return pending.size() < (std::size_t{1} << 18U) || flush();
    });
    if (written && !pending.empty()) flush();
    if (!written) return fail(written.error());
    return writer->finish(hasher.finish());
}

namespace {

// Reads the lines of a snapshot back into a state, in the order in which they were written.
class Restorer {
public:
    explicit Restorer(State& state) : state_(state) {}

    Result<void> line(std::string_view text) {
        if (text.starts_with(R"({"kind":"token")")) return token(text);
        auto parsed = base::parse_json(text, {.bytes_max = std::size_t{64} << 20U});
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
            net(line);
        } else if (kind == "case") {
            restore_case(line);
        } else if (kind == "operation") {
            operation(line);
        } else if (kind == "request") {
            const auto digest = base::Digest::from_hex(line.at("digest").get<std::string>());
            if (!digest) return fail(ErrorCode::tamper, "snapshot request without a digest");
            state_.requests.try_emplace(line.at("key"), AnsweredRequest{*digest, line.at("seq")});
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

    void net(const Json& line) {
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
        if (!entry.current) return;
        for (std::size_t i = 0; i < entry.current->transitions.size(); ++i) {
            auto& transition = state_.transitions[entry.current->transitions[i]];
            transition.deployment = entry.current;
            transition.index = static_cast<nets::TransitionIndex>(i);
        }
    }

    void restore_case(const Json& line) {
        const base::CaseId id{line.at("id")};
        Case& made = state_.cases[id];
        made.id = id;
        made.deployment = engine::deployment(state_, line.at("deployment"));
        made.owner = line.at("owner");
        made.state = static_cast<CaseState>(line.at("state").get<int>());
        made.started = {line.at("started")};
        made.ended = {line.at("ended")};
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
    }

    void operation(const Json& line) {
        const base::OperationId id{line.at("id")};
        Operation& made = state_.operations[id];
        made.id = id;
        made.state = static_cast<OperationState>(line.at("state").get<int>());
        made.revision = line.at("revision");
        made.transition = line.at("transition");
        made.deployment = engine::deployment(state_, line.at("deployment"));
        made.index = line.at("index");
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
        made.room = line.at("room").get<std::vector<places::PlaceId>>();
        for (const auto place : made.room)
            state_.store.hold_room(place);
        ++state_.transitions[made.transition].in_flight;
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
        if (!reader.at_end() || made.place >= state_.store.place_count() || made.id.seq == 0) {
            return fail(ErrorCode::tamper, "snapshot token is malformed");
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
    for (const auto& [name, entry] : state.nets) {
        if (entry.current) take_schemas(state, *entry.current);
    }
    return {};
}

}  // namespace engine
