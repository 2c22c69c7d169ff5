#include "cli/backup_manifest.hpp"

#include "base/files.hpp"
#include "base/plural.hpp"
#include "blobstore/archive.hpp"

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t digest_digits = 64;
constexpr std::string_view separator = "  ";
constexpr std::size_t listed_max = 20;

base::Error damaged(std::string message, std::vector<base::ErrorDetail> details = {}) {
    return {
        base::ErrorCode::tamper,
        std::move(message),
        "the archive was changed or damaged: restore another one",
        std::move(details)
    };
}

base::Result<Manifest> read_manifest(std::string_view text) {
    Manifest manifest;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = text.substr(0, end);
        const auto digest = base::Digest::from_hex(line.substr(0, digest_digits));
        const bool separated = line.size() > digest_digits + separator.size() &&
                               line.substr(digest_digits, separator.size()) == separator;
        if (end == std::string_view::npos || !digest || !separated ||
            !manifest.emplace(line.substr(digest_digits + separator.size()), *digest).second) {
            return base::fail(damaged(fmt::format("{} is malformed", manifest_name)));
        }
        text.remove_prefix(end + 1);
    }
    return manifest;
}

base::Result<base::Digest> digest_of(const fs::path& file) {
    const base::FileDescriptor handle(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!handle) return base::fail(base::errno_error("open " + file.string()));
    const auto source = blobstore::source_from(handle.value());
    base::Sha256 hash;
    for (;;) {
        const auto piece = source();
        if (!piece) return base::fail(piece.error());
        if (piece->empty()) return hash.finish();
        hash.update(*piece);
    }
}

/// The difference of one file, and takes it off the manifest.
base::Result<std::optional<std::string>> difference(
    const fs::path& file, const std::string& name, Manifest& manifest
) {
    const auto listed = manifest.find(name);
    if (listed == manifest.end()) return fmt::format("'{}' is not listed", name);
    const auto expected = listed->second;
    manifest.erase(listed);
    if (!fs::is_regular_file(fs::symlink_status(file)))
        return fmt::format("'{}' is not a regular file", name);
    const auto digest = digest_of(file);
    if (!digest) return base::fail(digest.error());
    if (*digest != expected) return fmt::format("'{}' has other bytes than were archived", name);
    return std::nullopt;
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
    std::string text;
    for (const auto& [name, digest] : manifest)
        text += fmt::format("{}{}{}\n", digest.hex(), separator, name);
    return text;
}

base::Result<void> verify_manifest(const fs::path& folder) {
    const auto text = base::read_file(folder / manifest_name, manifest_bytes_max);
    if (!text) return base::fail(text.error());
    auto manifest = read_manifest(*text);
    if (!manifest) return base::fail(manifest.error());
    std::vector<std::string> differences;
    std::error_code failed;
    for (fs::recursive_directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
        const auto name = at->path().lexically_relative(folder).string();
        if (name == manifest_name || fs::is_directory(at->symlink_status())) continue;
        auto found = difference(at->path(), name, *manifest);
        if (!found) return base::fail(found.error());
        if (*found) differences.push_back(std::move(**found));
    }
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, "list " + folder.string() + ": " + failed.message()
        );
    }
    for (const auto& [name, digest] : *manifest)
        differences.push_back(fmt::format("'{}' is missing", name));
    if (differences.empty()) return {};
    std::vector<base::ErrorDetail> details;
    for (const auto& one : differences) {
        if (details.size() < listed_max) details.push_back({"", base::ErrorCode::tamper, one});
    }
    return base::fail(damaged(
        fmt::format(
            "the archive does not match its {}: {}, the first: {}",
            manifest_name,
            base::plural(differences.size(), "difference"),
            differences.front()
        ),
        std::move(details)
    ));
}

}  // namespace cli
