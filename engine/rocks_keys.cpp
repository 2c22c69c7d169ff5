#include "engine/little_endian.hpp"
#include "engine/rocks_store.hpp"

#include <cstring>

namespace engine {

namespace {

constexpr std::size_t head_value_bytes = 4 + 8 + 32;

std::string prefix(char kind, std::string_view model) {
    std::string key;
    key.reserve(model.size() + 10);
    key.push_back(kind);
    key.append(model);
    key.push_back('\0');
    return key;
}

std::string numbered(std::string key, Seq seq) {
    for (unsigned i = 0; i < 8; ++i)
        key.push_back(static_cast<char>(seq >> (56U - 8U * i)));
    return key;
}

}  // namespace

std::string rocks_chunk_prefix(std::string_view model) {
    return prefix('c', model);
}

std::string rocks_chunk_key(std::string_view model, Seq first) {
    return numbered(prefix('c', model), first);
}

std::string rocks_archive_key(std::string_view model, Seq first) {
    return numbered(prefix('a', model), first);
}

std::string rocks_case_key(std::string_view model, base::CaseId id) {
    return numbered(prefix('e', model), id.seq);
}

Seq rocks_key_seq(std::string_view key) {
    if (key.size() < 8) return 0;
    Seq seq = 0;
    for (const char byte : key.substr(key.size() - 8)) {
        seq = seq << 8U | static_cast<unsigned char>(byte);
    }
    return seq;
}

std::string rocks_head_key(std::string_view model) {
    return "h" + std::string(model);
}

std::string rocks_head_value(const RocksHead& head) {
    std::string value;
    value.reserve(head_value_bytes);
    append_little_endian(value, head.epoch, 4);
    append_little_endian(value, head.head.seq, 8);
    for (const std::uint8_t byte : head.head.hash.bytes)
        value.push_back(static_cast<char>(byte));
    return value;
}

std::optional<RocksHead> rocks_head(std::string_view value) {
    if (value.size() != head_value_bytes) return std::nullopt;
    RocksHead head;
    head.epoch = static_cast<Epoch>(little_endian(value.substr(0, 4)));
    head.head.seq = little_endian(value.substr(4, 8));
    std::memcpy(head.head.hash.bytes.data(), value.data() + 12, 32);
    return head;
}

}  // namespace engine
