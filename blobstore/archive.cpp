#include "blobstore/archive.hpp"

#include "base/files.hpp"
#include "blobstore/disk.hpp"
#include "blobstore/entry_rules.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <optional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace blobstore {

namespace {

constexpr std::size_t piece_bytes = std::size_t{128} << 10U;

struct FreeReader {
    void operator()(archive* reader) const { archive_read_free(reader); }
};
struct FreeWriter {
    void operator()(archive* writer) const { archive_write_free(writer); }
};
struct FreeEntry {
    void operator()(archive_entry* entry) const { archive_entry_free(entry); }
};
using ReaderHandle = std::unique_ptr<archive, FreeReader>;
using WriterHandle = std::unique_ptr<archive, FreeWriter>;
using EntryHandle = std::unique_ptr<archive_entry, FreeEntry>;

std::string why(archive* handle) {
    const char* text = archive_error_string(handle);
    return text == nullptr ? "unknown error" : text;
}

auto broken(archive* handle) {
    return base::fail(
        base::ErrorCode::validation,
        "the archive is damaged, cut short, or no tar archive: " + printable(why(handle))
    );
}

// What the C callbacks see: the stream, and the error that libarchive cannot carry.
struct Input {
    const ByteSource& source;
    std::optional<base::Error> error;
};

la_ssize_t read_callback(archive* handle, void* data, const void** buffer) {
    auto& input = *static_cast<Input*>(data);
    auto bytes = input.source();
    if (!bytes) {
        archive_set_error(handle, EIO, "the source failed");
        input.error = std::move(bytes.error());
        return ARCHIVE_FATAL;
    }
    *buffer = bytes->data();
    return static_cast<la_ssize_t>(bytes->size());
}

// Names in a pax header are UTF-8 whatever the locale; others are bytes.
std::string name_of(archive_entry* entry) {
    if (const char* name = archive_entry_pathname_utf8(entry)) return name;
    if (const char* name = archive_entry_pathname(entry)) return name;
    return {};
}

std::string target_of(archive_entry* entry) {
    if (const char* target = archive_entry_symlink_utf8(entry)) return target;
    if (const char* target = archive_entry_symlink(entry)) return target;
    return {};
}

base::Result<ArchiveEntry> described(archive_entry* raw) {
    ArchiveEntry entry;
    entry.name = name_of(raw);
    const auto refuse = [&](std::string_view what) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format("archive entry '{}' {}", printable(entry.name), what)
        );
    };
    if (archive_entry_hardlink(raw) != nullptr || archive_entry_hardlink_utf8(raw) != nullptr) {
        return refuse("is a hard link");
    }
    switch (archive_entry_filetype(raw)) {
        case AE_IFREG:
            entry.kind = EntryKind::file;
            break;
        case AE_IFDIR:
            entry.kind = EntryKind::folder;
            break;
        case AE_IFLNK:
            entry.kind = EntryKind::link;
            entry.target = target_of(raw);
            break;
        default:
            return refuse("is neither file, folder nor symbolic link");
    }
    const unsigned mode = archive_entry_perm(raw);
    if ((mode & 07000U) != 0) return refuse("has a setuid, setgid or sticky bit");
    entry.mode = mode & 0777U;
    const auto size = archive_entry_size(raw);
    if (size < 0) return refuse("has a negative size");
    entry.size = entry.kind == EntryKind::file ? static_cast<std::uint64_t>(size) : 0;
    return entry;
}

class Reading {
public:
    Reading(const ByteSource& source, const ArchiveLimits& limits)
        : input_{source, std::nullopt},
          rules_(limits),
          handle_(archive_read_new()),
          buffer_(piece_bytes) {}

    base::Result<ArchiveReport> run(const EntryVisitor& visitor) {
        base::check(handle_ != nullptr, "libarchive has no memory");
        if (archive_read_support_format_tar(handle_.get()) != ARCHIVE_OK ||
            archive_read_support_filter_gzip(handle_.get()) != ARCHIVE_OK ||
            archive_read_support_filter_zstd(handle_.get()) != ARCHIVE_OK) {
            return base::fail(base::ErrorCode::internal, "libarchive lacks tar, gzip or zstd");
        }
        if (archive_read_open(handle_.get(), &input_, nullptr, read_callback, nullptr) !=
            ARCHIVE_OK) {
            return failed();
        }
        for (;;) {
            archive_entry* raw = nullptr;
            const int status = archive_read_next_header(handle_.get(), &raw);
            if (status == ARCHIVE_EOF) return end();
            if (status != ARCHIVE_OK && !(status == ARCHIVE_WARN && only_a_name())) return failed();
            if (auto taken = take(raw, visitor); !taken) return base::fail(taken.error());
        }
    }

private:
    std::unexpected<base::Error> failed() {
        if (input_.error) return base::fail(*input_.error);
        return broken(handle_.get());
    }

