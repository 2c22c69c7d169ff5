#include "engine/chain.hpp"

#include <charconv>
#include <cstring>

namespace engine {

namespace {

void write_hex(const base::Digest& digest, char* out) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (const std::uint8_t byte : digest.bytes) {
        *out++ = digits[byte >> 4U];
        *out++ = digits[byte & 15U];
    }
}

/// Takes `,"NAME":` and the number behind it off the front of `rest`.
template <class Number>
bool take_number(std::string_view& rest, std::string_view intro, Number& number) {
    if (!rest.starts_with(intro)) return false;
    rest.remove_prefix(intro.size());
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{}) return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    return true;
}

}  // namespace

base::Digest first_prev(std::string_view model) {
    return base::sha256(model);
}

LogHead empty_head(std::string_view model) {
    return {.seq = 0, .hash = first_prev(model)};
}

base::Digest record_hash(const base::Digest& prev, std::string_view bytes) {
    thread_local base::Sha256 hasher;
    char text[unchained_prev.size()];
    write_hex(prev, text);
    return hasher.update({text, sizeof text}).update(bytes).finish();
}

ChainedBatch chain(RecordBatch batch, LogHead& head) {
    thread_local base::Sha256 hasher;
    ChainedBatch chained{.batch = std::move(batch), .hashes = {}};
    chained.hashes.reserve(chained.batch.records.size());
    char* record = chained.batch.bytes.data();
    for (const UnchainedRecord& shape : chained.batch.records) {
        base::check(shape.seq == head.seq + 1, "a record is chained to the one before it");
        char* const prev = record + shape.prev_offset;
        write_hex(head.hash, prev);
        hasher.update({prev, unchained_prev.size()}).update({record, shape.size});
        head = {.seq = shape.seq, .hash = hasher.finish()};
        chained.hashes.push_back(head.hash);
        record += shape.size;
    }
    return chained;
}

std::optional<RecordTail> record_tail(std::string_view bytes) {
    constexpr std::string_view prev_intro = R"(,"prev":")";
    // What follows `prev` is a few short fields, so this looks at the last 200 bytes at most. No
    // string can hold the intro: its quotes would be escaped.
    const std::size_t at = bytes.rfind(prev_intro);
    if (at == std::string_view::npos) return std::nullopt;
    std::string_view rest = bytes.substr(at + prev_intro.size());
    if (rest.size() <= unchained_prev.size()) return std::nullopt;
    RecordTail tail;
    tail.prev = rest.substr(0, unchained_prev.size());
    rest.remove_prefix(unchained_prev.size());
    if (!take_number(rest, R"(","seq":)", tail.seq)) return std::nullopt;
    if (!take_number(rest, R"(,"ts":)", tail.ts.us)) return std::nullopt;
    constexpr std::string_view type_intro = R"(,"type":")";
    if (!rest.starts_with(type_intro)) return std::nullopt;
    rest.remove_prefix(type_intro.size());
    const std::size_t end = rest.find('"');
    if (end == std::string_view::npos) return std::nullopt;
    tail.type = rest.substr(0, end);
    return tail;
}

}  // namespace engine
