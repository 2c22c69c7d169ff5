#include "engine/log.hpp"

#include "engine/chain.hpp"

#include <fmt/format.h>

namespace engine {

namespace {

base::Result<base::Timestamp> time_of(EventLog& log, std::string_view model, Seq seq) {
    const auto page = log.read(model, seq, {.records_max = 1});
    if (!page) return base::fail(page.error());
    const auto tail =
        page->records.empty() ? std::nullopt : record_tail(page->records.front().bytes);
    if (!tail) {
        return base::fail(
            base::ErrorCode::tamper,
            fmt::format("record {} of model '{}' has no time that can be read", seq, model),
            "run `netwright audit verify`"
        );
    }
    return tail->ts;
}

}  // namespace

base::Result<Seq> seq_at(EventLog& log, std::string_view model, base::Timestamp at) {
    const auto head = log.head(model);
    if (!head) return base::fail(head.error());
    // ts never goes back: all of [1, low] is at or before `at`, all beyond `high` is after it.
    Seq low = 0;
    Seq high = head->seq;
    while (low < high) {
        const Seq middle = low + (high - low + 1) / 2;
        const auto ts = time_of(log, model, middle);
        if (!ts) return base::fail(ts.error());
        if (*ts <= at) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

}  // namespace engine
