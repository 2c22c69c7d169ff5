#include "executor/journal.hpp"

#include "base/log.hpp"
#include "jobs/wire.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

constexpr std::size_t journal_bytes_max = std::size_t{1} << 30U;
constexpr std::size_t rewrite_bytes_min = std::size_t{4} << 20U;

std::string started_line(const jobs::LeaseRef& ref) {
    base::Json line = {{"event", "started"}};
    jobs::put_ref(line, ref);
    return base::canonical(line) + "\n";
}

std::string finished_line(const jobs::LeaseRef& ref, const FinishedJob& finished) {
    base::Json line = {{"event", "finished"}, {"outcome", jobs::to_json(finished.outcome)}};
    jobs::put_ref(line, ref);
    if (finished.stdout_spool) line["stdoutSpool"] = finished.stdout_spool->string();
    if (finished.stderr_spool) line["stderrSpool"] = finished.stderr_spool->string();
    return base::canonical(line) + "\n";
}

base::Result<KeptResult> kept_result(const std::string& text) {
    const auto json = base::parse_json(text);
    if (!json) return base::fail(json.error());
    jobs::wire::Faults faults;
    jobs::wire::ObjectReader reader(*json, "", faults);
    KeptResult kept;
    reader.text("event");
    kept.ref = jobs::read_ref(reader);
    if (const auto* outcome = reader.required("outcome")) {
        kept.finished.outcome = jobs::read_outcome(*outcome, "/outcome", faults);
    }
    if (auto spool = reader.optional_text("stdoutSpool")) kept.finished.stdout_spool = *spool;
    if (auto spool = reader.optional_text("stderrSpool")) kept.finished.stderr_spool = *spool;
    reader.finish();
    if (!faults.empty()) return base::fail(jobs::wire::error("a kept result", std::move(faults)));
    return kept;
}

}  // namespace

base::Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& file) {
    std::unique_ptr<Journal> journal(new Journal(file));
    if (auto read = journal->read(); !read) return base::fail(read.error());
    // What is over is left out, and the cut line too.
    if (auto written = journal->rewrite(); !written) {
        // There is no room for that now: everything waits for it, and nothing is lost.
        base::log_error(written.error().message);
        journal->state_.suspect = true;
    }
    return journal;
}

Journal::~Journal() = default;

base::Result<void> Journal::read() {
    const auto text = base::read_file(path_, journal_bytes_max);
    if (!text && text.error().code == base::ErrorCode::not_found) return {};
    if (!text) return base::fail(text.error());
    std::size_t number = 0;
    for (std::size_t at = 0; at < text->size();) {
        ++number;
        const auto end = text->find('\n', at);
        if (end == std::string::npos) {
            base::log_warning(path_.string() + ": the last line was cut and is left out");
            return {};
        }
        const auto line = text->substr(at, end - at);
        const auto json = base::parse_json(line);
        const auto applied = json ? apply(*json, line) : base::fail(json.error());
        if (!applied) {
            return base::fail(
                base::ErrorCode::internal,
                fmt::format("{} line {}: {}", path_.string(), number, applied.error().message),
                "the work folder is damaged: move it away and start with a new one"
            );
        }
        at = end + 1;
    }
    return {};
}

base::Result<void> Journal::apply(const base::Json& json, std::string_view text) {
    jobs::wire::Faults faults;
    jobs::wire::ObjectReader reader(json, "", faults);
    const auto event = reader.text("event");
    if (event == "forgotten") {
        const auto lease = jobs::read_lease_id(reader, "lease");
        state_.entries.erase(lease);
    } else if (event == "started") {
        const auto ref = jobs::read_ref(reader);
        state_.entries[ref.lease] = {ref, {}};
    } else if (event == "finished") {
        const auto ref = jobs::read_ref(reader);
        state_.entries[ref.lease] = {ref, std::string(text) + "\n"};
    } else {
        reader.fault("event", fmt::format("'{}' is not known", event));
    }
    if (!faults.empty()) return base::fail(jobs::wire::error("the line", std::move(faults)));
    return {};
}

