#include "tests/simulation/checker.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace simulation {

namespace {

base::TokenId token(const base::Json& id) {
    const auto parsed = base::token_id(id.get<std::string>());
    require(parsed.has_value(), "a record holds a malformed token id");
    return *parsed;
}

base::OperationId operation_of(const base::Json& data) {
    if (!data.contains("operation")) return {};
    return base::operation_id(data.at("operation").get<std::string>()).value();
}

// The edges of engine.md that are reached without approvals.
bool edge_allowed(const std::string& from, const std::string& to) {
    static const std::map<std::string, std::set<std::string>> edges = {
        {"invoking", {"retrying", "uncertain", "returned", "finalized", "cancelled"}},
        {"retrying", {"invoking", "cancelled"}},
        {"uncertain", {"abandoned", "returned", "finalized", "cancelled"}},
        {"returned", {"abandoned", "finalized", "cancelled"}},
    };
    const auto found = edges.find(from);
    return found != edges.end() && found->second.contains(to);
}

bool is_final(const std::string& state) {
    return state == "finalized" || state == "abandoned" || state == "cancelled";
}

}  // namespace

void LogChecker::record(base::Seq seq, std::string_view bytes) {
    require(seq == last_ + 1, fmt::format("record {} follows record {}", seq, last_));
    last_ = seq;
    const auto record = base::parse_json(bytes);
    require(record.has_value(), "a record is no JSON");
    const std::string type = record->at("type");
    const base::Json& data = record->at("data");
    remember_key(seq, type, *record);
    constexpr std::string_view prefix = "operation.";
    const auto id = operation_of(data);
    tokens_of(seq, data, id);
    if (type == "operation.late_result" || type == "operation.failed") return;
    if (type.starts_with(prefix)) operation(seq, type.substr(prefix.size()), data);
    if (type == "lease.granted") lease(data);
}

void LogChecker::remember_key(base::Seq seq, const std::string& type, const base::Json& record) {
    if (!record.contains("cause") || !record.at("cause").is_object()) return;
    const base::Json& cause = record.at("cause");
    if (!cause.contains("key")) return;
    const std::string key = cause.at("key");
    keys_.try_emplace(key, seq);
    const bool whole = type == "case.started" || type == "tokens.put" || type == "case.cancelled" ||
                       type == "operation.abandoned";
    const bool twice = whole && !done_.emplace(key, type).second;
    require(!twice, fmt::format("request {} was carried out twice, again in {}", key, seq));
}

void LogChecker::tokens_of(base::Seq seq, const base::Json& data, base::OperationId operation) {
    if (data.contains("consumed")) {
        for (const auto& id : data.at("consumed")) {
            const auto found = tokens_.find(token(id));
            require(
                found != tokens_.end(),
                fmt::format("record {} consumes {}, which is not there", seq, id.dump())
            );
            require(
                !found->second || found->second == operation,
                fmt::format("record {} takes {} from {}", seq, id.dump(), text(found->second))
            );
            tokens_.erase(found);
        }
    }
    if (!data.contains("produced")) return;
    for (std::uint32_t n = 0; n < data.at("produced").size(); ++n)
        tokens_.emplace(base::TokenId{seq, n}, base::OperationId{});
}

void LogChecker::begin(base::Seq seq, const base::Json& data) {
    Operation made;
    made.state = "invoking";
    made.effect = data.at("effect");
    for (const auto& arc : data.at("reserved")) {
        for (const auto& id : arc) {
            const auto found = tokens_.find(token(id));
            require(
                found != tokens_.end() && !found->second,
                fmt::format("o{} reserves {}, which is not free", seq, id.dump())
            );
            found->second = {seq};
            made.reserved.insert(found->first);
        }
    }
    operations_.emplace(base::OperationId{seq}, std::move(made));
    invoked_.insert({{seq}, 1});
}

void LogChecker::operation(base::Seq seq, const std::string& edge, const base::Json& data) {
    const auto id = operation_of(data);
    if (!id) {
        require(edge == "invoking", fmt::format("record {} begins with {}", seq, edge));
        return begin(seq, data);
    }
    const auto found = operations_.find(id);
    require(found != operations_.end(), fmt::format("record {}: unknown {}", seq, text(id)));
    Operation& known = found->second;
    require(
        edge_allowed(known.state, edge),
        fmt::format("record {}: {} goes from {} to {}", seq, text(id), known.state, edge)
    );
    if (edge == "invoking") {
        known.attempt += 1;
        require(
            data.at("attempt") == known.attempt, fmt::format("record {}: attempts skip one", seq)
        );
        invoked_.insert({id, known.attempt});
    }
    if (edge == "uncertain") {
        require(known.effect == "once", fmt::format("{} is uncertain, not once", text(id)));
    }
    known.state = edge;
    if (!is_final(edge)) return;
    for (const auto& held : known.reserved) {
        require(!tokens_.contains(held), fmt::format("{} kept {}", text(id), text(held)));
    }
    known.reserved.clear();
}

void LogChecker::lease(const base::Json& data) {
    const auto found = operations_.find(operation_of(data));
    require(found != operations_.end(), "a lease of an unknown operation");
    const std::uint64_t fencing = data.at("fencing");
    require(fencing > found->second.fencing, "a fencing number that does not grow");
    found->second.fencing = fencing;
}

std::set<base::TokenId> LogChecker::tokens() const {
    std::set<base::TokenId> all;
    for (const auto& [id, holder] : tokens_)
        all.insert(id);
    return all;
}

void Ledger::effect(const std::string& executor, const jobs::Lease& lease) {
    ++effects_;
    const auto log = logs_.find(lease.job.model);
    require(
        log != logs_.end() && log->second.invoked(lease.job.attempt),
        fmt::format("{} ran before it was durably invoked", text(lease.job.attempt))
    );
    // What a pure job does is no effect: it may run again after a crash of its executor.
    if (lease.job.effect == jobs::Effect::pure) return;
    const auto attempt = lease.job.attempt;
    const auto who = executor + " under " + lease.id.text;
    const auto first = by_attempt_.emplace(std::pair{lease.job.model, attempt}, who);
    require(
        first.second,
        fmt::format("attempt {} ran twice: {}, and {}", text(attempt), first.first->second, who)
    );
    if (lease.job.effect != jobs::Effect::once) return;
    const auto once = once_.emplace(std::pair{lease.job.model, attempt.operation}, who);
    require(
        once.second,
        fmt::format(
            "{} is to run once: {}, and {}", text(attempt.operation), once.first->second, who
        )
    );
}

}  // namespace simulation
