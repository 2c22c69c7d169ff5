#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/table.hpp"
#include "nets/check.hpp"
#include "nets/diff.hpp"
#include "nets/net.hpp"
#include "nets/schema.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>
#include <vector>

namespace cli {

namespace {

using base::Json;

struct FileOptions {
    std::string file;
};
void declare_file(CLI::App& app, FileOptions& options) {
    app.add_option("FILE", options.file, "The net document; - = stdin")->required();
}

struct NetOptions {
    std::string net;
};
void declare_net(CLI::App& app, NetOptions& options) {
    app.add_option("NET", options.net, "Name of the net")->required();
}

struct DeployOptions {
    std::string file;
    bool force = false;
};
void declare_deploy(CLI::App& app, DeployOptions& options) {
    app.add_option("FILE", options.file, "The net document; - = stdin")->required();
    app.add_flag(
        "--force", options.force, "Also where the check finds errors; the log tells that and who"
    );
}

Outcome<Exit> deploy(Context& context, const DeployOptions& options) {
    const auto text = read_input(options.file);
    if (!text) return std::unexpected(text.error());
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto target = model_target(context.model_name(), {"nets"});
    const auto answer = master->post(target + (options.force ? "?force=true" : ""), *text);
    return show_answer(context, answer, [&](const Json& net) {
        if (const auto warnings = net.find("warnings"); warnings != net.end()) {
            for (const auto& warning : *warnings) {
                const auto pointer = field(warning, "pointer");
                print(fmt::format(
                    "{}{}: {}",
                    warning.value("severity", "warning"),
                    pointer.empty() ? "" : " at " + pointer,
                    field(warning, "message")
                ));
            }
        }
        print(fmt::format(
            "net '{}' version {} is deployed in model '{}'{}",
            field(net, "net"),
            field(net, "version"),
            context.model_name(),
            net.value("changed", true) ? "" : " (it was already: nothing changed)"
        ));
    });
}

Outcome<Exit> list(Context& context, const NoOptions& /*options*/) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->get(model_target(context.model_name(), {"nets"}));
    return show_answer(context, answer, [](const Json& page) {
        Table table({"NET", "VERSION", "DEPLOYED", "DESCRIPTION"});
        for (const auto& net : page.at("items"))
            table.add_fields(net, {"net", "version", "at", "description"});
        table.print();
    });
}

Outcome<Exit> show(Context& context, const NetOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->get(model_target(context.model_name(), {"nets", options.net}));
    return show_answer(context, answer, [&](const Json& net) {
        print(fmt::format(
            "{} {} (deployed {} by {})",
            field(net, "net"),
            field(net, "version"),
            field(net, "at"),
            field(net, "by")
        ));
        if (!field(net, "description").empty()) print(field(net, "description"));
        if (!net.contains("places")) return;
        Table table({"PLACE", "TOKENS", "RESERVED"});
        for (const auto& [name, place] : net.at("places").items())
            table.add({name, field(place, "tokens"), field(place, "reserved")});
        table.print();
        for (const auto& link : net.value("links", Json::array()))
            print(fmt::format(
                "link '{}': {} {} {}",
                field(link, "id"),
                field(link, "from"),
                field(link, "type"),
                field(link, "to")
            ));
    });
}

// What becomes of the tokens in places that the new version lacks.
std::vector<nets::Change> moves(const Json& before, const nets::Net& after) {
    std::vector<nets::Change> changes;
    if (!before.contains("places")) return changes;
    for (const auto& [name, place] : before.at("places").items()) {
        const auto tokens = place.value("tokens", std::uint64_t{0});
        if (after.place(name) || tokens == 0) continue;
        const auto move = std::ranges::find_if(after.migrate, [&](const auto& entry) {
            return entry.first == name;
        });
        const bool moved = move != after.migrate.end();
        changes.push_back(
            {nets::ChangeKind::changed,
             base::pointer_child(moved ? "/migrate" : "/places", name),
             moved
                 ? fmt::format(
                       "{} tokens of '{}' go to '{}'", tokens, name, after.places[move->second].name
                   )
                 : fmt::format(
                       "'{}' holds {} tokens and is gone: the deployment would be refused; say "
                       "in 'migrate' where they go",
                       name,
                       tokens
                   )}
        );
    }
    return changes;
}

Outcome<Exit> diff(Context& context, const FileOptions& options) {
    const auto text = read_input(options.file);
    if (!text) return std::unexpected(text.error());
    auto after = base::parse_json(*text);
    if (!after) return wrong_usage(std::move(after.error()));
    auto compiled = nets::compile(*after);
    if (!compiled) return std::unexpected(Failure{std::move(compiled.error()), Exit::negative});
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto before =
        master->get_json(model_target(context.model_name(), {"nets", compiled->name}));
    if (!before) return std::unexpected(before.error());
    if (!before->contains("document")) {
        return failed(
            {base::ErrorCode::not_found,
             fmt::format("net '{}' is not deployed", compiled->name),
             "deploy it: netwright net deploy FILE",
             {}}
        );
    }
    auto changes = nets::diff(before->at("document"), *after);
    std::ranges::move(moves(*before, *compiled), std::back_inserter(changes));
    print(context.json ? base::canonical(nets::to_json(changes)) : nets::in_words(changes));
    return Exit::good;
}

Outcome<Exit> undeploy(Context& context, const NetOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer = master->remove(model_target(context.model_name(), {"nets", options.net}));
    if (!answer) return std::unexpected(answer.error());
    print(context.json ? *answer : fmt::format("net '{}' is no longer deployed", options.net));
    return Exit::good;
}

Outcome<Exit> versions(Context& context, const NetOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto answer =
        master->get(model_target(context.model_name(), {"nets", options.net, "versions"}));
    return show_answer(context, answer, [](const Json& page) {
        Table table({"VERSION", "DEPLOYED", "BY", "DIGEST"});
        for (const auto& version : page.at("items"))
            table.add_fields(version, {"version", "at", "by", "digest"});
        table.print();
    });
}

Outcome<Exit> schema(Context& /*context*/, const NoOptions& /*options*/) {
    print(nets::document_schema());
    return Exit::good;
}

}  // namespace

void add_net(CLI::App& app, Context& context) {
    auto& group = add_group(app, "net", "Nets: check, deploy, look");
    add_net_check(group, context);
    add_command<DeployOptions>(
        group, {"deploy", "Deploy a version of a net"}, context, &declare_deploy, &deploy
    );
    add_command<NoOptions>(group, {"list", "Nets deployed"}, context, &declare_nothing, &list);
    add_command<NetOptions>(
        group, {"show", "One net and its marking"}, context, &declare_net, &show
    );
    add_command<NetOptions>(
        group, {"versions", "Every version of a net"}, context, &declare_net, &versions
    );
    add_command<FileOptions>(
        group, {"diff", "What a deployment would change"}, context, &declare_file, &diff
    );
    add_command<NetOptions>(
        group, {"undeploy", "Take a net back that nothing uses"}, context, &declare_net, &undeploy
    );
    add_command<NoOptions>(
        group,
        {"schema", "The JSON Schema of net documents, for editors", Takes::nothing},
        context,
        &declare_nothing,
        &schema
    );
}

}  // namespace cli
