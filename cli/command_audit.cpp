#include "base/json.hpp"
#include "base/plural.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "cli/stopped_audit.hpp"
#include "cli/table.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>
#include <system_error>
#include <utility>
#include <vector>

namespace cli {

namespace {

using base::Json;
namespace fs = std::filesystem;

struct VerifyOptions {
    bool state = false;
    std::string anchor;
};
void declare_verify(CLI::App& app, VerifyOptions& options) {
    app.add_flag(
        "--state", options.state, "Also fold the log from zero, and compare the snapshots"
    );
    app.add_option("--anchor", options.anchor, "SEQ:HASH that was kept elsewhere");
}

Outcome<Json> audit_running(Context& context, MasterClient& master, const VerifyOptions& options) {
    // A fold of a long log takes its time.
    constexpr auto audit_max = base::seconds(3600);
    std::vector<std::string> names;
    if (context.model) {
        names.push_back(*context.model);
    } else {
        const auto models = master.get_json("/api/models");
        if (!models) return std::unexpected(models.error());
        for (const auto& model : models->at("items"))
            names.push_back(model.at("id").get<std::string>());
    }
    Json reports = Json::array();
    bool ok = true;
    Progress progress("models verified");
    for (const auto& name : names) {
        progress.show(reports.size(), names.size(), "");
        QueryText query;
        if (options.state) query.add("state", "true");
        if (name == context.model_name()) query.add_given("anchor", options.anchor);
        auto report = master.get_json(model_target(name, {"audit"}) + query.text(), audit_max);
        if (!report) return std::unexpected(report.error());
        ok = ok && report->at("ok").get<bool>();
        reports.push_back(std::move(*report));
    }
    return Json{{"ok", ok}, {"models", std::move(reports)}, {"storage", Json::array()}};
}

// A directory whose master does not run is read here.
bool stopped(const Context& context) {
    if (context.data.empty()) return false;
    std::error_code ignored;
    if (!fs::exists(fs::path(context.data) / "endpoint.json", ignored)) return true;
    auto master = context.master();
    if (!master) return true;
    const auto alive = master->get("/healthz");
    return !alive && alive.error().exit == Exit::unreachable;
}

Outcome<Json> report_of(Context& context, const VerifyOptions& options) {
    if (stopped(context)) {
        Progress progress("verifying");
        return audit_stopped(
            context.data,
            {.model = context.model,
             .state = options.state,
             .anchor = options.anchor,
             .progress = [&progress](
                             std::uint64_t done, std::uint64_t of
                         ) { progress.show(done, of, "records"); }}
        );
    }
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    return audit_running(context, *master, options);
}

void print_faults(const Json& report) {
    const auto model = field(report, "model");
    for (const auto& finding : report.at("findings")) {
        const auto first = field(finding, "first");
        const auto last = field(finding, "last");
        print(fmt::format(
            "model '{}' seq {}: {}: {}",
            model,
            first == last ? first : fmt::format("{} to {}", first, last),
            field(finding, "fault"),
            field(finding, "message")
        ));
    }
    if (const auto unlisted = report.value("unlisted", std::uint64_t{0}); unlisted > 0) {
        print(fmt::format("model '{}': {} more", model, base::plural(unlisted, "finding")));
    }
    for (const auto& snapshot : report.at("snapshots"))
        print(fmt::format(
            "model '{}' as of {}: {}",
            model,
            field(snapshot, "snapshot"),
            field(snapshot, "message")
        ));
}

Outcome<Exit> verify(Context& context, const VerifyOptions& options) {
    const auto report = report_of(context, options);
    if (!report) return std::unexpected(report.error());
    const bool ok = report->at("ok").get<bool>();
    const auto exit = ok ? Exit::good : Exit::negative;
    if (context.json) {
        print(base::canonical(*report));
        return exit;
    }
    for (const auto& model : report->at("models"))
        print_faults(model);
    for (const auto& fault : report->at("storage"))
        print("storage: " + field(fault, "message"));
    if (!ok) return exit;
    print("OK");
    for (const auto& model : report->at("models"))
        print(fmt::format("model '{}' ends with {}", field(model, "model"), field(model, "head")));
    return exit;
}

Outcome<Exit> anchor(Context& context, const NoOptions& /*options*/) {
    const auto report = report_of(context, {});
    if (!report) return std::unexpected(report.error());
    // An anchor of a damaged log would certify the damage.
    const bool ok = report->at("ok").get<bool>();
    Json anchors = Json::object();
    for (const auto& model : report->at("models")) {
        if (!ok) print_faults(model);
        anchors[field(model, "model")] = field(model, "head");
    }
    if (!ok) return Exit::negative;
    if (context.json) {
        print(base::canonical(anchors));
        return Exit::good;
    }
    Table table({"MODEL", "ANCHOR"});
    for (const auto& [model, head] : anchors.items())
        table.add({model, head.get<std::string>()});
    table.print();
    return Exit::good;
}

}  // namespace

void add_audit(CLI::App& app, Context& context) {
    auto& group = add_group(app, "audit", "Verify the event log");
    add_command<VerifyOptions>(
        group,
        {"verify", "Walk the hash chains, of a running master or of the --data of a stopped one"},
        context,
        &declare_verify,
        &verify
    );
    add_command<NoOptions>(
        group,
        {"anchor",
         "Verify, and print SEQ:HASH of each model's last record: keep it elsewhere for --anchor"},
        context,
        &declare_nothing,
        &anchor
    );
}

}  // namespace cli