Journal::Left Journal::left() const {
    Left left;
    for (const auto& [lease, entry] : state_.entries) {
        if (!entry.finished) {
            left.lost.push_back(entry.ref);
            continue;
        }
        auto kept = kept_result(*entry.finished);
        if (kept) {
            left.results.push_back(std::move(*kept));
        } else {
            // The job ran; that its result cannot be read makes it lost.
            base::log_error(kept.error().message);
            left.lost.push_back(entry.ref);
        }
    }
    return left;
}

// The old file stays in force until the new one is whole.
base::Result<void> Journal::rewrite() {
    std::string text;
    for (const auto& [lease, entry] : state_.entries) {
        text += entry.finished ? *entry.finished : started_line(entry.ref);
    }
    if (auto written = base::write_file_atomically(path_, text, 0600); !written) return written;
    base::FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (!file) {
        // What is written to the old one would be seen by nobody.
        state_.suspect = true;
        return base::fail(base::errno_error("open " + path_.string()));
    }
    state_.file = std::move(file);
    state_.bytes = state_.live_bytes = text.size();
    state_.synced = state_.written;
    state_.suspect = false;
    return {};
}

base::Result<void> Journal::started(const jobs::LeaseRef& ref) {
    std::unique_lock lock(mutex_);
    state_.entries[ref.lease] = {ref, {}};
    auto written = append(lock, started_line(ref), true);
    // Not started, so there is nothing to remember.
    if (!written) state_.entries.erase(ref.lease);
    return written;
}

base::Result<void> Journal::finished(const jobs::LeaseRef& ref, const FinishedJob& finished) {
    auto line = finished_line(ref, finished);
    std::unique_lock lock(mutex_);
    state_.entries[ref.lease] = {ref, line};
    return append(lock, line, true);
}

base::Result<void> Journal::forgotten(const jobs::LeaseId& lease) {
    std::unique_lock lock(mutex_);
    if (state_.entries.erase(lease) == 0) return {};
    state_.live_bytes = 0;
    for (const auto& [id, entry] : state_.entries)
        state_.live_bytes += entry.finished ? entry.finished->size() : id.text.size();
    const base::Json line = {{"event", "forgotten"}, {"lease", lease.text}};
    return append(lock, base::canonical(line) + "\n", false);
}

// After a failure nobody knows what of the file is on the disk: it is written again, whole, from
// what is in memory, before anything else. As long as that fails, so does everything.
base::Result<void> Journal::append(Lock& lock, const std::string& line, bool durable) {
    synced_.wait(lock, [&] { return !state_.suspect || !state_.syncing; });
    if (state_.suspect) {
        ++state_.written;
        auto whole = rewrite();
        synced_.notify_all();
        return whole;
    }
    if (auto written = base::write_all(state_.file.value(), line); !written) {
        state_.suspect = true;
        return written;
    }
    state_.bytes += line.size();
    const auto mine = ++state_.written;
    const bool mostly_over =
        state_.bytes > rewrite_bytes_min && state_.bytes > 4 * state_.live_bytes;
    // Where there is no room for a second one, the long one goes on.
    if (mostly_over && !state_.syncing && rewrite()) return {};
    return durable ? sync(lock, mine) : base::Result<void>{};
}

// One thread syncs for all that was written so far; the others wait for it.
base::Result<void> Journal::sync(Lock& lock, std::uint64_t mine) {
    while (state_.synced < mine) {
        if (state_.suspect) {
            return base::fail(base::ErrorCode::internal, path_.string() + " could not be synced");
        }
        if (state_.syncing) {
            synced_.wait(lock);
            continue;
        }
        state_.syncing = true;
        const auto upto = state_.written;
        const int file = state_.file.value();
        lock.unlock();
        const bool good = ::fdatasync(file) == 0;
        lock.lock();
        state_.syncing = false;
        if (good) {
            state_.synced = std::max(state_.synced, upto);
        } else {
            state_.suspect = true;
        }
        synced_.notify_all();
    }
    return {};
}

}  // namespace executor
