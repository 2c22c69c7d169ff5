#include "blobstore/entry_rules.hpp"

#include "base/json.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

namespace blobstore {

namespace {

constexpr std::size_t part_bytes_max = 255;  // NAME_MAX

auto refuse(const ArchiveEntry& entry, std::string_view why) {
    return base::fail(
        base::ErrorCode::validation,
        fmt::format("archive entry '{}' {}", printable(entry.name), why)
    );
}

auto too_large(std::string message) {
    return base::fail(
        base::ErrorCode::too_large, std::move(message), "make the archive smaller, or split it"
    );
}

bool plain_text(std::string_view text) {
    const bool control = std::ranges::any_of(text, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    });
    return !control && base::valid_utf8(text);
}

// Parts between slashes, without the empty ones and `.`.
std::vector<std::string_view> parts_of(std::string_view path) {
    std::vector<std::string_view> parts;
    while (!path.empty()) {
        const auto slash = std::min(path.find('/'), path.size());
        const auto part = path.substr(0, slash);
        if (!part.empty() && part != ".") parts.push_back(part);
        path.remove_prefix(std::min(slash + 1, path.size()));
    }
    return parts;
}

std::string joined(const std::vector<std::string_view>& parts) {
    return fmt::format("{}", fmt::join(parts, "/"));
}

// Parents of the entry are real folders, so `..` at the start of a target climbs as it seems to.
// After a part that may itself be a link it may climb further than it seems to: refused.
base::Result<void> admit_target(const ArchiveEntry& entry, std::size_t depth) {
    if (entry.target.empty()) return refuse(entry, "is a link to nothing");
    if (entry.target.front() == '/') return refuse(entry, "is a link to an absolute path");
    if (!plain_text(entry.target))
        return refuse(entry, "is a link to a name that is not plain text");
    std::size_t climbed = 0;
    bool descended = false;
    for (const auto part : parts_of(entry.target)) {
        if (part != "..") {
            descended = true;
            continue;
        }
        if (descended) return refuse(entry, "is a link with '..' after another part");
        if (++climbed >= depth) return refuse(entry, "is a link that leaves the archive's root");
    }
    return {};
}

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::size_t bytes_max = 200;
    const bool utf8 = base::valid_utf8(text);
    std::string out;
    for (const char c : text.substr(0, bytes_max)) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && (!utf8 || text.size() > bytes_max))) {
            out += fmt::format("\\x{:02x}", byte);
        } else {
            out += c;
        }
    }
    if (text.size() > bytes_max) out += "...";
    return out;
}

base::Result<void> EntryRules::admit(ArchiveEntry& entry) {
    if (auto admitted = admit_size(entry); !admitted) return admitted;
    if (auto admitted = admit_name(entry); !admitted) return admitted;
    if (entry.name.empty()) {
        if (entry.kind == EntryKind::folder) return {};
        return refuse(entry, "has no name and is no folder");
    }
    if (auto admitted = admit_place(entry); !admitted) return admitted;
    admitted_.bytes += entry.size;
    return {};
}

base::Result<void> EntryRules::admit_size(const ArchiveEntry& entry) {
    if (++admitted_.entries > limits_.entries_max) {
        return too_large(fmt::format("the archive has more than {} entries", limits_.entries_max));
    }
    if (entry.size > limits_.entry_bytes_max) {
        return too_large(fmt::format(
            "archive entry '{}' has {} bytes; an entry may have {}",
            printable(entry.name),
            entry.size,
            limits_.entry_bytes_max
        ));
    }
    if (entry.size > limits_.bytes_max - std::min(admitted_.bytes, limits_.bytes_max)) {
        return too_large(
            fmt::format("the archive's entries have more than {} bytes", limits_.bytes_max)
        );
    }
    return {};
}

base::Result<void> EntryRules::admit_name(ArchiveEntry& entry) {
    if (entry.name.empty()) return refuse(entry, "has no name");
    if (entry.name.size() > limits_.name_bytes_max ||
        entry.target.size() > limits_.name_bytes_max) {
        return too_large(fmt::format(
            "archive entry '{}' has a name or a target of more than {} bytes",
            printable(entry.name),
            limits_.name_bytes_max
        ));
    }
    if (entry.name.front() == '/') return refuse(entry, "has an absolute name");
    if (!plain_text(entry.name)) {
        return refuse(entry, "has a name that is not UTF-8 or holds control characters");
    }
    const auto parts = parts_of(entry.name);
    for (const auto part : parts) {
        if (part == "..") return refuse(entry, "has '..' in its name");
        if (part.size() > part_bytes_max) return refuse(entry, "has a part of more than 255 bytes");
    }
    if (parts.size() > limits_.depth_max) {
        return too_large(fmt::format(
            "archive entry '{}' is {} folders deep; at most {} are taken",
            printable(entry.name),
            parts.size(),
            limits_.depth_max
        ));
    }
    if (entry.kind == EntryKind::link) {
        if (auto admitted = admit_target(entry, parts.size()); !admitted) return admitted;
    }
    if (entry.kind != EntryKind::folder && entry.name.back() == '/') {
        return refuse(entry, "ends in '/' and is no folder");
    }
    entry.name = joined(parts);
    return {};
}

base::Result<void> EntryRules::admit_place(const ArchiveEntry& entry) {
    for (auto slash = entry.name.find('/'); slash != std::string::npos;
         slash = entry.name.find('/', slash + 1)) {
        const auto [parent, fresh] =
            known_.try_emplace(entry.name.substr(0, slash), Known::folder_implied);
        if (parent->second == Known::other) {
            return refuse(entry, fmt::format("lies below '{}', which is no folder", parent->first));
        }
    }
    const auto kind = entry.kind == EntryKind::folder ? Known::folder : Known::other;
    const auto [known, fresh] = known_.try_emplace(entry.name, kind);
    if (fresh) return {};
    if (kind == Known::folder && known->second == Known::folder_implied) {
        known->second = Known::folder;
        return {};
    }
    return refuse(entry, "is there twice");
}

}  // namespace blobstore
