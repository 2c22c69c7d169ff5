#include "server/run_history.hpp"

#include "base/clock.hpp"
#include "base/limits.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string_view>
#include <utility>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Json;
using base::Result;

namespace {

constexpr std::size_t progress_shown_max = 100;

std::string type_of(const Json& record) {
    return record.at("type").get<std::string>();
}

bool ends(std::string_view type) {
    return type == "operation.finalized" || type == "operation.failed" ||
           type == "operation.abandoned" || type == "operation.cancelled";
}

std::string time_of(const Json& record) {
    return base::rfc3339({record.at("ts").get<std::int64_t>()});
}

// `operation.finalized` -> `finalized`; a record that resets says `cancelled` of what it ends.
std::string state_of(const Json& record) {
    constexpr std::string_view family = "operation.";
    const auto type = type_of(record);
    return type.starts_with(family) ? type.substr(family.size()) : "cancelled";
}

bool begins(const Json& record) {
    const auto type = type_of(record);
    const bool first = type == "operation.invoking" || type == "operation.failed";
    return first && !record.at("data").contains("operation");
}

// What was printed: beside the answer, or in the details of the error.
void put_output(Json& entry, const Json& data) {
    if (data.contains("info") && data.at("info").contains("output")) {
        entry["output"] = data.at("info").at("output");
    }
    if (!data.contains("error")) return;
    const Json& error = data.at("error");
    const bool printed = error.contains("details") && error.at("details").is_object() &&
                         error.at("details").contains("stdout");
    if (printed && !entry.contains("output")) {
        entry["output"] = error.at("details");
        if (error.contains("usage")) entry["output"]["usage"] = error.at("usage");
    }
    entry["error"] = {{"code", error.at("code")}, {"message", error.at("message")}};
}

Json attempt_entry(const Json& record, std::string outcome) {
    const Json& data = record.at("data");
    Json entry = {
        {"attempt", data.value("attempt", 1)},
        {"outcome", std::move(outcome)},
        {"seq", record.at("seq")},
        {"at", time_of(record)},
    };
    if (data.contains("executor")) entry["executor"] = data.at("executor");
    put_output(entry, data);
    return entry;
}

}  // namespace

Result<RunHistory> run_history(
    engine::EventLog& log, const std::string& model, base::OperationId id, base::Seq last
) {
    const auto unknown = [&] {
        return fail(ErrorCode::not_found, fmt::format("operation {} is unknown", text(id)));
    };
    if (!id || id.seq > last) return unknown();
    RunHistory history;
    const auto mark = '"' + text(id) + '"';
    base::Seq from = id.seq;
    while (from <= last) {
        if (from - id.seq > history_records_max) {
            return fail(
                ErrorCode::limit,
                fmt::format(
                    "operation {} did not end within {} records", text(id), history_records_max
                ),
                fmt::format("look through the log: netwright events --from {}", from)
            );
        }
        const auto page = log.read(model, from, {});
        if (!page) return fail(page.error());
        if (page->records.empty()) break;
        for (const auto& record : page->records) {
            if (record.seq > last) return history;
            const bool first = record.seq == id.seq;
            // Most records are of others: they are not parsed.
            if (!first && !record.bytes.contains(mark)) continue;
            auto json = base::parse_json(record.bytes, base::limits::stored);
            if (!json) return fail(std::move(json.error()));
            if (first && !begins(*json)) return unknown();
            const Json& data = json->at("data");
            const bool own = first || data.value("operation", "") == text(id);
            const auto reset = data.find("cancelled");
            const bool was_reset =
                reset != data.end() && std::ranges::find(*reset, Json(text(id))) != reset->end();
            if (!own && !was_reset) continue;
            history.over = was_reset || ends(type_of(*json));
            history.records.push_back(std::move(*json));
            if (history.over) return history;
        }
        from = page->records.back().seq + 1;
    }
    return history;
}

Result<std::vector<Json>> late_records(
    engine::EventLog& log, const std::string& model, const std::vector<base::Seq>& seqs
) {
    std::vector<Json> records;
    for (const auto seq : seqs) {
        const auto page = log.read(model, seq, {.records_max = 1});
        if (!page) return fail(page.error());
        if (page->records.empty() || page->records.front().seq != seq) continue;
        const auto bytes = page->records.front().bytes;
        auto json = base::parse_json(bytes, base::limits::stored);
        if (!json) return fail(std::move(json.error()));
        records.push_back(std::move(*json));
    }
    return records;
}

Json ended_view(base::OperationId id, const RunHistory& history) {
    const Json& begun = history.records.front();
    const Json& ended = history.records.back();
    const Json& data = ended.at("data");
    Json view = {
        {"id", text(id)},
        {"state", state_of(ended)},
        {"attempt", data.value("attempt", 1)},
        {"started", time_of(begun)},
        {"ended", time_of(ended)},
        {"seq", ended.at("seq")},
    };
    for (const char* name : {"net", "transition", "case", "toolId", "versionHash", "effect"}) {
        if (begun.at("data").contains(name)) view[name] = begun.at("data").at(name);
    }
    if (state_of(ended) != "cancelled" && data.contains("error")) view["error"] = data.at("error");
    for (const auto& record : history.records) {
        if (type_of(record) == "lease.granted") {
            view["executor"] = record.at("data").at("executor");
            view["attempt"] = record.at("data").value("attempt", 1);
        }
    }
    return view;
}

Json late_view(const std::vector<Json>& records) {
    Json items = Json::array();
    for (const auto& record : records) {
        const Json& data = record.at("data");
        Json item = attempt_entry(record, data.at("info").at("outcome"));
        for (const char* name : {"digest", "result"}) {
            if (data.at("info").contains(name)) item[name] = data.at("info").at(name);
        }
        if (data.contains("error")) item["error"] = data.at("error");
        items.push_back(std::move(item));
    }
    return items;
}

Json attempts_view(const RunHistory& history, const std::vector<Json>& late) {
    Json attempts = Json::array();
    std::map<std::int64_t, std::string> executors;
    std::map<std::int64_t, Json> progress;
    for (const auto& record : history.records) {
        const auto type = type_of(record);
        const Json& data = record.at("data");
        const auto attempt = data.value("attempt", std::int64_t{1});
        if (type == "lease.granted") executors[attempt] = data.at("executor");
        if (type == "operation.progress") {
            auto& lines = progress[attempt];
            if (lines.size() >= progress_shown_max) lines.erase(0);
            lines.push_back(
                {{"at", time_of(record)},
                 {"percent", data.at("info").at("percent")},
                 {"message", data.at("info").at("message")}}
            );
        }
        const bool closes = type == "operation.retrying" || type == "operation.uncertain" ||
                            type == "operation.returned" || ends(type);
        if (!closes || (type == "operation.failed" && history.records.size() == 1)) continue;
        Json entry = attempt_entry(record, state_of(record));
        if (executors.contains(attempt)) entry["executor"] = executors.at(attempt);
        if (progress.contains(attempt)) entry["progress"] = progress.at(attempt);
        attempts.push_back(std::move(entry));
    }
    for (const auto& record : late)
        attempts.push_back(attempt_entry(record, "late"));
    return attempts;
}

}  // namespace server
