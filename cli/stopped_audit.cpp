#include "cli/stopped_audit.hpp"

#include "engine/audit.hpp"
#include "engine/data_directory.hpp"
#include "engine/model.hpp"
#include "engine/rocks_log.hpp"
#include "engine/snapshot.hpp"

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

/// Folds the records of one model, and compares with its snapshots on the way.
class Refold {
public:
    Refold(engine::SnapshotStore& snapshots, std::string_view model)
        : model_(std::make_unique<engine::Model>(std::string(model))) {
        const auto seqs = snapshots.list(model);
        if (!seqs) {
            wrong_.push_back({{"snapshot", 0}, {"message", seqs.error().message}});
            return;
        }
        for (const auto seq : *seqs) {
            const auto snapshot = snapshots.open(model, seq);
            if (snapshot) {
                wanted_[seq] = snapshot->info().state_hash;
            } else {
                wrong_.push_back({{"snapshot", seq}, {"message", snapshot.error().message}});
            }
        }
    }

    std::optional<std::string> visit(const engine::StoredRecord& record) {
        const auto done = model_->replay(record.bytes);
        if (!done) return done.error().message;
        const auto snapshot = wanted_.find(record.seq);
        if (snapshot == wanted_.end()) return std::nullopt;
        if (engine::state_hash(model_->state()) != snapshot->second) {
            wrong_.push_back(
                {{"snapshot", record.seq},
                 {"message", "the snapshot's state is not what the log folds to"}}
            );
        }
        return std::nullopt;
    }

    [[nodiscard]] const Json& wrong() const { return wrong_; }

private:
    std::unique_ptr<engine::Model> model_;
    std::map<engine::Seq, base::Digest> wanted_;
    Json wrong_ = Json::array();
};

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
    auto directory = engine::DataDirectory::open(data);
    if (!directory) return failed(std::move(directory.error()));
    auto log = engine::open_rocks_log(directory->log(), {.access = engine::LogAccess::read_only});
    if (!log) return failed(std::move(log.error()));
    engine::SnapshotStore snapshots(directory->snapshots());
    std::map<std::string, Refold, std::less<>> refolds;
    const auto options_of = [&](std::string_view model) {
        engine::AuditOptions options{.progress = wish.progress};
        if (model == wish.model.value_or("default")) options.anchor = anchor;
        if (wish.state) {
            auto& refold = refolds.try_emplace(std::string(model), snapshots, model).first->second;
            options.visit = [&refold](const engine::StoredRecord& record, const Json&) {
                return refold.visit(record);
            };
        }
        return options;
    };
    auto audit = engine::verify_all(**log, options_of);
    if (!audit) return failed(std::move(audit.error()));
    Json models = Json::array();
    bool ok = audit->unexplained.empty();
    for (const auto& report : audit->models) {
        if (wish.model && report.model != *wish.model) continue;
        const auto refold = refolds.find(report.model);
        models.push_back(
            report_json(report, refold == refolds.end() ? Json::array() : refold->second.wrong())
        );
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
