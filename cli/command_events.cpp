#include "base/clock.hpp"
#include "base/limits.hpp"
#include "cli/command.hpp"
#include "cli/stop_on_signal.hpp"
#include "cli/table.hpp"
#include "http/status.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fmt/format.h>
#include <poll.h>
#include <utility>

namespace cli {

namespace {

using base::Json;

struct EventsOptions {
    bool follow = false;
    std::uint64_t from = 1;
    std::uint64_t limit = 0;
};

void declare_events(CLI::App& app, EventsOptions& options) {
    app.add_flag("--follow", options.follow, "Go on with what is still to come, until stopped");
    app.add_option("--from", options.from, "The first seq wanted")->capture_default_str();
    app.add_option("--limit", options.limit, "At most so many (default: all there are)");
}

std::string time_of(const Json& record) {
    const auto ts = record.find("ts");
    if (ts == record.end() || !ts->is_number_integer()) return field(record, "ts");
    return base::rfc3339({ts->get<std::int64_t>()});
}

void print_record(const Context& context, const Json& record) {
    if (context.json) {
        print(base::canonical(record));
        return;
    }
    print(fmt::format(
        "{:>6}  {}  {:<20}  {:<10}  {}",
        field(record, "seq"),
        time_of(record),
        field(record, "type"),
        field(record, "actor"),
        in_short(record.value("data", Json::object()))
    ));
}

// What is there, page by page; the seq after the last one.
Outcome<std::uint64_t> print_range(
    Context& context, MasterClient& master, const EventsOptions& options
) {
    std::uint64_t from = options.from;
    std::uint64_t shown = 0;
    while (options.limit == 0 || shown < options.limit) {
        constexpr std::uint64_t page_max = 500;
        const auto wanted =
            options.limit == 0 ? page_max : std::min(page_max, options.limit - shown);
        QueryText query;
        query.add("from", std::to_string(from)).add("limit", std::to_string(wanted));
        const auto page =
            master.get_json(model_target(context.model_name(), {"events"}) + query.text());
        if (!page) return std::unexpected(page.error());
        for (const auto& record : page->at("items")) {
            print_record(context, record);
            from = record.at("seq").get<std::uint64_t>() + 1;
            ++shown;
        }
        if (!page->contains("next")) break;
    }
    return from;
}

bool pause(const StopOnSignal& stop) {
    constexpr int pause_ms = 1000;
    pollfd waited{stop.descriptor(), POLLIN, 0};
    return ::poll(&waited, 1, pause_ms) == 0;
}

// Follows, and takes up the thread again after a broken connection, until a signal comes.
Outcome<Exit> follow(Context& context, MasterClient& master, const EventsOptions& options) {
    const StopOnSignal stop;
    const http::StopWatch watch(stop.signal(), [&master] { master.interrupt(); });
    std::uint64_t from = options.from;
    std::uint64_t shown = 0;
    while (true) {
        http::Call call{
            .target = model_target(context.model_name(), {"events"}) +
                      QueryText().add("from", std::to_string(from)).text()
        };
        call.headers.add("Accept", "text/event-stream");
        const auto ended = master.events(std::move(call), [&](const http::Event& event) {
            const auto record = base::parse_json(event.data, base::limits::stored);
            if (!record) return false;
            print_record(context, *record);
            std::fflush(stdout);
            from = record->at("seq").get<std::uint64_t>() + 1;
            return options.limit == 0 || ++shown < options.limit;
        });
        if (stop.signal().stopped() || (options.limit != 0 && shown >= options.limit)) {
            return Exit::good;
        }
        const bool broken = ended || ended.error().code == base::ErrorCode::upstream ||
                            ended.error().code == base::ErrorCode::timeout;
        if (!broken) return failed(ended.error());
        if (!pause(stop)) return Exit::good;
    }
}

Outcome<Exit> events(Context& context, const EventsOptions& options) {
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    if (options.follow) return follow(context, *master, options);
    const auto shown = print_range(context, *master, options);
    if (!shown) return std::unexpected(shown.error());
    return Exit::good;
}

}  // namespace

void add_events(CLI::App& app, Context& context) {
    add_command<EventsOptions>(
        app,
        {"events", "The log of a model; with --json one record a line"},
        context,
        &declare_events,
        &events
    );
}

}  // namespace cli
