#include "base/files.hpp"
#include "base/json.hpp"
#include "base/random.hpp"
#include "blobstore/archive.hpp"
#include "cli/backup_manifest.hpp"
#include "cli/command.hpp"
#include "cli/master_client.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "engine/data_directory.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr blobstore::ArchiveLimits archive_limits{
    .entries_max = 100'000'000,
    .entry_bytes_max = std::uint64_t{1} << 40U,
    .bytes_max = std::uint64_t{1} << 44U,
};

struct BackupOptions {
    std::string file;
    bool keys = false;
    bool force = false;
};
void declare_backup(CLI::App& app, BackupOptions& options) {
    app.add_option("FILE", options.file, "The archive to write (tar, zstd)")->required();
    app.add_flag("--keys", options.keys, "With the tokens, which are left out otherwise");
    app.add_flag("--force", options.force, "Replace FILE when it exists");
}

struct RestoreOptions {
    std::string file;
    bool unverified = false;
};
void declare_restore(CLI::App& app, RestoreOptions& options) {
    app.add_option("FILE", options.file, "An archive of netwright backup")->required();
    app.add_flag(
        "--unverified",
        options.unverified,
        "Also an archive without SHA256SUMS, as early versions wrote it"
    );
}

// What belongs into a backup, by the first part of its name.
bool wanted(const fs::path& relative, bool keys) {
    const auto first = relative.begin()->string();
    if (first == "admin.token" || first == "lease.key") return keys;
    if (relative.filename() == "LOCK" || relative.filename() == "lock") return false;
    return first != "endpoint.json" && first != "executor" && first != "backups" &&
           !(first == "blobs" && relative.string().contains("/tmp/"));
}

struct Entry {
    std::string name;  ///< in the archive
    fs::path file;
};
struct Listed {
    std::vector<Entry> files;
    std::uint64_t bytes = 0;
};

void list_log(const fs::path& log, Listed& listed, std::error_code& failed) {
    for (fs::recursive_directory_iterator at(log, failed), end; !failed && at != end;
         at.increment(failed)) {
        if (!at->is_regular_file() || at->path().filename() == "LOCK") continue;
        listed.files.push_back({("log" / at->path().lexically_relative(log)).string(), at->path()});
        listed.bytes += at->file_size();
    }
}

// `log`: where the log is read from; a running master's own goes on changing.
base::Result<Listed> list_files(const fs::path& data, const fs::path& log, bool keys) {
    Listed listed;
    std::error_code failed;
    list_log(log, listed, failed);
    for (fs::recursive_directory_iterator at(data, failed), end; !failed && at != end;
         at.increment(failed)) {
        const auto relative = at->path().lexically_relative(data);
        if (*relative.begin() == "log" || !at->is_regular_file() || !wanted(relative, keys))
            continue;
        listed.files.push_back({relative.string(), at->path()});
        listed.bytes += at->file_size();
    }
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, "list " + data.string() + ": " + failed.message()
        );
    }
    std::ranges::sort(listed.files, {}, &Entry::name);
    return listed;
}

