#include "engine/memory_log.hpp"

#include "engine/chain.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace engine {

namespace {

struct MemoryBatch {
    Seq first = 0;
    std::string bytes;
    /// Where each record ends.
    std::vector<std::size_t> ends;
    std::vector<base::Digest> hashes;

    [[nodiscard]] Seq last() const { return first + ends.size() - 1; }
    [[nodiscard]] StoredRecord record(Seq seq) const {
        const std::size_t n = seq - first;
        const std::size_t begin = n == 0 ? 0 : ends[n - 1];
        return {seq, std::string_view(bytes).substr(begin, ends[n] - begin), hashes[n]};
    }
};

struct MemoryDamage {
    std::optional<std::string> bytes;
    std::optional<base::Digest> hash;
    bool unreadable = false;
};

struct MemoryModel {
    Epoch epoch = 0;
    std::vector<MemoryBatch> batches;
    LogHead head;
    LogHead kept;
    std::map<Seq, MemoryDamage> damage;
    /// Each with the last seq of the write that brought it.
    std::map<base::CaseId, std::pair<Seq, std::string>> cases;

    [[nodiscard]] std::size_t batch_of(Seq seq) const {
        const auto after = std::ranges::upper_bound(batches, seq, {}, &MemoryBatch::first);
        return static_cast<std::size_t>(after - batches.begin()) - 1;
    }
    [[nodiscard]] bool unreadable(Seq seq) const {
        const auto found = damage.find(seq);
        return found != damage.end() && found->second.unreadable;
    }
};

MemoryBatch memory_batch(const ChainedBatch& chained) {
    MemoryBatch batch;
    batch.first = chained.batch.records.front().seq;
    batch.bytes = chained.batch.bytes;
    batch.hashes = chained.hashes;
    batch.ends.reserve(chained.batch.records.size());
    std::size_t end = 0;
    for (const UnchainedRecord& record : chained.batch.records) {
        end += record.size;
        batch.ends.push_back(end);
    }
    return batch;
}

}  // namespace

struct MemoryLog::Store {
    using Models = std::map<std::string, MemoryModel, std::less<>>;
    /// The batches of one append, for each model in turn.
    struct Write {
        std::vector<std::pair<std::string, Seq>> heads_before;
    };
    Models models;
    /// Written, but not yet durable; oldest first.
    std::vector<Write> unsynced;
    /// The append that fails, counted down to 1; 0 = none.
    std::size_t fails_in = 0;
    Failure failure = Failure::lost;
    bool failing = false;
    /// A torn append, which never becomes durable.
    bool torn = false;

    MemoryModel& model(std::string_view name) {
        const auto found = models.find(name);
        if (found != models.end()) return found->second;
        MemoryModel fresh;
        fresh.head = fresh.kept = empty_head(name);
        return models.emplace(std::string(name), std::move(fresh)).first->second;
    }
    [[nodiscard]] const MemoryModel* find(std::string_view name) const {
        const auto found = models.find(name);
        return found == models.end() ? nullptr : &found->second;
    }

    AppendOutcome judge(const Append& request) {
        const MemoryModel& target = model(request.model);
        if (request.epoch != target.epoch) {
            return {AppendStatus::fenced, target.head.seq, "a newer writer owns the model"};
        }
        if (request.idempotency_key() == target.head.hash) {
            return {AppendStatus::committed, target.head.seq, {}};
        }
        if (request.expected_seq != target.head.seq) {
            return {
                AppendStatus::conflict,
                target.head.seq,
                fmt::format(
                    "the log ends with {}, not with {}", target.head.seq, request.expected_seq
                )
            };
        }
        return {AppendStatus::committed, 0, {}};
    }

    void put(const Append& request, Write& write) {
        MemoryModel& target = model(request.model);
        write.heads_before.emplace_back(request.model, target.head.seq);
        for (const ChainedBatch& batch : request.batches) {
            target.batches.push_back(memory_batch(batch));
        }
        target.head = {
            .seq = target.batches.back().last(), .hash = target.batches.back().hashes.back()
        };
        for (const ChainedBatch& batch : request.batches)
            for (const IndexedCase& gone : batch.batch.cases)
                target.cases[gone.id] = {target.head.seq, gone.text};
    }

