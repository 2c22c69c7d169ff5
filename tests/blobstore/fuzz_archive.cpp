// Any bytes as an archive: nothing may crash, leave its folder, or stay behind after a refusal.
#include "base/files.hpp"
#include "blobstore/archive.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const base::TemporaryFolder outer("netwright-fuzz");
    const auto folder = outer.path() / "into";
    std::filesystem::create_directory(folder);
    std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto source = [&]() -> base::Result<std::string_view> {
        const auto piece = bytes.substr(0, 700);
        bytes.remove_prefix(piece.size());
        return piece;
    };
    const blobstore::ArchiveLimits limits{
        .entries_max = 50, .entry_bytes_max = 1 << 20U, .bytes_max = 4U << 20U
    };
    const auto report = blobstore::extract_archive(source, folder, {.limits = limits});
    const auto root = std::filesystem::canonical(folder);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        base::check(report.has_value(), "a refused archive left something behind");
        if (!entry.is_symlink()) continue;
        std::error_code dangling;
        const auto target = std::filesystem::weakly_canonical(entry.path(), dangling);
        const auto within = target.lexically_relative(root).string();
        base::check(dangling || !within.starts_with(".."), "a link leaves the root");
    }
    const auto beside = std::filesystem::directory_iterator(outer.path());
    base::check(std::distance(beside, {}) == 1, "something was written beside the folder");
    std::filesystem::remove_all(folder);
    return 0;
}