// As long as it is now, and the sha256 of what went into the archive.
base::Result<base::Digest> add_hashed(blobstore::ArchiveWriter& writer, const Entry& entry) {
    const base::FileDescriptor handle(
        ::open(entry.file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    );
    if (!handle) return base::fail(base::errno_error("open " + entry.file.string()));
    struct stat status{};
    if (::fstat(handle.value(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return base::fail(
            base::ErrorCode::validation, entry.file.string() + " is not a regular file"
        );
    }
    base::Sha256 hash;
    std::uint64_t left = static_cast<std::uint64_t>(status.st_size);
    auto added = writer.add_stream(
        entry.name,
        left,
        [&, source = blobstore::source_from(handle.value())]() -> base::Result<std::string_view> {
            auto piece = source();
            if (!piece) return piece;
            const auto taken = piece->substr(0, std::min<std::uint64_t>(left, piece->size()));
            hash.update(taken);
            left -= taken.size();
            return taken;
        },
        status.st_mode & 0777U
    );
    if (!added) return base::fail(added.error());
    return hash.finish();
}

base::Result<std::uint64_t> write_archive(
    const fs::path& data, const fs::path& log, const BackupOptions& options, int file
) {
    const auto listed = list_files(data, log, options.keys);
    if (!listed) return base::fail(listed.error());
    Progress progress("backup");
    auto writer = blobstore::ArchiveWriter::open(
        blobstore::sink_to(file),
        {.limits = archive_limits,
         .progress = [&](const blobstore::ArchiveProgress& at
                     ) { progress.show(at.bytes, listed->bytes, "bytes"); }}
    );
    if (!writer) return base::fail(writer.error());
    Manifest manifest;
    for (const auto& entry : listed->files) {
        const auto digest = add_hashed(*writer, entry);
        // A running master drops old snapshots and blobs that nothing names.
        if (!digest && digest.error().code == base::ErrorCode::not_found) continue;
        if (!digest) return base::fail(digest.error());
        manifest.emplace(entry.name, *digest);
    }
    auto added = writer->add_bytes(manifest_name, manifest_text(manifest), 0600);
    if (!added) return base::fail(added.error());
    if (auto finished = writer->finish(); !finished) return base::fail(finished.error());
    return manifest.size();
}

base::Result<void> put_in_place(const std::string& part, const BackupOptions& options) {
    const auto& file = options.file;
    if (options.force) {
        if (::rename(part.c_str(), file.c_str()) != 0)
            return base::fail(base::errno_error("write " + file));
    } else {
        int moved = ::renameat2(AT_FDCWD, part.c_str(), AT_FDCWD, file.c_str(), RENAME_NOREPLACE);
        // Some network file systems know no such rename. A link is never made over a file either.
        if (moved != 0 && errno == EINVAL) moved = ::link(part.c_str(), file.c_str());
        if (moved != 0) return base::fail(base::errno_error("write " + file));
        ::unlink(part.c_str());
    }
    const auto folder = fs::path(file).parent_path();
    return base::sync_folder(folder.empty() ? "." : folder);
}

// The archive holds everything that the workflows worked on, so it is for its owner only from its
// first byte on.
base::Result<std::uint64_t> write_file(
    const fs::path& data, const fs::path& log, const BackupOptions& options
) {
    const auto part = options.file + ".part-" + base::random_hex(8);
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const base::FileDescriptor file(::open(part.c_str(), flags, 0600));
    if (!file) return base::fail(base::errno_error("create " + part));
    auto files = write_archive(data, log, options, file.value());
    if (files && ::fsync(file.value()) != 0) files = base::fail(base::errno_error("sync " + part));
    if (files) {
        if (auto placed = put_in_place(part, options); !placed) files = base::fail(placed.error());
    }
    if (!files) ::unlink(part.c_str());
    return files;
}

Outcome<Exit> archive(
    Context& context, const BackupOptions& options, const fs::path& data, const fs::path& log
) {
    const auto files = write_file(data, log, options);
    if (!files) return failed(files.error());
    print(
        context.json ? base::canonical(base::Json{{"file", options.file}, {"files", *files}})
                     : fmt::format("{} files are in {}", *files, options.file)
    );
    return Exit::good;
}

Outcome<Exit> backup(Context& context, const BackupOptions& options) {
    const fs::path data = context.data.empty() ? default_data() : fs::path(context.data);
    std::error_code ignored;
    if (!fs::is_directory(data / "log", ignored)) {
        return wrong_usage(
            data.string() + " is no data directory of a master", "name it with --data DIR"
        );
    }
    struct stat status{};
    if (!options.force && ::lstat(options.file.c_str(), &status) == 0) {
        return wrong_usage(options.file + " exists", "name a new file, or replace it with --force");
    }
    // A stopped directory is locked while it is read; a running master holds a copy of its log
    // still.
    const auto directory = engine::DataDirectory::open_to_read(data);
    if (directory) return archive(context, options, data, data / "log");
    if (directory.error().code != base::ErrorCode::conflict) return failed(directory.error());
    auto master = context.master();
    if (!master) return std::unexpected(std::move(master.error()));
    const auto held = master->post("/api/backups", "{}");
    if (!held) return std::unexpected(held.error());
    const auto view = parsed(*held);
    if (!view) return std::unexpected(view.error());
    const auto done = archive(context, options, data, data / field(*view, "log"));
    const auto released = master->remove("/api/backups/" + field(*view, "id"));
    if (done && !released) return std::unexpected(released.error());
    return done;
}

Outcome<void> make_empty(const fs::path& data) {
    std::error_code failed;
    if (fs::exists(data, failed) && !fs::is_empty(data, failed)) {
        return wrong_usage(
            data.string() + " is not empty", "restore into a new directory, then serve from it"
        );
    }
    fs::create_directories(data, failed);
    if (failed) return wrong_usage("make " + data.string() + ": " + failed.message());
    fs::permissions(data, fs::perms::owner_all, failed);
    if (failed) return wrong_usage("make " + data.string() + " private: " + failed.message());
    return {};
}

// Whether there was a manifest, which is not among the master's files.
base::Result<bool> verify(const fs::path& folder, const RestoreOptions& options) {
    const auto good = verify_manifest(folder);
    if (!good && good.error().code == base::ErrorCode::not_found) {
        if (options.unverified) return false;
        return base::fail(
            base::ErrorCode::tamper,
            fmt::format("{} has no {}", options.file, manifest_name),
            "it was cut, or an early version wrote it: that one is restored with --unverified"
        );
    }
    if (!good) return base::fail(good.error());
    if (::unlink((folder / manifest_name).c_str()) != 0) {
        return base::fail(base::errno_error(fmt::format("remove {}", manifest_name)));
    }
    return true;
}

base::Result<void> move_up(const fs::path& folder) {
    std::error_code failed;
    for (fs::directory_iterator at(folder, failed), end; !failed && at != end;
         at.increment(failed)) {
        fs::rename(at->path(), folder.parent_path() / at->path().filename(), failed);
        if (failed) break;
    }
    if (!failed) fs::remove(folder, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal,
            fmt::format("move what {} holds: {}", folder.string(), failed.message())
        );
    }
    return base::sync_folder(folder.parent_path());
}

// Into a folder that keeps a master from starting there until everything is verified and in place.
base::Result<std::uint64_t> restore_to(
    const fs::path& data, int file, const RestoreOptions& options
) {
    const auto folder = data / engine::restoring_name;
    std::error_code failed;
    fs::create_directory(folder, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, "make " + folder.string() + ": " + failed.message()
        );
    }
    Progress progress("restore");
    const auto report = blobstore::extract_archive(
        blobstore::source_from(file),
        folder,
        {.limits = archive_limits,
         .progress = [&](const blobstore::ArchiveProgress& at
                     ) { progress.show(at.bytes, 0, "bytes"); },
         .durable = true}
    );
    const base::Result<bool> verified =
        report ? verify(folder, options) : base::fail(report.error());
    if (!verified) {
        fs::remove_all(folder, failed);
        return base::fail(verified.error());
    }
    if (auto moved = move_up(folder); !moved) return base::fail(moved.error());
    return report->entries - (*verified ? 1 : 0);
}

Outcome<Exit> restore(Context& context, const RestoreOptions& options) {
    if (context.data.empty()) return wrong_usage("--data DIR is needed: where to restore to");
    const fs::path data = context.data;
    const base::FileDescriptor file(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return wrong_usage(base::errno_error("open " + options.file));
    if (auto made = make_empty(data); !made) return std::unexpected(std::move(made.error()));
    const auto files = restore_to(data, file.value(), options);
    if (!files) return wrong_usage(files.error());
    print(
        context.json ? base::canonical(base::Json{{"data", data.string()}, {"files", *files}})
                     : fmt::format(
                           "{} files are in {}; next: netwright audit verify --state --data {}",
                           *files,
                           data.string(),
                           data.string()
                       )
    );
    return Exit::good;
}

}  // namespace

void add_backup(CLI::App& app, Context& context) {
    add_command<BackupOptions>(
        app,
        {"backup", "All of a master's directory in one archive, running or stopped", Takes::master},
        context,
        &declare_backup,
        &backup
    );
    add_command<RestoreOptions>(
        app,
        {"restore", "A new data directory from a backup", Takes::master},
        context,
        &declare_restore,
        &restore
    );
}

}  // namespace cli