    // A name that the locale cannot show is a warning; it is taken as UTF-8.
    bool only_a_name() { return why(handle_.get()).find("converted") != std::string::npos; }

    // libarchive takes an archive that ends between two entries for whole. The mark at its end is a
    // block of 512 zeros; what fills up the entry before it is less.
    base::Result<ArchiveReport> end() {
        if (archive_filter_bytes(handle_.get(), 0) - content_end_ < 512) {
            return base::fail(
                base::ErrorCode::validation, "the archive is cut short: it has no end mark"
            );
        }
        return rules_.admitted();
    }

    base::Result<void> take(archive_entry* raw, const EntryVisitor& visitor) {
        auto entry = described(raw);
        if (!entry) return base::fail(std::move(entry.error()));
        if (auto admitted = rules_.admit(*entry); !admitted) return admitted;
        if (entry->name.empty()) return {};
        std::uint64_t left = entry->size;
        const ByteSource content = [&] { return next_piece(left); };
        if (auto visited = visitor(*entry, content); !visited) return visited;
        while (left > 0) {
            if (const auto piece = content(); !piece) return base::fail(piece.error());
        }
        content_end_ = archive_filter_bytes(handle_.get(), 0);
        return {};
    }

    base::Result<std::string_view> next_piece(std::uint64_t& left) {
        if (left == 0) return std::string_view();
        const auto count = archive_read_data(handle_.get(), buffer_.data(), buffer_.size());
        if (count < 0) return failed();
        const auto size = static_cast<std::uint64_t>(count);
        if (size == 0 || size > left) {
            return base::fail(
                base::ErrorCode::validation, "an archive entry has not the size it says"
            );
        }
        left -= size;
        return std::string_view(buffer_.data(), static_cast<std::size_t>(size));
    }

    Input input_;
    EntryRules rules_;
    ReaderHandle handle_;
    std::vector<char> buffer_;
    la_int64_t content_end_ = 0;
};

// Writes entries that have passed the rules below one folder. What libarchive is given is made anew
// from ArchiveEntry, so nothing else of a hostile archive reaches the disk; its own checks are on
// as a second fence.
class Extraction {
public:
    Extraction(std::filesystem::path folder, const ArchiveProgressCallback& progress)
        : folder_(std::move(folder)), progress_(progress), disk_(archive_write_disk_new()) {
        base::check(disk_ != nullptr, "libarchive has no memory");
        archive_write_disk_set_options(
            disk_.get(),
            ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_SECURE_SYMLINKS |
                ARCHIVE_EXTRACT_SECURE_NODOTDOT | ARCHIVE_EXTRACT_NO_OVERWRITE |
                ARCHIVE_EXTRACT_NO_AUTODIR
        );
    }

    base::Result<void> write(const ArchiveEntry& entry, const ByteSource& content) {
        if (auto made = make_parents(entry.name); !made) return made;
        const EntryHandle raw = disk_entry(entry);
        if (archive_write_header(disk_.get(), raw.get()) != ARCHIVE_OK) return failed(entry);
        ++done_.entries;
        for (;;) {
            const auto piece = content();
            if (!piece) return base::fail(piece.error());
            if (piece->empty()) break;
            if (std::cmp_not_equal(
                    archive_write_data(disk_.get(), piece->data(), piece->size()), piece->size()
                )) {
                return failed(entry);
            }
            done_.bytes += piece->size();
            if (progress_) progress_({entry.name, done_.entries, done_.bytes});
        }
        if (archive_write_finish_entry(disk_.get()) != ARCHIVE_OK) return failed(entry);
        if (progress_) progress_({entry.name, done_.entries, done_.bytes});
        return {};
    }