    void truncate(const std::string& name, Seq last) {
        MemoryModel& target = model(name);
        std::erase_if(target.cases, [last](const auto& one) { return one.second.first > last; });
        while (!target.batches.empty() && target.batches.back().first > last) {
            target.batches.pop_back();
        }
        target.head = empty_head(name);
        if (target.batches.empty()) return;
        MemoryBatch& end = target.batches.back();
        if (end.last() > last) {
            const std::size_t keep = last - end.first + 1;
            end.ends.resize(keep);
            end.hashes.resize(keep);
            end.bytes.resize(end.ends.back());
        }
        target.head = {.seq = end.last(), .hash = end.hashes.back()};
    }

    void sync_all() {
        unsynced.clear();
        for (auto& [name, target] : models)
            target.kept = target.head;
    }
};

MemoryLog::MemoryLog() : MemoryLog(Options{}) {}
MemoryLog::MemoryLog(Options options) : options_(options), store_(std::make_unique<Store>()) {}
MemoryLog::~MemoryLog() = default;

std::vector<AppendOutcome> MemoryLog::append(std::span<const Append> requests) {
    return store_.with([&](const std::unique_ptr<Store>& store) {
        const AppendOutcome failed{AppendStatus::unknown, 0, "the write failed"};
        if (!store->failing && store->fails_in > 0 && --store->fails_in == 0) store->failing = true;
        const bool first_failure = store->failing && !store->torn;
        std::vector<AppendOutcome> outcomes;
        Store::Write write;
        const bool reaches = !store->failing || (first_failure && store->failure != Failure::lost);
        for (const Append& request : requests) {
            AppendOutcome outcome = store->judge(request);
            if (outcome.status == AppendStatus::committed && outcome.seq == 0 && reaches) {
                store->put(request, write);
                outcome.seq = store->model(request.model).head.seq;
            }
            outcomes.push_back(store->failing ? failed : std::move(outcome));
        }
        if (reaches) store->unsynced.push_back(std::move(write));
        if (!store->failing) {
            if (options_.sync) store->sync_all();
            return outcomes;
        }
        if (first_failure && store->failure == Failure::kept) store->sync_all();
        store->torn = true;
        return outcomes;
    });
}

base::Result<RecordPage> MemoryLog::read(std::string_view model, Seq from, const ReadLimit& limit) {
    base::check(from > 0, "the first record has seq 1");
    return store_.with([&](const std::unique_ptr<Store>& store) -> base::Result<RecordPage> {
        RecordPage page;
        const MemoryModel* const found = store->find(model);
        if (found == nullptr || from > found->head.seq) return page;
        std::size_t bytes = 0;
        for (Seq seq = from; seq <= found->head.seq; ++seq) {
            if (page.records.size() >= limit.records_max || bytes >= limit.bytes_max) break;
            if (found->unreadable(seq)) break;
            StoredRecord record = found->batches[found->batch_of(seq)].record(seq);
            const auto damage = found->damage.find(seq);
            if (damage != found->damage.end()) {
                if (damage->second.bytes) record.bytes = *damage->second.bytes;
                if (damage->second.hash) record.hash = *damage->second.hash;
            }
            // A short string moves its characters when the vector grows: give it a heap.
            std::string& copy = page.storage.emplace_back();
            copy.reserve(std::max<std::size_t>(record.bytes.size(), 64));
            copy.assign(record.bytes);
            record.bytes = copy;
            bytes += copy.size();
            page.records.push_back(record);
        }
        if (page.records.empty()) {
            return base::fail(
                base::ErrorCode::tamper,
                fmt::format("record {} of model '{}' cannot be read", from, model),
                "run `netwright audit verify`"
            );
        }
        return page;
    });
}

base::Result<Seq> MemoryLog::next_readable(std::string_view model, Seq from) {
    return store_.with([&](const std::unique_ptr<Store>& store) -> Seq {
        const MemoryModel* const found = store->find(model);
        if (found == nullptr) return 0;
        for (Seq seq = from; seq <= found->head.seq; ++seq) {
            if (!found->unreadable(seq)) return seq;
        }
        return 0;
    });
}

base::Result<LogHead> MemoryLog::head(std::string_view model) {
    return store_.with([&](const std::unique_ptr<Store>& store) {
        const MemoryModel* const found = store->find(model);
        return found == nullptr ? empty_head(model) : found->head;
    });
}

base::Result<LogHead> MemoryLog::head_kept_apart(std::string_view model) {
    return store_.with([&](const std::unique_ptr<Store>& store) {
        const MemoryModel* const found = store->find(model);
        return found == nullptr ? empty_head(model) : found->kept;
    });
}

