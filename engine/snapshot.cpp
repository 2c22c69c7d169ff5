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
    Json line = {
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
    if (value.retirable != 0) line["retirable"] = value.retirable;
    if (value.parent) {
        line["parent"] = value.parent.seq;
        line["depth"] = value.depth;
    }
    return line;
}

Json operation_json(const Operation& value) {
    Json reserved = Json::array();
    for (const auto& arc : value.reserved) {
        Json ids = Json::array();
        for (const auto id : arc)
            ids.push_back(text(id));
        reserved.push_back(std::move(ids));
    }
    Json line = {
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
    if (!value.progress.empty()) line["progress"] = value.progress;
    if (value.state == OperationState::returned) {
        line["answer"] = value.answer;
        line["answered"] = value.answered.us;
    }
    if (performer(value.rules()) == Performer::handler) return line;
    line["attemptStarted"] = value.attempt_started.us;
    line["child"] = value.child.seq;
    line["claim"] = value.claim;
    line["claimedUntil"] = value.claimed_until.us;
    line["steps"] = value.steps;
    return line;
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

std::vector<const Case*> sorted_cases(const State& state) {
    std::vector<const Case*> cases;
    for (const auto& [id, value] : state.cases)
        cases.push_back(&value);
    std::ranges::sort(cases, {}, &Case::id);
    return cases;
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
    const auto add = [&](const Json& line) {
        lines_.push_back(line.dump(-1, ' ', false, Json::error_handler_t::replace));
    };
    add(
        {{"kind", "state"},
         {"model", state.model},
         {"seq", state.seq},
         {"ts", state.ts.us},
         {"epoch", state.epoch},
         {"retired", state.retired}}
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
    for (const auto& [key, pause] : state.pauses) {
        add(
            {{"kind", "pause"},
             {"net", key.first},
             {"transition", key.second},
             {"by", pause.by},
             {"at", pause.at.us}}
        );
    }
    for (const auto* value : sorted_cases(state))
        add(case_json(*value));
    const std::map owners(state.retired_owners.begin(), state.retired_owners.end());
    for (const auto& [id, owner] : owners)
        add({{"kind", "retiredOwner"}, {"case", id.seq}, {"owner", *owner}});
    for (const auto& [id, value] : state.operations)
        add(operation_json(value));
    for (const auto& [operation, seq] : state.late_results)
        add({{"kind", "lateResult"}, {"operation", operation.seq}, {"seq", seq}});
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

}  // namespace engine
