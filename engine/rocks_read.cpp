#include "engine/rocks_chunks.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace engine {

namespace {

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
    ChunkCursor cursor(*database_, place_.options.blobs, model);
    cursor.seek_holder(from);
    if (!cursor.valid()) return base::fail(unreadable(model, from, cursor.why()));
    Seq next = cursor.first();
    std::size_t bytes = 0;
    while (cursor.valid() && cursor.first() == next) {
        const auto chunk = cursor.chunk();
        if (!chunk && page.records.empty())
            return base::fail(unreadable(model, from, chunk.error().message));
        if (!chunk) break;
        const bool whole = add_chunk(page, *chunk, next, from);
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
    ChunkCursor cursor(*database_, place_.options.blobs, model);
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
