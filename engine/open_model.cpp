#include "engine/open_model.hpp"

#include "engine/chain.hpp"
#include "engine/retire.hpp"
#include "engine/snapshot.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace engine {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

// The entries of a page were written together with its records: the first tells of all.
Result<void> mend_index(EventLog& log, std::string_view model, const std::vector<Case>& left) {
    if (left.empty()) return {};
    const auto first = log.cases(model, {left.front().id.seq - 1}, 1);
    if (!first) return fail(first.error());
    if (!first->empty() && first->front().id == left.front().id) return {};
    std::vector<IndexedCase> entries;
    for (const Case& gone : left)
        entries.push_back({gone.id, retired_text(gone)});
    return log.restore_cases(model, entries);
}

// Reads on after `head`, holding every record against the chain.
Result<void> replay_tail(
    EventLog& log, Model& model, LogHead head, Seq last, CaseIndex index, FoldInfo& info
) {
    while (head.seq < last) {
        std::vector<Case> left;
        const auto page = log.read(model.state().model, head.seq + 1, {});
        if (!page) return fail(page.error());
        if (page->records.empty()) {
            return fail(
                ErrorCode::tamper,
                fmt::format(
                    "record {} of model '{}' is missing", head.seq + 1, model.state().model
                ),
                "netwright audit verify"
            );
        }
        for (const auto& record : page->records) {
            if (record.seq > last) break;
            if (record.seq != head.seq + 1 || record_hash(head.hash, record.bytes) != record.hash) {
                return fail(
                    ErrorCode::tamper,
                    fmt::format(
                        "record {} of model '{}' is not what was written",
                        record.seq,
                        model.state().model
                    ),
                    "netwright audit verify"
                );
            }
            auto done = model.replay(record.bytes);
            if (!done) {
                return fail(
                    done.error().code,
                    fmt::format(
                        "record {} of model '{}': {}",
                        record.seq,
                        model.state().model,
                        done.error().message
                    ),
                    done.error().next
                );
            }
            head = {record.seq, record.hash};
            info.tail_bytes += record.bytes.size();
            if (index == CaseIndex::mended)
                std::ranges::move(model.take_leaving(), std::back_inserter(left));
        }
        auto mended = mend_index(log, model.state().model, left);
        if (!mended) return mended;
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Model>> fold(
    EventLog& log,
    SnapshotStore& snapshots,
    std::string_view model,
    Seq seq,
    CaseIndex index,
    FoldInfo* info
) {
    FoldInfo local;
    FoldInfo& into = info != nullptr ? *info : local;
    auto made = std::make_unique<Model>(std::string(model));
    LogHead head = empty_head(model);
    auto snapshot = snapshots.newest_at_or_before(model, seq);
    if (!snapshot) return fail(snapshot.error());
    if (*snapshot) {
        auto read = made->restore(**snapshot);
        if (!read) return fail(read.error());
        head = (*snapshot)->info().head;
        into.snapshot_seq = head.seq;
        into.snapshot_size = (*snapshot)->info().size;
    }
    auto done = replay_tail(log, *made, head, seq, index, into);
    if (!done) return fail(done.error());
    return made;
}

}  // namespace engine
