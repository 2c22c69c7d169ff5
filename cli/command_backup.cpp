#include "base/files.hpp"
#include "base/json.hpp"
#include "blobstore/archive.hpp"
#include "cli/command.hpp"
#include "cli/master_client.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "engine/data_directory.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
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
};
void declare_backup(CLI::App& app, BackupOptions& options) {
    app.add_option("FILE", options.file, "The archive to write (tar, zstd)")->required();
    app.add_flag("--keys", options.keys, "With the tokens, which are left out otherwise");
}

struct RestoreOptions {
    std::string file;
};
void declare_restore(CLI::App& app, RestoreOptions& options) {
    app.add_option("FILE", options.file, "An archive of netwright backup")->required();
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

base::Result<std::uint64_t> write_archive(
    const fs::path& data, const fs::path& log, const BackupOptions& options, const std::string& part
) {
    const auto listed = list_files(data, log, options.keys);
    if (!listed) return base::fail(listed.error());
    const base::FileDescriptor file(
        ::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)
    );
    if (!file) return base::fail(base::errno_error("open " + part));
    Progress progress("backup");
    auto writer = blobstore::ArchiveWriter::open(
        blobstore::sink_to(file.value()),
        {.limits = archive_limits,
         .progress = [&](const blobstore::ArchiveProgress& at
                     ) { progress.show(at.bytes, listed->bytes, "bytes"); }}
    );
    if (!writer) return base::fail(writer.error());
    for (const auto& name : listed->files) {
        auto added = writer->add_file(name.name, name.file);
        // A running master drops old snapshots and blobs that nothing names.
        if (!added && added.error().code == base::ErrorCode::not_found) continue;
        if (!added) return base::fail(added.error());
    }
    if (auto finished = writer->finish(); !finished) return base::fail(finished.error());
    if (::fsync(file.value()) != 0) return base::fail(base::errno_error("sync " + part));
    return listed->files.size();
}

Outcome<Exit> archive(
    Context& context, const BackupOptions& options, const fs::path& data, const fs::path& log
) {
    const auto part = options.file + ".part";
    const auto files = write_archive(data, log, options, part);
    if (!files) {
        ::unlink(part.c_str());
        return failed(files.error());
    }
    if (::rename(part.c_str(), options.file.c_str()) != 0) {
        return failed(base::errno_error("write " + options.file));
    }
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
    // A stopped directory is locked while it is read; a running master holds a copy of its log
    // still.
    const auto directory = engine::DataDirectory::open(data);
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
    return {};
}

Outcome<Exit> restore(Context& context, const RestoreOptions& options) {
    if (context.data.empty()) return wrong_usage("--data DIR is needed: where to restore to");
    const fs::path data = context.data;
    const base::FileDescriptor file(::open(options.file.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) return wrong_usage(base::errno_error("open " + options.file));
    if (auto made = make_empty(data); !made) return std::unexpected(std::move(made.error()));
    Progress progress("restore");
    const auto report = blobstore::extract_archive(
        blobstore::source_from(file.value()),
        data,
        {.limits = archive_limits,
         .progress = [&](const blobstore::ArchiveProgress& at
                     ) { progress.show(at.bytes, 0, "bytes"); },
         .durable = true}
    );
    if (!report) return wrong_usage(report.error());
    print(
        context.json
            ? base::canonical(base::Json{{"data", data.string()}, {"files", report->entries}})
            : fmt::format(
                  "{} files are in {}; next: netwright audit verify --state --data {}",
                  report->entries,
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
