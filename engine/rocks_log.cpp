#include "base/log.hpp"
#include "engine/chain.hpp"
#include "engine/log_chunk.hpp"
#include "engine/rocks_store.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace engine {

RocksLog::RocksLog(RocksPlace place, RocksDatabase opened, HeadsFile heads)
    : place_(std::move(place)),
      found_at_opening_(std::move(opened.faults)),
      heads_(std::move(heads)),
      database_(std::move(opened.database)) {
    // A chunk has at most this many records, so that the headers never move.
    frame_headers_.reserve(chunk_bytes_max / frame_header_bytes + 1);
}

RocksLog::~RocksLog() {
    if (place_.options.access == LogAccess::read_only) return;
    // The next start must not find what was refused.
    if (!make_writable()) return;
    if (const auto status = database_->FlushWAL(true); !status.ok()) {
        base::log_error(rocks_error("sync the log", status).message);
        return;
    }
    if (place_.options.durability == Durability::relaxed) {
        // Only now are they known not to be ahead of the disk.
        known_.with([&](const Heads& known) {
            for (const auto& [model, head] : known) {
                if (head.head.seq == 0) continue;
                if (auto noted = heads_.note(model, head.head); !noted) {
                    base::log_error(noted.error().message);
                }
            }
        });
    }
    if (auto synced = heads_.sync(); !synced) base::log_error(synced.error().message);
}

base::Result<RocksHead> RocksLog::known_head(std::string_view model) {
    const auto known = known_.with([&](const Heads& heads) -> std::optional<RocksHead> {
        const auto found = heads.find(model);
        return found == heads.end() ? std::nullopt : std::optional(found->second);
    });
    if (known) return *known;
    return read_rocks_head(*database_, model);
}

AppendOutcome RocksLog::judge(const Append& request) {
    const auto known = known_head(request.model);
    if (!known) return {AppendStatus::unknown, 0, known.error().message};
    const Seq end = known->head.seq;
    if (request.epoch != known->epoch) {
        return {
            AppendStatus::fenced,
            end,
            fmt::format("epoch {} owns it, not epoch {}", known->epoch, request.epoch)
        };
    }
    if (end > 0 && request.idempotency_key() == known->head.hash) {
        return {AppendStatus::committed, end, {}};
    }
    if (request.expected_seq != end) {
        return {
            AppendStatus::conflict,
            end,
            fmt::format("the log ends with {}, not with {}", end, request.expected_seq)
        };
    }
    return {AppendStatus::committed, 0, {}};
}

void RocksLog::put_chunk(std::string_view model, Seq first) {
    if (frames_.empty()) return;
    const std::string key_text = rocks_chunk_key(model, first);
    const rocksdb::Slice key(key_text);
    const auto count = static_cast<int>(frames_.size());
    batch_.Put(rocksdb::SliceParts(&key, 1), rocksdb::SliceParts(frames_.data(), count));
    frames_.clear();
    frame_headers_.clear();
}

void RocksLog::put(const Append& request) {
    Seq first = request.expected_seq + 1;
    Seq next = first;
    std::size_t chunk_bytes = 0;
    for (const ChainedBatch& chained : request.batches) {
        std::string_view rest = chained.batch.bytes;
        for (std::size_t i = 0; i < chained.hashes.size(); ++i) {
            const auto record = rest.substr(0, chained.batch.records[i].size);
            rest.remove_prefix(record.size());
            frame_headers_.push_back(frame_header(record.size(), chained.hashes[i]));
            const FrameHeader& header = frame_headers_.back();
            frames_.emplace_back(header.data(), header.size());
            frames_.emplace_back(record.data(), record.size());
            ++next;
            chunk_bytes += header.size() + record.size();
            if (chunk_bytes < chunk_bytes_max) continue;
            put_chunk(request.model, first);
            first = next;
            chunk_bytes = 0;
        }
    }
    put_chunk(request.model, first);
    for (const ChainedBatch& chained : request.batches)
        for (const IndexedCase& gone : chained.batch.cases)
            batch_.Put(rocks_case_key(request.model, gone.id), gone.text);
    const RocksHead head{
        .epoch = request.epoch, .head = {.seq = next - 1, .hash = request.idempotency_key()}
    };
    batch_.Put(rocks_head_key(request.model), rocks_head_value(head));
}

rocksdb::WriteOptions RocksLog::write_options() const {
    rocksdb::WriteOptions write;
    write.sync = place_.options.durability == Durability::sync;
    return write;
}

