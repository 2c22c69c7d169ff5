#pragma once

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "base/utf8.hpp"
#include "jobs/outcome.hpp"
#include "jobs/sync.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace executor {

/// What was kept of a stream. With `spool` the bytes lie in that file, to be uploaded; `output` has
/// their sha256 and previews already.
struct CapturedOutput {
    jobs::Output output;
    std::optional<std::filesystem::path> spool;
    bool disk_failed = false;  ///< the spool file could not be written: less was kept
};

/// Takes a stream's bytes as they come, in flat memory: the first `output_inline_bytes_max` are
/// held in memory, more goes to a spool file. Past the cap only the newest bytes are held (the
/// tail) and the rest is counted. One thread.
class OutputCapture {
public:
    OutputCapture(std::filesystem::path spool, std::uint64_t cap_bytes);
    ~OutputCapture();
    OutputCapture(OutputCapture&&) = default;

    void add(std::string_view bytes);
    [[nodiscard]] std::uint64_t total() const { return total_; }
    [[nodiscard]] bool over_cap() const { return total_ > cap_; }
    /// Ends the capture. A spool file is synced when `durable`.
    CapturedOutput finish(bool durable);

private:
    void keep_head(std::string_view bytes);
    void keep_tail(std::string_view bytes);
    void start_spool();
    void spill(std::string_view bytes);
    [[nodiscard]] std::string last_bytes(std::uint64_t kept) const;

    std::filesystem::path spool_path_;
    std::uint64_t cap_;
    std::uint64_t tail_max_;
    std::uint64_t total_ = 0;
    std::uint64_t head_size_ = 0;
    std::string head_;  ///< while it fits inline; afterwards its first bytes, for the preview
    std::string tail_;  ///< the newest bytes behind the head, at most twice `tail_max_`
    base::FileDescriptor spool_;
    base::Sha256 hasher_;
    bool spooling_ = false;
    bool disk_failed_ = false;
};

/// Finds `::progress 40 message` lines in a stream. One thread.
class ProgressReader {
public:
    /// The newest progress in `bytes` and what came before, if any.
    std::optional<jobs::Progress> add(std::string_view bytes);

private:
    std::string line_;
    bool skipping_ = false;  ///< the line is too long to be one
};

}  // namespace executor
