#include "base/json.hpp"
#include "cli/command.hpp"
#include "cli/master_client.hpp"
#include "cli/table.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

namespace cli {

namespace {

struct ArchiveOptions {
    std::string before;
};
void declare_archive(CLI::App& app, ArchiveOptions& options) {
    app.add_option("--before", options.before, "Records before this seq, or RFC 3339 time, move")
        ->required();
}

Outcome<Exit> archive(Context& context, const ArchiveOptions& options) {
    // A long log is written anew.
    constexpr auto archive_max = base::seconds(3600);
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto target = model_target(context.model_name(), {"archive"}) +
                        QueryText().add("before", options.before).text();
    const auto answer = master->post(target, "", archive_max);
    return show_answer(context, answer, [](const base::Json& view) {
        print(fmt::format(
            "{} records of model '{}' moved into {} blobs ({} bytes); reading finds them as before",
            field(view, "records"),
            field(view, "model"),
            field(view, "blobs"),
            field(view, "bytes")
        ));
    });
}

}  // namespace

void add_archive(CLI::App& app, Context& context) {
    add_command<ArchiveOptions>(
        app,
        {"archive", "Move old records of a model's log into the blob store", Takes::model},
        context,
        &declare_archive,
        &archive
    );
}

}  // namespace cli
