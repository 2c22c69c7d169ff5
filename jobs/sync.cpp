#include "jobs/sync.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

namespace jobs {

namespace {

constexpr std::array phases{Phase::preparing, Phase::running, Phase::stopping, Phase::collecting};
constexpr std::array verdicts{
    Verdict::applied, Verdict::duplicate, Verdict::fenced, Verdict::conflict, Verdict::unknown
};
constexpr std::array cancel_reasons{CancelReason::requested, CancelReason::fenced};

constexpr wire::IntegerRule slots_rule{0, static_cast<std::int64_t>(leases_held_max)};
constexpr wire::IntegerRule wait_rule{0, sync_wait_max.us / 1000};
constexpr std::int64_t hour_ms = 3'600'000;

template <class All>
auto named(const All& all, std::string_view text) {
    const auto found = std::ranges::find_if(all, [&](auto value) { return name(value) == text; });
    return found == all.end() ? std::nullopt : std::optional(*found);
}

template <class Enum>
Enum read_word(
    wire::ObjectReader& reader, std::string_view key, std::optional<Enum> (*parse)(std::string_view)
) {
    const auto text = reader.text(key, {64, false});
    const auto value = parse(text);
    if (!value && !text.empty()) reader.fault(key, fmt::format("'{}' is not known", text));
    return value.value_or(Enum{});
}

base::Json running_json(const Running& running) {
    base::Json json = {{"phase", name(running.phase)}, {"usage", to_json(running.usage)}};
    put_ref(json, running.ref);
    if (running.progress) json["progress"] = to_json(*running.progress);
    return json;
}

Running read_running(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Running running;
    running.ref = read_ref(reader);
    running.phase = read_word<Phase>(reader, "phase", phase);
    if (const auto* usage = reader.required("usage")) {
        running.usage = read_usage(*usage, reader.child("usage"), faults);
    }
    if (const auto* progress = reader.optional("progress")) {
        running.progress = read_progress(*progress, reader.child("progress"), faults);
    }
    reader.finish();
    return running;
}

base::Json done_json(const Done& done) {
    base::Json json = {{"outcome", to_json(done.outcome)}};
    put_ref(json, done.ref);
    return json;
}

Done read_done(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Done done;
    done.ref = read_ref(reader);
    if (const auto* outcome = reader.required("outcome")) {
        done.outcome = read_outcome(*outcome, reader.child("outcome"), faults);
    }
    reader.finish();
    return done;
}

// The introduction's members stand beside the others: labels, capabilities and slots, all or none.
std::optional<Introduction> read_introduction(wire::ObjectReader& reader, wire::Faults& faults) {
    const auto* capabilities = reader.optional("capabilities");
    if (capabilities == nullptr) {
        for (const char* key : {"labels", "slots"}) {
            if (reader.optional(key) != nullptr) reader.fault(key, "comes only with capabilities");
        }
        return std::nullopt;
    }
    Introduction introduction;
    introduction.slots = reader.integer("slots", slots_rule);
    introduction.labels = reader.text_map("labels", labels_max);
    introduction.capabilities =
        read_capabilities(*capabilities, reader.child("capabilities"), faults);
    return introduction;
}

// A lease that cannot be taken is refused alone, if it says at least which it is.
void read_granted(
    const base::Json& json, const std::string& pointer, SyncReply& reply, wire::Faults& faults
) {
    wire::Faults own;
    auto lease = read_lease(json, pointer, own);
    if (own.empty()) return reply.leases.push_back(std::move(lease));
    auto ref = lease.ref();
    const bool known = valid_lease_id(ref.lease.text) && ref.fencing != 0 && !ref.model.empty() &&
                       ref.attempt.operation && ref.attempt.n != 0;
    if (known) {
        reply.refused.push_back({std::move(ref), wire::error("the lease", std::move(own)).message});
    } else {
        faults.insert(faults.end(), own.begin(), own.end());
    }
}

Cancel read_cancel(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Cancel cancel{
        read_lease_id(reader, "lease"), read_word<CancelReason>(reader, "reason", cancel_reason)
    };
    reader.finish();
    return cancel;
}

Drop read_drop(const base::Json& json, const std::string& pointer, wire::Faults& faults) {
    wire::ObjectReader reader(json, pointer, faults);
    Drop drop{read_lease_id(reader, "lease"), read_word<Verdict>(reader, "verdict", verdict)};
    reader.finish();
    return drop;
}

}  // namespace

std::string_view name(Phase phase) {
    switch (phase) {
        case Phase::preparing:
            return "preparing";
        case Phase::running:
            return "running";
        case Phase::stopping:
            return "stopping";
        case Phase::collecting:
            return "collecting";
    }
    std::unreachable();
}

std::string_view name(Verdict verdict) {
    switch (verdict) {
        case Verdict::applied:
            return "applied";
        case Verdict::duplicate:
            return "duplicate";
        case Verdict::fenced:
            return "fenced";
        case Verdict::conflict:
            return "conflict";
        case Verdict::unknown:
            return "unknown";
    }
    std::unreachable();
}

std::string_view name(CancelReason reason) {
    switch (reason) {
        case CancelReason::requested:
            return "requested";
        case CancelReason::fenced:
            return "fenced";
    }
    std::unreachable();
}

std::optional<Phase> phase(std::string_view name) {
    return named(phases, name);
}
std::optional<Verdict> verdict(std::string_view name) {
    return named(verdicts, name);
}
std::optional<CancelReason> cancel_reason(std::string_view name) {
    return named(cancel_reasons, name);
}

base::Json to_json(const SyncRequest& request) {
    base::Json json = {
        {"session", request.session},
        {"seq", static_cast<std::int64_t>(request.seq)},
        {"answered", static_cast<std::int64_t>(request.answered)},
        {"capacity", request.capacity},
        {"waitMs", request.wait.ms()},
    };
    if (request.draining) json["draining"] = true;
    if (request.introduction) {
        json["slots"] = request.introduction->slots;
        json["labels"] = request.introduction->labels;
        json["capabilities"] = to_json(request.introduction->capabilities);
    }
    auto& running = json["running"] = base::Json::array();
    for (const auto& one : request.running)
        running.push_back(running_json(one));
    auto& done = json["done"] = base::Json::array();
    for (const auto& one : request.done)
        done.push_back(done_json(one));
    if (!request.lost.empty()) {
        auto& lost = json["lost"] = base::Json::array();
        for (const auto& ref : request.lost)
            put_ref(lost.emplace_back(base::Json::object()), ref);
    }
    return json;
}

base::Result<SyncRequest> sync_request_from_json(const base::Json& json) {
    wire::Faults faults;
    wire::ObjectReader reader(json, "", faults);
    SyncRequest request;
    request.session = static_cast<std::uint64_t>(reader.integer("session", {1, session_max}));
    request.seq = static_cast<std::uint64_t>(reader.integer("seq", {1, INT64_MAX}));
    request.answered = static_cast<std::uint64_t>(reader.integer("answered"));
    if (request.answered >= request.seq) reader.fault("answered", "is not below seq");
    request.capacity = reader.integer("capacity", slots_rule);
    request.wait = base::milliseconds(reader.integer("waitMs", wait_rule));
    if (reader.optional("draining") != nullptr) request.draining = reader.boolean("draining");
    request.introduction = read_introduction(reader, faults);
    reader.each("running", leases_held_max, [&](const base::Json& one, const std::string& at) {
        request.running.push_back(read_running(one, at, faults));
    });
    reader.each("done", leases_held_max, [&](const base::Json& one, const std::string& at) {
        request.done.push_back(read_done(one, at, faults));
    });
    reader.each("lost", leases_held_max, [&](const base::Json& one, const std::string& at) {
        wire::ObjectReader lost(one, at, faults);
        request.lost.push_back(read_ref(lost));
        lost.finish();
    });
    reader.finish();
    if (!faults.empty()) return base::fail(wire::error("the sync", std::move(faults)));
    return request;
}

base::Json to_json(const SyncReply& reply) {
    base::Json json = {
        {"master", reply.master},
        {"seq", static_cast<std::int64_t>(reply.seq)},
        {"heldMs", reply.held.ms()},
        {"nextSyncMs", reply.next_sync.ms()},
        {"drain", reply.drain},
    };
    if (reply.introduce) json["introduce"] = true;
    auto& leases = json["leases"] = base::Json::array();
    for (const auto& lease : reply.leases)
        leases.push_back(to_json(lease));
    auto& cancel = json["cancel"] = base::Json::array();
    for (const auto& one : reply.cancel)
        cancel.push_back({{"lease", one.lease.text}, {"reason", name(one.reason)}});
    auto& drop = json["drop"] = base::Json::array();
    for (const auto& one : reply.drop)
        drop.push_back({{"lease", one.lease.text}, {"verdict", name(one.verdict)}});
    return json;
}

base::Result<SyncReply> sync_reply_from_json(const base::Json& json) {
    wire::Faults faults;
    wire::ObjectReader reader(json, "", faults);
    SyncReply reply;
    reply.master = reader.text("master", {64, false});
    reply.seq = static_cast<std::uint64_t>(reader.integer("seq", {1, INT64_MAX}));
    reply.held = base::milliseconds(reader.integer("heldMs", {0, hour_ms}));
    reply.next_sync = base::milliseconds(reader.integer("nextSyncMs", {0, hour_ms}));
    reply.drain = reader.boolean("drain");
    if (reader.optional("introduce") != nullptr) reply.introduce = reader.boolean("introduce");
    reader.each("leases", leases_held_max, [&](const base::Json& one, const std::string& at) {
        read_granted(one, at, reply, faults);
    });
    reader.each("cancel", leases_held_max, [&](const base::Json& one, const std::string& at) {
        reply.cancel.push_back(read_cancel(one, at, faults));
    });
    reader.each("drop", leases_held_max, [&](const base::Json& one, const std::string& at) {
        reply.drop.push_back(read_drop(one, at, faults));
    });
    reader.finish();
    if (!faults.empty()) return base::fail(wire::error("the answer", std::move(faults)));
    return reply;
}

}  // namespace jobs
