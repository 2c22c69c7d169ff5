#include "server/api.hpp"
#include "server/views.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace server {

using base::fail;
using base::Result;

namespace {

// So many entries of the index are looked at for one page: a filter that few pass gives short pages
// with a `next`.
constexpr std::size_t scanned_max = 10'000;

struct CaseFilter {
    std::string net;
    std::string state;
    base::CaseId after;
    std::size_t limit = 0;

    [[nodiscard]] bool of_net(std::string_view name) const { return net.empty() || net == name; }
    [[nodiscard]] bool in_state(std::string_view name) const {
        return state.empty() || state == name;
    }
    [[nodiscard]] bool of_ended() const { return state != "running" && state != "waiting"; }
};

/// A page that is being gathered. Whoever gathers may outlive who asked, when the master stops.
struct CasePage {
    CaseFilter filter;
    std::map<base::CaseId, std::string> views;
    std::vector<engine::RetiredCase> retired;
    base::CaseId complete_to{~base::Seq{0}};  ///< nothing up to here was left out
};

void add_view(CasePage& page, base::CaseId id, const base::Json& view) {
    page.views.try_emplace(id, base::canonical(view));
    // One more than asked for tells that there is a next page.
    if (page.views.size() <= page.filter.limit + 1) return;
    page.views.erase(std::prev(page.views.end()));
    page.complete_to = std::min(page.complete_to, page.views.rbegin()->first);
}

void add_from_memory(CasePage& page, const engine::Model& model) {
    std::vector<const engine::Case*> found;
    for (const auto& [id, value] : model.state().cases) {
        if (id <= page.filter.after || !page.filter.of_net(value.deployment->net->name)) continue;
        if (page.filter.in_state(case_state(model, value))) found.push_back(&value);
    }
    const auto count = std::min(found.size(), page.filter.limit + 1);
    const auto middle = found.begin() + static_cast<std::ptrdiff_t>(count);
    std::ranges::partial_sort(found, middle, {}, &engine::Case::id);
    for (auto value = found.begin(); value != middle; ++value)
        add_view(page, (*value)->id, case_view(model, **value));
}

Result<void> scan_index(Api& api, const std::string& model, CasePage& page) {
    constexpr std::size_t piece = 500;
    base::CaseId at = page.filter.after;
    for (std::size_t scanned = 0; scanned < scanned_max; scanned += piece) {
        const auto entries = api.engine.log().cases(model, at, piece);
        if (!entries) return fail(entries.error());
        for (const auto& entry : *entries) {
            auto one = engine::retired_case(entry.text);
            if (!one) return fail(std::move(one.error()));
            at = entry.id;
            if (!page.filter.of_net(one->net) || !page.filter.in_state(name(one->state))) continue;
            page.retired.push_back(std::move(*one));
            if (page.retired.size() > page.filter.limit) {
                // Some of these may be none of the page: as of then they were still running.
                page.complete_to = std::min(page.complete_to, at);
                return {};
            }
        }
        if (entries->size() < piece) return {};
    }
    page.complete_to = std::min(page.complete_to, at);
    return {};
}

std::string page_text(const CasePage& page) {
    std::vector<std::string> items;
    std::optional<std::string> next;
    base::CaseId last;
    for (const auto& [id, view] : page.views) {
        if (id > page.complete_to) break;
        if (items.size() == page.filter.limit) {
            next = text(last);
            break;
        }
        items.push_back(view);
        last = id;
    }
    const bool cut = page.complete_to.seq != ~base::Seq{0};
    if (!next && cut) next = text(page.complete_to);
    return list_json(items, std::move(next));
}

Result<CaseFilter> filter_of(const http::Request& request, bool of_net) {
    CaseFilter filter;
    const auto page = page_of(request);
    const auto net = request.query.one("net");
    const auto state =
        word_of(request, "state", {"running", "waiting", "completed", "failed", "cancelled"});
    if (!page || !net || !state)
        return fail(!page ? page.error() : !net ? net.error() : state.error());
    filter.limit = page->limit;
    filter.net = of_net ? request.parameter("n") : net->value_or("");
    filter.state = *state;
    const auto after = cursor_of(*page, &base::case_id);
    if (!after) return fail(after.error());
    filter.after = *after;
    return filter;
}

// First memory, then the index, which by then holds all that had left memory, then the tokens of
// what the index gave.
http::Task<http::Response> list_cases(Api& api, http::Request request, bool of_net) {
    if (auto known = request.query.only({"net", "state", "limit", "cursor", "asOf"}); !known)
        co_return http::error_response(known.error());
    auto filter = filter_of(request, of_net);
    if (!filter) co_return http::error_response(filter.error());
    const auto page = std::make_shared<CasePage>();
    page->filter = std::move(*filter);
    auto gathered =
        co_await look(api, request, [page](const engine::Model& model) -> Result<std::string> {
            add_from_memory(*page, model);
            return "";
        });
    if (gathered && page->filter.of_ended()) {
        gathered = co_await on_worker<std::string>(
            api,
            [&api, page, model = request.parameter("m")]() -> Result<std::string> {
                const auto done = scan_index(api, model, *page);
                if (!done) return fail(done.error());
                return "";
            }
        );
    }
    if (gathered && !page->retired.empty()) {
        gathered =
            co_await look(api, request, [page](const engine::Model& model) -> Result<std::string> {
                for (const auto& one : page->retired) {
                    const auto& state = model.state();
                    if (one.id.seq > state.seq || state.find_case(one.id) != nullptr) continue;
                    add_view(*page, one.id, case_view(model, one));
                }
                return "";
            });
    }
    if (!gathered) co_return http::error_response(gathered.error());
    co_return respond(page_text(*page));
}

}  // namespace

void add_case_list_routes(http::Router& router, Api& api) {
    using http::Method;
    using http::Request;
    router.add(
        Method::get,
        "/api/models/{m}/nets/{n}/cases",
        [&api](Request r) { return list_cases(api, std::move(r), true); },
        {.description = "Cases of a net"}
    );
    router.add(
        Method::get,
        "/api/models/{m}/cases",
        [&api](Request r) { return list_cases(api, std::move(r), false); },
        {.description = "Cases of a model"}
    );
}

}  // namespace server