    // Sets the permissions of folders, which libarchive does last.
    base::Result<void> finish() {
        if (archive_write_close(disk_.get()) == ARCHIVE_OK) return {};
        return base::fail(
            base::ErrorCode::internal, "unpack an archive: " + printable(why(disk_.get()))
        );
    }

private:
    [[nodiscard]] EntryHandle disk_entry(const ArchiveEntry& entry) const {
        EntryHandle raw(archive_entry_new());
        base::check(raw != nullptr, "libarchive has no memory");
        archive_entry_set_pathname(raw.get(), (folder_ / entry.name).c_str());
        switch (entry.kind) {
            case EntryKind::file:
                archive_entry_set_filetype(raw.get(), AE_IFREG);
                archive_entry_set_perm(raw.get(), entry.mode | 0600U);
                archive_entry_set_size(raw.get(), static_cast<la_int64_t>(entry.size));
                break;
            case EntryKind::folder:
                archive_entry_set_filetype(raw.get(), AE_IFDIR);
                archive_entry_set_perm(raw.get(), entry.mode | 0700U);
                break;
            case EntryKind::link:
                archive_entry_set_filetype(raw.get(), AE_IFLNK);
                archive_entry_set_perm(raw.get(), 0777);
                archive_entry_set_symlink(raw.get(), entry.target.c_str());
                break;
        }
        return raw;
    }

    // Folders that the archive implies. Through no link: the rules let no link be a parent.
    [[nodiscard]] base::Result<void> make_parents(const std::string& name) const {
        for (auto slash = name.find('/'); slash != std::string::npos;
             slash = name.find('/', slash + 1)) {
            const auto parent = folder_ / name.substr(0, slash);
            if (::mkdir(parent.c_str(), 0755) != 0 && errno != EEXIST) {
                return base::fail(base::errno_error("make folder " + parent.string()));
            }
        }
        return {};
    }

    std::unexpected<base::Error> failed(const ArchiveEntry& entry) {
        const int number = archive_errno(disk_.get());
        const bool full = number == ENOSPC || number == EDQUOT;
        return base::fail(
            full ? base::ErrorCode::limit : base::ErrorCode::internal,
            fmt::format("unpack archive entry '{}': {}", entry.name, printable(why(disk_.get()))),
            full ? "free space on the disk" : ""
        );
    }

    std::filesystem::path folder_;
    const ArchiveProgressCallback& progress_;
    WriterHandle disk_;
    ArchiveReport done_;
};

}  // namespace

base::Result<ArchiveReport> read_archive(
    const ByteSource& source, const ArchiveLimits& limits, const EntryVisitor& visitor
) {
    return Reading(source, limits).run(visitor);
}

base::Result<ArchiveReport> extract_archive(
    const ByteSource& source, const std::filesystem::path& folder, const ExtractOptions& options
) {
    std::error_code error;
    // Without links on the way, which libarchive would refuse to pass.
    const auto root = std::filesystem::canonical(folder, error);
    if (error || !std::filesystem::is_empty(root, error) || error) {
        return base::fail(
            base::ErrorCode::conflict,
            fmt::format("{} is not an empty folder to unpack an archive into", folder.string())
        );
    }
    Extraction extraction(root, options.progress);
    auto report = read_archive(
        source,
        options.limits,
        [&](const ArchiveEntry& entry, const ByteSource& content) {
            return extraction.write(entry, content);
        }
    );
    if (auto finished = extraction.finish(); report && !finished) {
        report = base::fail(std::move(finished.error()));
    }
    if (report && options.durable) {
        if (auto synced = sync_all(root); !synced) report = base::fail(std::move(synced.error()));
    }
    if (!report) empty_folder(root);
    return report;
}

struct ArchiveWriter::State {
    ByteSink sink;
    ArchiveProgressCallback progress;
    std::optional<base::Error> error;
    EntryRules rules;
    ArchiveReport done;
    bool over = false;
    Compression compression;
    WriterHandle handle{archive_write_new()};

    explicit State(const ArchiveWriterOptions& options)
        : progress(options.progress), rules(options.limits), compression(options.compression) {}
    // libarchive ends an archive that is dropped as if it were whole: none of that reaches the
    // sink. (archive_write_fail would keep it from ending it, but leaks the buffers of its
    // filters.)
    ~State() { over = true; }
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    [[nodiscard]] std::unexpected<base::Error> failed() const {
        if (error) return base::fail(*error);
        return base::fail(
            base::ErrorCode::internal, "write an archive: " + printable(why(handle.get()))
        );
    }
    base::Result<void> open();
    base::Result<void> write_header(std::string_view name, std::uint64_t size, unsigned mode);
    base::Result<void> write_content(std::string_view name, std::string_view bytes);
};

