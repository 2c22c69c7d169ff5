#include "engine/heads_file.hpp"

#include "engine/chain.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace engine {

namespace {

// name: length (1 byte) and text; seq (8, little-endian); hash (32); sha256 of all before it.
constexpr std::size_t slot_bytes = 256;
constexpr std::size_t slot_name_max = 128;
constexpr std::size_t slot_seq_at = 160;
constexpr std::size_t slot_hash_at = slot_seq_at + 8;
constexpr std::size_t slot_check_at = slot_bytes - 32;

using SlotBytes = std::array<char, slot_bytes>;

SlotBytes slot_of(std::string_view model, const LogHead& head) {
    SlotBytes slot{};
    slot[0] = static_cast<char>(model.size());
    std::memcpy(slot.data() + 1, model.data(), model.size());
    for (unsigned i = 0; i < 8; ++i)
        slot[slot_seq_at + i] = static_cast<char>(head.seq >> (8U * i));
    std::memcpy(slot.data() + slot_hash_at, head.hash.bytes.data(), 32);
    const auto check = base::sha256({slot.data(), slot_check_at});
    std::memcpy(slot.data() + slot_check_at, check.bytes.data(), 32);
    return slot;
}

std::string slot_name(std::string_view slot) {
    const std::size_t size = static_cast<unsigned char>(slot[0]);
    return std::string(slot.substr(1, std::min(size, slot_name_max)));
}

LogHead slot_head(std::string_view slot) {
    LogHead head;
    for (unsigned i = 0; i < 8; ++i) {
        head.seq |= Seq{static_cast<unsigned char>(slot[slot_seq_at + i])} << (8U * i);
    }
    std::memcpy(head.hash.bytes.data(), slot.data() + slot_hash_at, 32);
    return head;
}

}  // namespace

HeadsFile::HeadsFile(std::filesystem::path path, base::FileDescriptor file, Slots slots)
    : path_(std::move(path)),
      file_(std::move(file)),
      slots_(std::make_unique<base::Guarded<Slots>>(std::move(slots))) {}

base::Result<HeadsFile> HeadsFile::open(const std::filesystem::path& path, bool writable) {
    const int flags = (writable ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC;
    base::FileDescriptor file(::open(path.c_str(), flags, 0600));
    if (!file && (writable || errno != ENOENT)) {
        return base::fail(base::errno_error("open " + path.string()));
    }
    std::string bytes;
    if (file) {
        auto read = base::read_file(path, heads_file_bytes_max);
        if (!read) return base::fail(read.error());
        bytes = std::move(*read);
    }
    Slots slots;
    // A last slot that is not whole was being added when the power went.
    slots.count = bytes.size() / slot_bytes;
    for (std::size_t i = 0; i < slots.count; ++i) {
        const auto slot = std::string_view(bytes).substr(i * slot_bytes, slot_bytes);
        if (slot.find_first_not_of('\0') == std::string_view::npos) continue;
        const auto name = slot_name(slot);
        const auto head = slot_head(slot);
        if (std::ranges::equal(slot_of(name, head), slot)) {
            slots.good[name] = {.index = i, .head = head};
        } else {
            slots.damaged.push_back(name);
        }
    }
    return HeadsFile(path, std::move(file), std::move(slots));
}

base::Result<LogHead> HeadsFile::find(std::string_view model) const {
    return slots_->with([&](const Slots& slots) -> base::Result<LogHead> {
        const bool named = std::ranges::find(slots.damaged, model) != slots.damaged.end();
        const auto found = slots.good.find(model);
        if (found != slots.good.end() && !named) return found->second.head;
        if (slots.damaged.empty()) return empty_head(model);
        return base::fail(
            base::ErrorCode::tamper,
            fmt::format(
                "{} is damaged where it holds the head of model '{}'", path_.string(), model
            ),
            "run `netwright audit verify`; when the log is whole, remove that file"
        );
    });
}

std::vector<std::string> HeadsFile::models() const {
    return slots_->with([](const Slots& slots) {
        std::vector<std::string> names;
        for (const auto& [name, slot] : slots.good)
            names.push_back(name);
        return names;
    });
}

bool HeadsFile::whole() const {
    return slots_->with([](const Slots& slots) { return slots.damaged.empty(); });
}

base::Result<void> HeadsFile::note(std::string_view model, const LogHead& head) {
    const auto slot = slot_of(model, head);
    const std::size_t index = slots_->with([&](Slots& slots) {
        auto found = slots.good.find(model);
        if (found == slots.good.end()) {
            found = slots.good.emplace(
                                  std::string(model), Slot{.index = slots.count++, .head = {}}
            ).first;
        }
        found->second.head = head;
        return found->second.index;
    });
    // Within one page of the file, so no reader sees half of it.
    const auto offset = static_cast<off_t>(index * slot_bytes);
    if (::pwrite(file_.value(), slot.data(), slot.size(), offset) != ssize_t{slot_bytes}) {
        return base::fail(base::errno_error("write " + path_.string()));
    }
    return {};
}

base::Result<void> HeadsFile::sync() {
    if (file_ && ::fdatasync(file_.value()) != 0) {
        return base::fail(base::errno_error("sync " + path_.string()));
    }
    return {};
}

}  // namespace engine