base::Result<std::vector<std::string>> MemoryLog::models() {
    return store_.with([](const std::unique_ptr<Store>& store) {
        std::vector<std::string> names;
        for (const auto& [name, model] : store->models) {
            if (model.head.seq > 0 || model.kept.seq > 0) names.push_back(name);
        }
        return names;
    });
}

base::Result<Epoch> MemoryLog::own(std::string_view model) {
    return store_.with([&](const std::unique_ptr<Store>& store) -> base::Result<Epoch> {
        MemoryModel& target = store->model(model);
        if (target.head.seq < target.kept.seq) {
            return base::fail(
                base::ErrorCode::tamper,
                fmt::format(
                    "the log of model '{}' ends with {}, but {} was acknowledged",
                    model,
                    target.head.seq,
                    target.kept.seq
                ),
                "run `netwright audit verify`"
            );
        }
        if (target.head.seq > 0) store->sync_all();
        store->failing = store->torn = false;
        return ++target.epoch;
    });
}

base::Result<std::vector<IndexedCase>> MemoryLog::cases(
    std::string_view model, base::CaseId after, std::size_t limit
) {
    return store_.with([&](const std::unique_ptr<Store>& store) {
        std::vector<IndexedCase> page;
        const MemoryModel* const found = store->find(model);
        if (found == nullptr) return page;
        for (auto one = found->cases.upper_bound(after);
             one != found->cases.end() && page.size() < limit;
             ++one) {
            page.push_back({one->first, one->second.second});
        }
        return page;
    });
}

base::Result<void> MemoryLog::restore_cases(
    std::string_view model, std::span<const IndexedCase> cases
) {
    store_.with([&](const std::unique_ptr<Store>& store) {
        for (const IndexedCase& one : cases)
            store->model(model).cases[one.id] = {0, one.text};
    });
    return {};
}

void MemoryLog::fail_append(std::size_t nth, Failure failure) {
    store_.with([&](const std::unique_ptr<Store>& store) {
        store->fails_in = nth;
        store->failure = failure;
    });
}

void MemoryLog::lose_power(std::size_t unsynced_kept) {
    store_.with([&](const std::unique_ptr<Store>& store) {
        while (store->unsynced.size() > unsynced_kept) {
            for (const auto& [name, head] : store->unsynced.back().heads_before) {
                store->truncate(name, head);
            }
            store->unsynced.pop_back();
        }
        store->sync_all();
        for (auto& [name, model] : store->models) {
            if (model.head.seq == 0) model.epoch = 0;
        }
        store->failing = store->torn = false;
        store->fails_in = 0;
    });
}

std::size_t MemoryLog::unsynced() const {
    return store_.with([](const std::unique_ptr<Store>& store) { return store->unsynced.size(); });
}

void MemoryLog::sync() {
    store_.with([](const std::unique_ptr<Store>& store) { store->sync_all(); });
}

void MemoryLog::overwrite(std::string_view model, Seq seq, std::string bytes) {
    store_.with([&](const std::unique_ptr<Store>& store) {
        store->model(model).damage[seq].bytes = std::move(bytes);
    });
}

void MemoryLog::overwrite_hash(std::string_view model, Seq seq, const base::Digest& hash) {
    store_.with([&](const std::unique_ptr<Store>& store) {
        store->model(model).damage[seq].hash = hash;
    });
}

void MemoryLog::make_unreadable(std::string_view model, Seq seq) {
    store_.with([&](const std::unique_ptr<Store>& store) {
        store->model(model).damage[seq].unreadable = true;
    });
}

void MemoryLog::cut_tail(std::string_view model, Seq last) {
    store_.with([&](const std::unique_ptr<Store>& store) {
        store->truncate(std::string(model), last);
    });
}

base::Result<Archived> MemoryLog::archive(std::string_view /*model*/, Seq /*before*/) {
    return base::fail(base::ErrorCode::unsupported, "a log in memory is not archived");
}

base::Result<std::vector<base::Digest>> MemoryLog::archived_blobs(std::string_view /*model*/) {
    return {};
}

base::Result<void> MemoryLog::copy_to(const std::filesystem::path& /*folder*/) {
    return base::fail(base::ErrorCode::unsupported, "a log in memory has no files to copy");
}

}  // namespace engine