namespace {

template <class State>
la_ssize_t write_callback(archive* /*handle*/, void* data, const void* buffer, std::size_t size) {
    auto& state = *static_cast<State*>(data);
    if (!state.over && !state.error) {
        auto taken = state.sink(std::string_view(static_cast<const char*>(buffer), size));
        // Looked at after every call; libarchive itself need not know.
        if (!taken) state.error = std::move(taken.error());
    }
    return static_cast<la_ssize_t>(size);
}

}  // namespace

base::Result<void> ArchiveWriter::State::open() {
    base::check(handle != nullptr, "libarchive has no memory");
    int status = archive_write_set_format_pax_restricted(handle.get());
    // Names as they are: a conversion would depend on the locale.
    status += archive_write_set_format_option(handle.get(), "pax", "hdrcharset", "BINARY");
    switch (compression) {
        case Compression::none:
            break;
        case Compression::gzip:
            status += archive_write_add_filter_gzip(handle.get());
            status += archive_write_set_filter_option(handle.get(), "gzip", "timestamp", nullptr);
            break;
        case Compression::zstd:
            status += archive_write_add_filter_zstd(handle.get());
            break;
    }
    status += archive_write_set_bytes_per_block(handle.get(), piece_bytes);
    status += archive_write_set_bytes_in_last_block(handle.get(), 1);
    if (status == ARCHIVE_OK) {
        status = archive_write_open(handle.get(), this, nullptr, write_callback<State>, nullptr);
    }
    if (status != ARCHIVE_OK || error) return failed();
    return {};
}

base::Result<void> ArchiveWriter::State::write_header(
    std::string_view name, std::uint64_t size, unsigned mode
) {
    ArchiveEntry admitted{.name = std::string(name), .size = size, .mode = mode, .target = {}};
    if (auto allowed = rules.admit(admitted); !allowed) return allowed;
    const EntryHandle entry(archive_entry_new());
    base::check(entry != nullptr, "libarchive has no memory");
    archive_entry_set_pathname(entry.get(), admitted.name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), mode & 0777U);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(size));
    archive_entry_set_mtime(entry.get(), 0, 0);
    if (archive_write_header(handle.get(), entry.get()) != ARCHIVE_OK || error) return failed();
    ++done.entries;
    if (progress) progress({name, done.entries, done.bytes});
    return {};
}

base::Result<void> ArchiveWriter::State::write_content(
    std::string_view name, std::string_view bytes
) {
    while (!bytes.empty()) {
        const auto piece = bytes.substr(0, piece_bytes);
        const auto written = archive_write_data(handle.get(), piece.data(), piece.size());
        if (std::cmp_not_equal(written, piece.size()) || error) return failed();
        bytes.remove_prefix(piece.size());
        done.bytes += piece.size();
        if (progress) progress({name, done.entries, done.bytes});
    }
    return {};
}

ArchiveWriter::ArchiveWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ArchiveWriter::~ArchiveWriter() = default;
ArchiveWriter::ArchiveWriter(ArchiveWriter&&) noexcept = default;
ArchiveWriter& ArchiveWriter::operator=(ArchiveWriter&&) noexcept = default;

base::Result<ArchiveWriter> ArchiveWriter::open(
    ByteSink sink, const ArchiveWriterOptions& options
) {
    auto state = std::make_unique<State>(options);
    state->sink = std::move(sink);
    if (auto opened = state->open(); !opened) return base::fail(opened.error());
    return ArchiveWriter(std::move(state));
}

base::Result<void> ArchiveWriter::add_bytes(
    std::string_view name, std::string_view bytes, unsigned mode
) {
    if (auto begun = state_->write_header(name, bytes.size(), mode); !begun) return begun;
    return state_->write_content(name, bytes);
}

base::Result<void> ArchiveWriter::add_stream(
    std::string_view name, std::uint64_t size, const ByteSource& source, unsigned mode
) {
    if (auto begun = state_->write_header(name, size, mode); !begun) return begun;
    while (size > 0) {
        const auto piece = source();
        if (!piece) return base::fail(piece.error());
        if (piece->empty()) {
            return base::fail(
                base::ErrorCode::conflict,
                fmt::format("'{}' ended {} bytes early while it was archived", name, size)
            );
        }
        const auto wanted = piece->substr(
            0, static_cast<std::size_t>(std::min<std::uint64_t>(size, piece->size()))
        );
        if (auto written = state_->write_content(name, wanted); !written) return written;
        size -= wanted.size();
    }
    return {};
}

base::Result<void> ArchiveWriter::finish() {
    if (archive_write_close(state_->handle.get()) != ARCHIVE_OK || state_->error) {
        return state_->failed();
    }
    return {};
}

}  // namespace blobstore
