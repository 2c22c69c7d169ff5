#include "base/clock.hpp"
#include "base/length.hpp"
#include "cli/command.hpp"
#include "cli/progress.hpp"
#include "nets/analysis/command.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <utility>

namespace cli {

namespace {

using nets::analysis::CheckRequest;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

struct CheckOptions {
    std::string file;
    bool pnml = false;
    std::string time;
    nets::analysis::Limits limits;
    std::size_t memory_mebibytes_max = nets::analysis::Limits{}.memory_bytes_max / mebibyte;
};

void declare_check(CLI::App& app, CheckOptions& options) {
    constexpr std::size_t memory_max = std::numeric_limits<std::size_t>::max() / mebibyte;
    app.add_option("FILE", options.file, "The net document; - = stdin")->required();
    app.add_flag("--pnml", options.pnml, "FILE is a place/transition net in PNML");
    app.add_option("--max-states", options.limits.states_max, "States looked at")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--max-memory", options.memory_mebibytes_max, "Memory for states, in MiB")
        ->check(CLI::Range(std::size_t{0}, memory_max))
        ->capture_default_str();
    app.add_option("--time", options.time, "Time for the whole check, such as 10s");
    app.add_option("--cases", options.limits.cases, "Cases that run together, of nets with a start")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
}

std::string_view name_of(const std::string& file) {
    return file == "-" ? std::string_view("stdin") : std::string_view(file);
}

Outcome<Exit> check(Context& context, const CheckOptions& options) {
    nets::analysis::Limits limits = options.limits;
    limits.clock = &base::system_clock();
    limits.memory_bytes_max = options.memory_mebibytes_max * mebibyte;
    if (!options.time.empty()) {
        constexpr auto time_max = base::seconds(std::int64_t{366} * 86'400);
        const auto time = base::length_within(options.time, {base::Duration{}, time_max});
        if (!time) return wrong_usage("--time " + time.error().message);
        limits.time_max = *time;
    }
    const auto text = read_input(options.file);
    if (!text) return std::unexpected(text.error());
    std::optional<Progress> shown(std::in_place, "checking");
    const auto output = nets::analysis::run_check(
        {.format = options.pnml ? CheckRequest::Format::pnml : CheckRequest::Format::net,
         .text = *text,
         .file = name_of(options.file),
         .json = context.json,
         .limits = limits},
        [&](const nets::analysis::Progress& progress) {
            shown->show(progress.states, 0, fmt::format("states ({})", progress.phase));
        }
    );
    shown.reset();
    std::fputs(output.out.c_str(), stdout);
    std::fputs(output.err.c_str(), stderr);
    return output.negative ? Exit::negative : Exit::good;
}

struct ExportOptions {
    std::string file;
};
void declare_export(CLI::App& app, ExportOptions& options) {
    app.add_option("FILE", options.file, "The net document; - = stdin")->required();
}

Outcome<Exit> write_pnml(Context& context, const ExportOptions& options) {
    const auto text = read_input(options.file);
    if (!text) return std::unexpected(text.error());
    const auto output = nets::analysis::run_pnml_export(
        {.text = *text, .file = name_of(options.file), .json = context.json}
    );
    std::fputs(output.out.c_str(), stdout);
    std::fputs(output.err.c_str(), stderr);
    return output.negative ? Exit::negative : Exit::good;
}

}  // namespace

void add_net_check(CLI::App& group, Context& context) {
    add_command<CheckOptions>(
        group,
        {"check", "What can go wrong in a net, without a master", Takes::nothing},
        context,
        &declare_check,
        &check
    );
    add_command<ExportOptions>(
        group,
        {"pnml", "A net document as PNML, without its data", Takes::nothing},
        context,
        &declare_export,
        &write_pnml
    );
}

}  // namespace cli
