#include "cli/stopped_audit.hpp"

#include "blobstore/file_store.hpp"
#include "engine/audit.hpp"
#include "engine/data_directory.hpp"
#include "engine/refold.hpp"
#include "engine/rocks_log.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

namespace cli {

namespace {

using base::Json;

Json report_json(const engine::AuditReport& report, const Json& snapshots) {
    Json findings = Json::array();
    for (const auto& finding : report.findings) {
        findings.push_back({
            {"first", finding.first},
            {"last", finding.last},
            {"fault", engine::name(finding.fault)},
            {"message", finding.message},
        });
    }
    return {
        {"model", report.model},
        {"ok", report.ok() && snapshots.empty()},
        {"head", engine::anchor_text(report.head)},
        {"findings", std::move(findings)},
        {"unlisted", report.unlisted},
        {"snapshots", snapshots},
    };
}

Json storage_json(const std::vector<engine::StorageFault>& faults) {
    Json list = Json::array();
    for (const auto& fault : faults) {
        list.push_back({
            {"model", fault.model},
            {"first", fault.first},
            {"last", fault.last},
            {"message", fault.message},
        });
    }
    return list;
}

Outcome<void> check_directory(const std::filesystem::path& data) {
    std::error_code ignored;
    if (std::filesystem::is_directory(data / "log", ignored)) return {};
    return wrong_usage(
        fmt::format("{} is no data directory of a master", data.string()),
        "name the directory that 'netwright serve --data' has"
    );
}

}  // namespace

Outcome<Json> audit_stopped(const std::filesystem::path& data, const AuditWish& wish) {
    if (auto good = check_directory(data); !good) return std::unexpected(std::move(good.error()));
    std::optional<engine::LogHead> anchor;
    if (!wish.anchor.empty()) {
        const auto head = engine::parse_anchor(wish.anchor);
        if (!head) return wrong_usage(head.error());
        anchor = *head;
    }
    auto directory = engine::DataDirectory::open_to_read(data);
    if (!directory) return failed(std::move(directory.error()));
    const auto blobs =
        blobstore::FileStore::open({.folder = directory->blobs(), .read_only = true});
    if (!blobs) return failed(blobs.error());
    auto log = engine::open_rocks_log(
        directory->log(), {.access = engine::LogAccess::read_only, .blobs = blobs->get()}
    );
    if (!log) return failed(std::move(log.error()));
    engine::SnapshotStore snapshots(directory->snapshots());
    std::map<std::string, engine::Refold, std::less<>> refolds;
    const auto options_of = [&](std::string_view model) {
        engine::AuditOptions options{.progress = wish.progress};
        if (model == wish.model.value_or("default")) options.anchor = anchor;
        using Derived = engine::Refold::Derived;
        const auto derived = wish.state ? Derived::compared : Derived::left_alone;
        auto& refold =
            refolds.try_emplace(std::string(model), **log, snapshots, model, derived).first->second;
        options.visit = [&refold](const engine::StoredRecord& record, const Json&) {
            return refold.visit(record);
        };
        return options;
    };
    auto audit = engine::verify_all(**log, options_of);
    if (!audit) return failed(std::move(audit.error()));
    Json models = Json::array();
    bool ok = audit->unexplained.empty();
    for (const auto& report : audit->models) {
        if (wish.model && report.model != *wish.model) continue;
        const auto& refold = refolds.at(report.model);
        models.push_back(report_json(report, engine::refold_json(refold.findings())));
        ok = ok && models.back().at("ok").get<bool>();
    }
    if (wish.model && models.empty()) {
        return failed(
            {base::ErrorCode::not_found,
             fmt::format("model '{}' does not exist", *wish.model),
             {},
             {}}
        );
    }
    return Json{
        {"ok", ok}, {"models", std::move(models)}, {"storage", storage_json(audit->unexplained)}
    };
}

}  // namespace cli
