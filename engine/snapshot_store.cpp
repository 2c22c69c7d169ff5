#include "engine/snapshot_store.hpp"

#include "base/log.hpp"
#include "engine/snapshot_file.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <fmt/format.h>
#include <system_error>

namespace engine {

namespace {

constexpr std::size_t newest_kept = 3;

struct SnapshotName {
    Seq seq = 0;
    std::uint64_t n = 0;
    std::filesystem::path path;
};

/// SEQ-N.snapshot
std::optional<SnapshotName> snapshot_name(const std::filesystem::path& path) {
    if (path.extension() != ".snapshot") return std::nullopt;
    const std::string stem = path.stem().string();
    const std::size_t dash = stem.find('-');
    if (dash == std::string::npos) return std::nullopt;
    SnapshotName name{.seq = 0, .n = 0, .path = path};
    const char* const middle = stem.data() + dash;
    const char* const end = stem.data() + stem.size();
    const auto seq = std::from_chars(stem.data(), middle, name.seq);
    const auto n = std::from_chars(middle + 1, end, name.n);
    if (seq.ec != std::errc{} || seq.ptr != middle) return std::nullopt;
    if (n.ec != std::errc{} || n.ptr != end) return std::nullopt;
    return name;
}

/// Ascending by seq, then by N.
base::Result<std::vector<SnapshotName>> snapshots_in(const std::filesystem::path& folder) {
    std::vector<SnapshotName> names;
    std::error_code failed;
    if (!std::filesystem::exists(folder, failed)) return names;
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        if (auto name = snapshot_name(entry->path())) names.push_back(std::move(*name));
    }
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, fmt::format("list {}: {}", folder.string(), failed.message())
        );
    }
    std::ranges::sort(names, {}, [](const SnapshotName& name) {
        return std::pair(name.seq, name.n);
    });
    return names;
}

/// What a crash left half written; nothing else writes there now.
base::Result<void> remove_unfinished(const std::filesystem::path& folder) {
    std::vector<std::filesystem::path> unfinished;
    std::error_code failed;
    for (std::filesystem::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        if (entry->path().extension() == ".tmp") unfinished.push_back(entry->path());
    }
    if (failed == std::errc::no_such_file_or_directory) return {};
    for (const auto& path : unfinished) {
        if (!failed) std::filesystem::remove(path, failed);
    }
    if (!failed) return {};
    return base::fail(
        base::ErrorCode::internal, fmt::format("tidy {}: {}", folder.string(), failed.message())
    );
}

}  // namespace

SnapshotStore::SnapshotStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

base::Result<SnapshotWriter> SnapshotStore::create(std::string_view model, const LogHead& head) {
    base::check(base::valid_name(model), "a snapshot belongs to a model");
    const auto folder = folder_ / model;
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, fmt::format("make {}: {}", folder.string(), failed.message())
        );
    }
    const auto names = snapshots_in(folder);
    if (!names) return base::fail(names.error());
    std::uint64_t n = 1;
    for (const SnapshotName& name : *names)
        n = std::max(n, name.n + 1);
    return SnapshotWriter::State::create(
        folder / fmt::format("{:020}-{}.snapshot", head.seq, n), {std::string(model), head, {}, 0}
    );
}

base::Result<std::optional<SnapshotReader>> SnapshotStore::newest_at_or_before(
    std::string_view model, Seq seq
) {
    auto names = snapshots_in(folder_ / model);
    if (!names) return base::fail(names.error());
    std::ranges::reverse(*names);
    for (const SnapshotName& name : *names) {
        if (name.seq > seq) continue;
        auto reader = SnapshotReader::State::open(name.path, model, name.seq);
        if (reader) return std::optional(std::move(*reader));
        base::log_warning("a snapshot is skipped: " + reader.error().message);
    }
    return std::optional<SnapshotReader>();
}

base::Result<std::vector<Seq>> SnapshotStore::list(std::string_view model) const {
    const auto names = snapshots_in(folder_ / model);
    if (!names) return base::fail(names.error());
    std::vector<Seq> seqs;
    for (const SnapshotName& name : *names) {
        if (seqs.empty() || seqs.back() != name.seq) seqs.push_back(name.seq);
    }
    return seqs;
}

base::Result<SnapshotReader> SnapshotStore::open(std::string_view model, Seq seq) {
    auto names = snapshots_in(folder_ / model);
    if (!names) return base::fail(names.error());
    std::ranges::reverse(*names);
    for (const SnapshotName& name : *names) {
        if (name.seq == seq) return SnapshotReader::State::open(name.path, model, seq);
    }
    return base::fail(
        base::ErrorCode::not_found, fmt::format("model '{}' has no snapshot at {}", model, seq)
    );
}

base::Result<void> SnapshotStore::remove(std::string_view model, Seq seq) {
    const auto names = snapshots_in(folder_ / model);
    if (!names) return base::fail(names.error());
    std::error_code failed;
    for (const SnapshotName& name : *names) {
        if (name.seq != seq) continue;
        std::filesystem::remove(name.path, failed);
        if (!failed) continue;
        return base::fail(
            base::ErrorCode::internal,
            fmt::format("remove {}: {}", name.path.string(), failed.message())
        );
    }
    return {};
}

base::Result<void> SnapshotStore::prune(std::string_view model) {
    return prune_snapshots(folder_ / model);
}

base::Result<void> prune_snapshots(const std::filesystem::path& folder) {
    auto names = snapshots_in(folder);
    if (!names) return base::fail(names.error());
    std::ranges::sort(*names, std::ranges::greater{}, &SnapshotName::n);
    std::error_code failed;
    for (std::size_t i = newest_kept; i < names->size(); ++i) {
        if (std::has_single_bit((*names)[i].n)) continue;
        std::filesystem::remove((*names)[i].path, failed);
        if (failed) {
            return base::fail(
                base::ErrorCode::internal,
                fmt::format("remove {}: {}", (*names)[i].path.string(), failed.message())
            );
        }
    }
    return remove_unfinished(folder);
}

}  // namespace engine
