#pragma once

#include "base/files.hpp"
#include "blobstore/archive.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

namespace blobstore_test {

// A source that gives the bytes in pieces, so that nothing relies on seeing all at once.
inline blobstore::ByteSource source_of(std::string_view bytes, std::size_t piece = 1000) {
    return [bytes, piece]() mutable -> base::Result<std::string_view> {
        const auto next = bytes.substr(0, piece);
        bytes.remove_prefix(next.size());
        return next;
    };
}

struct TarEntry {
    std::string name;
    char type = '0';
    std::string content = {};
    std::string target = {};
    unsigned mode = 0644;
    // Given when the header is to lie about it.
    std::string size = {};
};

inline std::string octal(std::uint64_t value, int digits) {
    std::string text(static_cast<std::size_t>(digits), '0');
    for (auto at = text.rbegin(); at != text.rend(); ++at, value /= 8)
        *at = static_cast<char>('0' + value % 8);
    return text;
}

// One ustar header and its content, made by hand: libarchive would not write what is hostile.
inline std::string tar_entry(const TarEntry& entry) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, std::string_view text) {
        std::ranges::copy(text, header.begin() + static_cast<std::ptrdiff_t>(at));
    };
    put(0, entry.name.substr(0, 100));
    put(100, octal(entry.mode, 7));
    put(108, octal(0, 7));
    put(116, octal(0, 7));
    put(124, entry.size.empty() ? octal(entry.content.size(), 11) : entry.size);
    put(136, octal(0, 11));
    put(148, "        ");
    header[156] = entry.type;
    put(157, entry.target.substr(0, 100));
    put(257, std::string_view("ustar\00000", 8));
    unsigned sum = 0;
    for (const char c : header)
        sum += static_cast<unsigned char>(c);
    put(148, octal(sum, 6) + '\0');
    std::string bytes = header + entry.content;
    bytes.resize((bytes.size() + 511) / 512 * 512, '\0');
    return bytes;
}

inline std::string tar(const std::vector<TarEntry>& entries) {
    std::string bytes;
    for (const auto& entry : entries)
        bytes += tar_entry(entry);
    return bytes + std::string(1024, '\0');
}

// What lies in a folder: path -> content, "link:TARGET" or "folder".
inline std::map<std::string, std::string> tree(const std::filesystem::path& folder) {
    std::map<std::string, std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const auto name = entry.path().lexically_relative(folder).string();
        if (entry.is_symlink()) {
            found[name] = "link:" + std::filesystem::read_symlink(entry.path()).string();
        } else if (entry.is_directory()) {
            found[name] = "folder";
        } else {
            found[name] = base::read_file(entry.path(), std::size_t{1} << 30U).value_or("?");
        }
    }
    return found;
}

}  // namespace blobstore_test
