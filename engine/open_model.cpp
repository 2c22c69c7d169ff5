#include "engine/open_model.hpp"

#include "base/log.hpp"
#include "engine/chain.hpp"
#include "engine/retire.hpp"
#include "engine/snapshot.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <ranges>

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

base::Error unfoldable(const Model& model, Seq seq, std::string_view why) {
    return {
        ErrorCode::tamper,
        fmt::format(
            "model '{}' is stopped: its record {} cannot be folded: {}",
            model.state().model,
            seq,
            why
        ),
        fmt::format(
            "docs/operations.md says how to go on; until then it can be read as of record {}",
            seq - 1
        ),
        {}
    };
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
                info.refused = record.seq;
                return fail(unfoldable(model, record.seq, "it is not what was written"));
            }
            auto done = model.replay(record.bytes);
            if (!done) {
                info.refused = record.seq;
                auto error = unfoldable(model, record.seq, done.error().message);
                if (done.error().code != ErrorCode::unsupported) return fail(std::move(error));
                error.code = ErrorCode::unsupported;
                error.next = done.error().next;
                return fail(std::move(error));
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

// A snapshot that is whole may still be of another log, or of a tail that was never durable.
Result<SnapshotInfo> restore_from(EventLog& log, SnapshotStore& snapshots, Model& model, Seq at) {
    auto snapshot = snapshots.open(model.state().model, at);
    if (!snapshot) return fail(snapshot.error());
    SnapshotInfo info = snapshot->info();
    const auto head = log_head_at(log, model.state().model, at);
    if (!head) return fail(head.error());
    if (*head != info.head) {
        return fail(
            ErrorCode::tamper,
            fmt::format(
                "it was made of another record {} than the log of model '{}' has",
                at,
                model.state().model
            )
        );
    }
    if (auto read = model.restore(*snapshot); !read) return fail(read.error());
    return info;
}

}  // namespace

Result<LogHead> log_head_at(EventLog& log, std::string_view model, Seq seq) {
    const auto page = log.read(model, seq, {.records_max = 1});
    if (!page) return fail(page.error());
    if (!page->records.empty()) return LogHead{.seq = seq, .hash = page->records.front().hash};
    return fail(ErrorCode::tamper, fmt::format("the log of model '{}' ends before {}", model, seq));
}

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
    const auto listed = snapshots.list(model);
    if (!listed) return fail(listed.error());
    for (const Seq at : std::views::reverse(*listed)) {
        if (at > seq) continue;
        const auto snapshot = restore_from(log, snapshots, *made, at);
        if (snapshot) {
            head = snapshot->head;
            into.snapshot_seq = head.seq;
            into.snapshot_size = snapshot->size;
            break;
        }
        base::log_warning("a snapshot is skipped: " + snapshot.error().message);
        if (snapshot.error().code == ErrorCode::tamper) into.bad_snapshots.push_back(at);
        made = std::make_unique<Model>(std::string(model));
    }
    auto done = replay_tail(log, *made, head, seq, index, into);
    if (!done) return fail(done.error());
    return made;
}

}  // namespace engine
