#include "engine/log_chunk.hpp"
#include "engine/rocks_store.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace engine {

namespace {

/// Walks the chunks of one model. Not valid: either there is no further chunk (`status` is ok) or
/// the next one cannot be read.
class ChunkCursor {
public:
    ChunkCursor(rocksdb::DB& database, std::string_view model)
        : model_(model), prefix_(rocks_chunk_prefix(model)), end_(prefix_), end_slice_() {
        end_.back() = '\1';
        end_slice_ = end_;
        prefix_slice_ = prefix_;
        rocksdb::ReadOptions options;
        options.iterate_lower_bound = &prefix_slice_;
        options.iterate_upper_bound = &end_slice_;
        iterator_.reset(database.NewIterator(options));
    }

    /// The chunk that would hold `seq`: the last one that begins at or before it.
    void seek_holder(Seq seq) { iterator_->SeekForPrev(rocks_chunk_key(model_, seq)); }
    /// The first chunk that begins at `seq` or after it.
    void seek_start(Seq seq) { iterator_->Seek(rocks_chunk_key(model_, seq)); }
    void next() { iterator_->Next(); }

    [[nodiscard]] bool valid() const { return iterator_->Valid(); }
    [[nodiscard]] Seq first() const {
        const auto key = iterator_->key();
        return rocks_key_seq({key.data(), key.size()});
    }
    [[nodiscard]] std::string_view chunk() const {
        const auto value = iterator_->value();
        return {value.data(), value.size()};
    }
    [[nodiscard]] std::string why() const { return iterator_->status().ToString(); }

private:
    std::string_view model_;
    std::string prefix_;
    std::string end_;
    rocksdb::Slice prefix_slice_;
    rocksdb::Slice end_slice_;
    std::unique_ptr<rocksdb::Iterator> iterator_;
};

base::Error unreadable(std::string_view model, Seq seq, std::string_view why) {
    return {
        base::ErrorCode::tamper,
        fmt::format("record {} of model '{}' cannot be read: {}", seq, model, why),
        "run `netwright audit verify`",
        {}
    };
}

/// Adds the records from `wanted` on of a chunk to the page; false where frames are broken.
bool add_chunk(RecordPage& page, std::string_view chunk, Seq first, Seq wanted) {
    // A short string would move its characters when the vector grows.
    std::string& copy = page.storage.emplace_back();
    copy.reserve(std::max<std::size_t>(chunk.size(), 64));
    copy.assign(chunk);
    ChunkReader reader(copy, first);
    while (auto record = reader.next()) {
        if (record->seq >= wanted) page.records.push_back(*record);
    }
    return reader.whole();
}

void trim(RecordPage& page, const ReadLimit& limit) {
    std::size_t bytes = 0;
    std::size_t count = 0;
    while (count < page.records.size() && count < limit.records_max && bytes < limit.bytes_max) {
        bytes += page.records[count++].bytes.size();
    }
    page.records.resize(count);
}

}  // namespace

base::Result<RecordPage> RocksLog::read(std::string_view model, Seq from, const ReadLimit& limit) {
    return reading([&] { return read_page(model, from, limit); });
}

base::Result<Seq> RocksLog::next_readable(std::string_view model, Seq from) {
    return reading([&] { return find_readable(model, from); });
}

base::Result<RecordPage> RocksLog::read_page(
    std::string_view model, Seq from, const ReadLimit& limit
) {
    base::check(from > 0, "the first record has seq 1");
    const auto end = last_seq(model);
    if (!end) return base::fail(end.error());
    RecordPage page;
    if (from > *end) return page;
    ChunkCursor cursor(*database_, model);
    cursor.seek_holder(from);
    if (!cursor.valid()) return base::fail(unreadable(model, from, cursor.why()));
    Seq next = cursor.first();
    std::size_t bytes = 0;
    while (cursor.valid() && cursor.first() == next) {
        const bool whole = add_chunk(page, cursor.chunk(), next, from);
        if (page.records.empty()) break;
        next = page.records.back().seq + 1;
        bytes += page.storage.back().size();
        if (!whole || page.records.size() >= limit.records_max || bytes >= limit.bytes_max) break;
        cursor.next();
    }
    if (page.records.empty() || page.records.front().seq != from) {
        return base::fail(unreadable(model, from, "it is missing"));
    }
    trim(page, limit);
    return page;
}

base::Result<Seq> RocksLog::find_readable(std::string_view model, Seq from) {
    const auto end = last_seq(model);
    if (!end) return base::fail(end.error());
    ChunkCursor cursor(*database_, model);
    for (Seq bad = from; bad <= *end;) {
        if (read_page(model, bad, {.records_max = 1})) return bad;
        // Some later chunk begins a readable stretch. Chunks hidden by one damaged block are
        // neighbours: leap ahead until a chunk can be read, then halve back to the first that can.
        cursor.seek_holder(*end);
        Seq good = cursor.valid() ? cursor.first() : 0;
        if (good <= bad) return 0;
        for (Seq step = 1; bad + step < good; step *= 2) {
            cursor.seek_start(bad + step);
            if (cursor.valid()) good = std::min(good, cursor.first());
        }
        for (Seq low = bad; good - low > 1;) {
            const Seq middle = low + (good - low) / 2;
            cursor.seek_start(middle);
            if (!cursor.valid()) {
                low = middle;
            } else if (cursor.first() < good) {
                good = cursor.first();
            } else {
                good = middle;
            }
        }
        cursor.seek_start(good);
        if (!cursor.valid()) return 0;
        bad = cursor.first();
    }
    return 0;
}

}  // namespace engine
