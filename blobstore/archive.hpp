#pragma once

#include "base/result.hpp"
#include "blobstore/store.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace blobstore {

/// Takes the next bytes of a stream.
using ByteSink = std::function<base::Result<void>(std::string_view)>;
/// The next bytes of a stream, valid until the next call; empty at the end.
using ByteSource = std::function<base::Result<std::string_view>()>;

/// The descriptor is borrowed, and must stay open while the sink or source is used.
ByteSink sink_to(int fd);
ByteSource source_from(int fd);
ByteSource source_from(Reader& reader);

/// How far a long work is: what it is at, and what it has done (of the content, uncompressed).
struct ArchiveProgress {
    std::string_view name;
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
};
using ArchiveProgressCallback = std::function<void(const ArchiveProgress&)>;

enum class Compression { none, gzip, zstd };

struct ArchiveLimits {
    std::uint64_t entries_max = 100'000;
    std::uint64_t entry_bytes_max = std::uint64_t{4} << 30U;
    std::uint64_t bytes_max = std::uint64_t{16} << 30U;
    std::size_t name_bytes_max = 1024;
    std::size_t depth_max = 32;
};

struct ArchiveWriterOptions {
    Compression compression = Compression::zstd;
    /// A reader with the same limits takes the archive.
    ArchiveLimits limits = {};
    ArchiveProgressCallback progress = {};
};

/// Writes a tar archive as a stream, in flat memory. The same content gives the same bytes: owner
/// and times are not recorded. After an error the writer can only be dropped.
class ArchiveWriter {
public:
    static base::Result<ArchiveWriter> open(ByteSink sink, const ArchiveWriterOptions& options);
    ~ArchiveWriter();
    ArchiveWriter(ArchiveWriter&&) noexcept;
    ArchiveWriter& operator=(ArchiveWriter&&) noexcept;

    base::Result<void> add_bytes(std::string_view name, std::string_view bytes, unsigned mode);
    /// The file as long as it is now; one that shrinks meanwhile is an error. Regular files only.
    /// The file's permissions are kept.
    base::Result<void> add_file(std::string_view name, const std::filesystem::path& file);
    /// `size` bytes of a source: a blob, say.
    base::Result<void> add_stream(
        std::string_view name, std::uint64_t size, const ByteSource& source, unsigned mode
    );
    /// Without this the archive is cut short, and readers say so.
    base::Result<void> finish();

private:
    struct State;
    explicit ArchiveWriter(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

enum class EntryKind { file, folder, link };

struct ArchiveEntry {
    /// Relative, without `.`, `..` or empty parts, valid UTF-8.
    std::string name;
    EntryKind kind = EntryKind::file;
    std::uint64_t size = 0;
    /// The nine permission bits.
    unsigned mode = 0;
    /// Of a link: relative, and within the archive's root.
    std::string target;
};

/// Takes one entry; `content` is read at most once, what is left of it is skipped.
using EntryVisitor = std::function<base::Result<void>(const ArchiveEntry&, const ByteSource&)>;

struct ArchiveReport {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;
};

/// Reads a tar archive, plain or compressed with gzip or zstd, as a stream. Refused (validation):
/// absolute names, `..`, names that are not UTF-8 or hold control characters, symbolic links that
/// leave the root, hard links, devices, FIFOs, setuid, setgid and sticky bits, a name given twice,
/// an entry below what is no folder, an archive that is damaged or cut short. Above a limit:
/// too_large. Owner, times and extended attributes are not taken. Decompression may need 128 MiB
/// (zstd's largest window); otherwise memory is flat, but for the names.
base::Result<ArchiveReport> read_archive(
    const ByteSource& source, const ArchiveLimits& limits, const EntryVisitor& visitor
);

struct ExtractOptions {
    ArchiveLimits limits = {};
    ArchiveProgressCallback progress = {};
    /// All is on the disk when the call returns.
    bool durable = false;
};

/// `read_archive` into a folder that exists and is empty; it is empty again after an error. Folders
/// are at least 0700 and files at least 0600.
base::Result<ArchiveReport> extract_archive(
    const ByteSource& source, const std::filesystem::path& folder, const ExtractOptions& options
);

}  // namespace blobstore
