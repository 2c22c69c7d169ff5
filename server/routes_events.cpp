#include "engine/chain.hpp"
#include "http/events.hpp"
#include "server/api.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <charconv>
#include <fmt/format.h>

namespace server {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Result<base::Seq> seq_parameter(std::string_view text, std::string_view what) {
    base::Seq value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{} && end == text.data() + text.size()) return value;
    return fail(ErrorCode::validation, fmt::format("{} '{}' is no seq", what, text.substr(0, 100)));
}

Result<engine::RecordPage> durable_page(
    Api& api, const std::string& model, base::Seq from, std::size_t limit
) {
    const base::Seq last = api.engine.durable(model);
    if (from > last) return engine::RecordPage{};
    auto page = api.engine.log().read(
        model, from, {.records_max = limit, .bytes_max = std::size_t{2} << 20U}
    );
    if (!page) return page;
    while (!page->records.empty() && page->records.back().seq > last)
        page->records.pop_back();
    return page;
}

// Follows the log: reads what is durable, then waits for more.
http::Task<http::EventBatch> next_events(
    Api& api,
    std::string model,
    std::shared_ptr<base::Seq> last,
    base::Duration at_most,
    http::StopSignal stop
) {
    auto page = co_await on_worker<std::shared_ptr<engine::RecordPage>>(
        api,
        [&api, model, from = *last + 1]() -> Result<std::shared_ptr<engine::RecordPage>> {
            auto found = durable_page(api, model, from, 1000);
            if (!found) return fail(found.error());
            return std::make_shared<engine::RecordPage>(std::move(*found));
        }
    );
    http::EventBatch batch;
    if (!page) {
        batch.end = true;
        co_return batch;
    }
    for (const auto& record : (*page)->records) {
        const auto tail = engine::record_tail(record.bytes);
        batch.events.push_back(
            {std::to_string(record.seq),
             std::string(tail ? tail->type : "record"),
             record_view(record)}
        );
        *last = record.seq;
    }
    if (!batch.events.empty()) co_return batch;
    co_await http::await_callback<bool>(
        http::WaitLimits{.at_most = at_most, .stop = stop},
        [&](http::Completion<bool> done) {
            api.engine.when_beyond(model, *last, at_most, [done] { done(true); });
        }
    );
    co_return batch;
}

http::Task<http::Response> show_records(Api& api, http::Request request) {
    if (auto known = request.query.only({"from", "limit"}); !known)
        co_return http::error_response(known.error());
    const std::string model = request.parameter("m");
    if (api.engine.durable(model) == 0) {
        co_return http::error_response(unknown_model(model));
    }
    base::Seq from = 1;
    const auto asked = request.query.one("from");
    if (!asked) co_return http::error_response(asked.error());
    if (*asked) {
        const auto seq = seq_parameter(**asked, "from");
        if (!seq) co_return http::error_response(seq.error());
        from = std::max<base::Seq>(*seq, 1);
    }
    const auto accept = request.headers.find("Accept");
    if (accept && accept->find("text/event-stream") != std::string_view::npos) {
        auto last = std::make_shared<base::Seq>(from - 1);  // shared: the stream outlives this call
        if (const auto resumed = request.headers.find("Last-Event-ID")) {
            const auto seq = seq_parameter(*resumed, "Last-Event-ID");
            if (!seq) co_return http::error_response(seq.error());
            *last = *seq;
        }
        co_return http::event_stream([&api, model, last, stop = request.stop](base::Duration at_most
                                     ) { return next_events(api, model, last, at_most, stop); });
    }
    const auto page = page_of(request);
    if (!page) co_return http::error_response(page.error());
    co_return respond(co_await on_worker<std::string>(
        api,
        [&api, model, from, limit = page->limit]() -> Result<std::string> {
            const auto found = durable_page(api, model, from, limit);
            if (!found) return fail(found.error());
            std::vector<std::string> items;
            for (const auto& record : found->records)
                items.push_back(record_view(record));
            std::optional<std::string> next;
            if (!items.empty() && found->records.back().seq < api.engine.durable(model)) {
                next = std::to_string(found->records.back().seq + 1);
            }
            return list_json(items, std::move(next));
        }
    ));
}

}  // namespace

void add_event_routes(http::Router& router, Api& api) {
    router.add(
        http::Method::get,
        "/api/models/{m}/events",
        [&api](http::Request r) { return show_records(api, std::move(r)); },
        {.long_poll = true,
         .description = "Records from ?from= on; with Accept: text/event-stream they are followed"}
    );
}

}  // namespace server