std::vector<AppendOutcome> RocksLog::append(std::span<const Append> requests) {
    const std::scoped_lock lock(writing_);
    std::vector<AppendOutcome> outcomes;
    if (failed_) {
        const std::string why = "an earlier write to the log failed";
        return {requests.size(), AppendOutcome{AppendStatus::unknown, 0, why}};
    }
    outcomes.reserve(requests.size());
    batch_.Clear();
    for (const Append& request : requests) {
        outcomes.push_back(judge(request));
        const AppendOutcome& outcome = outcomes.back();
        if (outcome.status == AppendStatus::committed && outcome.seq == 0) put(request);
    }
    if (batch_.Count() == 0) return outcomes;
    const auto status = database_->Write(write_options(), &batch_);
    if (!status.ok()) {
        const auto error = rocks_write_error(status);
        base::log_error(error.message);
        failed_ = true;
        for (AppendOutcome& outcome : outcomes)
            outcome = {AppendStatus::unknown, 0, error.message};
        remember_refused(requests);
        return outcomes;
    }
    after_write(requests, outcomes);
    return outcomes;
}

void RocksLog::after_write(std::span<const Append> requests, std::vector<AppendOutcome>& outcomes) {
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const Append& request = requests[i];
        AppendOutcome& outcome = outcomes[i];
        if (outcome.status != AppendStatus::committed || outcome.seq != 0) continue;
        const LogHead head{
            .seq = request.batches.back().batch.records.back().seq,
            .hash = request.idempotency_key()
        };
        outcome.seq = head.seq;
        known_.with([&](Heads& known) {
            known.insert_or_assign(
                std::string(request.model), RocksHead{.epoch = request.epoch, .head = head}
            );
        });
        if (place_.options.durability == Durability::relaxed) continue;
        if (auto noted = heads_.note(request.model, head); !noted) {
            base::log_warning(noted.error().message);
        }
    }
}

base::Result<Epoch> RocksLog::own(std::string_view model) {
    const std::scoped_lock lock(writing_);
    if (place_.options.access == LogAccess::read_only) {
        return base::fail(base::ErrorCode::unsupported, "the log was opened for reading only");
    }
    const auto kept = heads_.find(model);
    if (!kept) return base::fail(kept.error());
    if (auto writable = make_writable(); !writable) return base::fail(writable.error());
    auto head = known_head(model);
    if (!head) return base::fail(head.error());
    if (head->head.seq < kept->seq) {
        return base::fail(
            base::ErrorCode::tamper,
            fmt::format(
                "the log of model '{}' ends with {}, but {} was acknowledged",
                model,
                head->head.seq,
                kept->seq
            ),
            "run `netwright audit verify`, and restore a backup"
        );
    }
    ++head->epoch;
    if (head->head.seq > 0) {
        const auto status =
            database_->Put(write_options(), rocks_head_key(model), rocks_head_value(*head));
        if (!status.ok()) {
            failed_ = true;
            return base::fail(rocks_write_error(status));
        }
    }
    known_.with([&](Heads& known) { known.insert_or_assign(std::string(model), *head); });
    return head->epoch;
}

base::Result<LogHead> RocksLog::head(std::string_view model) {
    return reading([&]() -> base::Result<LogHead> {
        const auto known = known_head(model);
        if (!known) return base::fail(known.error());
        return known->head;
    });
}

base::Result<Seq> RocksLog::last_seq(std::string_view model) {
    const auto known = known_head(model);
    if (known) return known->head.seq;
    const auto kept = heads_.find(model);
    if (!kept || kept->seq == 0) return base::fail(known.error());
    return kept->seq;
}

base::Result<LogHead> RocksLog::head_kept_apart(std::string_view model) {
    return heads_.find(model);
}

base::Result<std::vector<StorageFault>> RocksLog::storage_faults() {
    return reading([&]() -> base::Result<std::vector<StorageFault>> {
        auto faults = rocks_file_faults(*database_);
        faults.insert(faults.end(), found_at_opening_.begin(), found_at_opening_.end());
        return faults;
    });
}

base::Result<std::vector<std::string>> RocksLog::models() {
    return reading([&]() -> base::Result<std::vector<std::string>> {
        std::set<std::string> names;
        for (std::string& name : heads_.models())
            names.insert(std::move(name));
        const std::unique_ptr<rocksdb::Iterator> heads(database_->NewIterator({}));
        for (heads->Seek("h"); heads->Valid(); heads->Next()) {
            names.insert(heads->key().ToString().substr(1));
        }
        // Of damaged ones at least those with a head kept apart are told.
        if (!heads->status().ok() && names.empty()) {
            return base::fail(rocks_error("list the models of the log", heads->status()));
        }
        return std::vector<std::string>(names.begin(), names.end());
    });
}

}  // namespace engine
