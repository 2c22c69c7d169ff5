#include "executor/output_capture.hpp"

#include "base/log.hpp"

#include <algorithm>
#include <charconv>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

constexpr std::uint64_t tail_bytes_max = std::uint64_t{64} << 10U;
// More than a preview, so that it is seen where its characters begin and end.
constexpr std::size_t preview_source_bytes = jobs::output_preview_bytes + 4;
constexpr std::size_t progress_line_bytes_max = 1100;

std::optional<jobs::Progress> parse_progress(std::string_view text) {
    jobs::Progress progress;
    const auto [end, failed] =
        std::from_chars(text.data(), text.data() + text.size(), progress.percent);
    if (failed != std::errc{} || progress.percent < 0 || progress.percent > 100) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && text.front() != ' ') return std::nullopt;
    if (!text.empty()) text.remove_prefix(1);
    progress.message = base::preview_head(text, jobs::progress_message_bytes_max);
    return progress;
}

}  // namespace

OutputCapture::OutputCapture(std::filesystem::path spool, std::uint64_t cap_bytes)
    : spool_path_(std::move(spool)),
      cap_(cap_bytes),
      tail_max_(std::min(tail_bytes_max, cap_bytes / 2)) {}

OutputCapture::~OutputCapture() = default;

void OutputCapture::add(std::string_view bytes) {
    total_ += bytes.size();
    const std::uint64_t head_room = cap_ - tail_max_ - head_size_;
    const auto head_part = bytes.substr(0, std::min<std::uint64_t>(head_room, bytes.size()));
    if (!head_part.empty()) keep_head(head_part);
    keep_tail(bytes.substr(head_part.size()));
}

void OutputCapture::keep_head(std::string_view bytes) {
    head_size_ += bytes.size();
    if (!spooling_ && head_.size() + bytes.size() <= jobs::output_inline_bytes_max) {
        head_ += bytes;
        return;
    }
    start_spool();
    spill(bytes);
}

void OutputCapture::start_spool() {
    if (spooling_) return;
    spooling_ = true;
    constexpr int flags = O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW;
    spool_.reset(::open(spool_path_.c_str(), flags, 0600));
    spill(head_);
    head_.resize(std::min(head_.size(), preview_source_bytes));
    head_.shrink_to_fit();
}

void OutputCapture::spill(std::string_view bytes) {
    if (disk_failed_) return;
    hasher_.update(bytes);
    if (spool_ && base::write_all(spool_.value(), bytes)) return;
    base::log_error(base::errno_error("write to " + spool_path_.string()).message);
    disk_failed_ = true;
}

void OutputCapture::keep_tail(std::string_view bytes) {
    if (tail_max_ == 0 || bytes.empty()) return;
    if (bytes.size() > tail_max_) bytes.remove_prefix(bytes.size() - tail_max_);
    tail_ += bytes;
    // Trimmed only when twice as long: each byte is moved once at most.
    if (tail_.size() >= 2 * tail_max_) tail_.erase(0, tail_.size() - tail_max_);
}

std::string OutputCapture::last_bytes(std::uint64_t kept) const {
    std::string bytes(std::min<std::uint64_t>(kept, preview_source_bytes), '\0');
    const auto offset = static_cast<off_t>(kept - bytes.size());
    const ssize_t count = ::pread(spool_.value(), bytes.data(), bytes.size(), offset);
    bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return bytes;
}

CapturedOutput OutputCapture::finish(bool durable) {
    if (tail_.size() > tail_max_) tail_.erase(0, tail_.size() - tail_max_);
    CapturedOutput captured;
    jobs::Output& output = captured.output;
    output.bytes_total = total_;
    const std::uint64_t kept = head_size_ + tail_.size();
    if (!spooling_ && kept <= jobs::output_inline_bytes_max) {
        output.text = head_ + tail_;
        output.bytes_kept = kept;
        if (output.truncated()) output.bytes_head = head_size_;
        return captured;
    }
    start_spool();
    spill(tail_);
    if (!disk_failed_ && durable && ::fsync(spool_.value()) != 0) disk_failed_ = true;
    if (disk_failed_) {
        captured.disk_failed = true;
        ::unlink(spool_path_.c_str());
        output.text = head_;
        output.bytes_kept = output.bytes_head = head_.size();
        return captured;
    }
    captured.spool = spool_path_;
    output.bytes_kept = kept;
    if (output.truncated()) output.bytes_head = head_size_;
    output.sha256 = hasher_.finish();
    output.text = base::preview_head(head_, jobs::output_preview_bytes);
    output.tail = base::preview_tail(last_bytes(kept), jobs::output_preview_bytes);
    return captured;
}

std::optional<jobs::Progress> ProgressReader::add(std::string_view bytes) {
    constexpr std::string_view mark = "::progress ";
    std::optional<jobs::Progress> newest;
    while (!bytes.empty()) {
        const auto end = bytes.find('\n');
        const auto part = bytes.substr(0, end);
        // Most of a stream is no progress: only what may still become one is held.
        const auto room = progress_line_bytes_max - line_.size();
        if (part.size() > room) skipping_ = true;
        if (!skipping_) line_ += part;
        const auto start = std::string_view(line_).substr(0, mark.size());
        if (!mark.starts_with(start)) skipping_ = true;
        if (skipping_) line_.clear();
        if (end == std::string_view::npos) return newest;
        bytes.remove_prefix(end + 1);
        if (!skipping_ && line_.starts_with(mark)) {
            if (auto progress = parse_progress(std::string_view(line_).substr(mark.size()))) {
                newest = std::move(progress);
            }
        }
        line_.clear();
        skipping_ = false;
    }
    return newest;
}

}  // namespace executor
