#include "executor/executor.hpp"

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "executor/daemon.hpp"
#include "executor/http_transport.hpp"
#include "executor/job_runner.hpp"
#include "executor/journal.hpp"
#include "jobs/routes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

constexpr std::size_t host_bytes_max = 40;

namespace files = std::filesystem;

base::Result<base::FileDescriptor> lock_work(const files::path& work) {
    std::error_code failed;
    files::create_directories(work, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal, fmt::format("make {}: {}", work.string(), failed.message())
        );
    }
    // Scripts, output and results of every job are here.
    files::permissions(work, files::perms::owner_all, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal,
            fmt::format("make {} private (mode 700): {}", work.string(), failed.message()),
            "let --work be a folder of the executor's own user"
        );
    }
    const auto file = work / "lock";
    base::FileDescriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (!lock) return base::fail(base::errno_error("open " + file.string()));
    if (::flock(lock.value(), LOCK_EX | LOCK_NB) != 0) {
        return base::fail(
            base::ErrorCode::conflict,
            fmt::format("another executor works in {}", work.string()),
            "stop it, or give this one another --work"
        );
    }
    return lock;
}

std::string host_part() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    std::string out;
    for (const char* c = name.data(); *c != 0 && out.size() < host_bytes_max; ++c) {
        const char lower = *c >= 'A' && *c <= 'Z' ? static_cast<char>(*c - 'A' + 'a') : *c;
        const bool plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
        if (plain || (!out.empty() && lower == '-')) out += lower;
    }
    return out.empty() ? "executor" : out;
}

base::Result<std::string> executor_id(const Options& options) {
    const auto file = options.work / "executor.id";
    auto id = options.id ? base::Result<std::string>(*options.id) : first_line_of(file);
    if (!id && id.error().code == base::ErrorCode::not_found) {
        id = fmt::format("{}-{}", host_part(), base::random_hex(4));
        if (auto written = base::write_file_atomically(file, *id + "\n"); !written) {
            return base::fail(written.error());
        }
    }
    if (id && !jobs::routes::valid_executor_id(*id)) {
        return base::fail(
            base::ErrorCode::validation,
            fmt::format("'{}' is not a valid id of an executor", *id),
            "use a-z, 0-9, '.', '_' and '-', at most 64 bytes"
        );
    }
    return id;
}

/// Greater than every earlier one of this executor: from the work folder, and where that was lost,
/// from the clock.
base::Result<std::uint64_t> next_session(const files::path& work) {
    const auto file = work / "session";
    std::uint64_t last = 0;
    if (const auto text = first_line_of(file)) {
        const auto parsed = std::from_chars(text->data(), text->data() + text->size(), last);
        if (parsed.ec != std::errc{} || parsed.ptr != text->data() + text->size()) {
            return base::fail(
                base::ErrorCode::validation,
                fmt::format("{} is not a number: '{}'", file.string(), *text),
                "remove the file: the next number is then taken from the clock"
            );
        }
    } else if (text.error().code != base::ErrorCode::not_found) {
        return base::fail(text.error());
    }
    const auto now = static_cast<std::uint64_t>(base::system_clock().now().us);
    const auto session = std::max(last + 1, now);
    // Without it the next number comes from the clock, which is later than this one.
    auto written = base::write_file_atomically(file, std::to_string(session) + "\n");
    if (!written) base::log_warning(written.error().message);
    return session;
}

std::uint64_t random_seed() {
    return std::stoull(base::random_hex(8), nullptr, 16);
}

RunnerOptions runner_options(const Options& options) {
    RunnerOptions runner;
    runner.work = options.work;
    runner.slots = options.slots;
    runner.slot_uid_base = options.slot_uid_base;
    runner.allow_unsandboxed = options.allow_unsandboxed;
    runner.use_cgroups = options.use_cgroups;
    // Named after the work folder, which is locked: what is swept there is nobody else's.
    std::error_code ignored;
    const auto work = files::absolute(options.work, ignored).string();
    runner.cgroups.parent = "netwright-" + base::sha256(work).hex().substr(0, 16);
    runner.cgroups.own = own_unified_cgroup();
    return runner;
}

base::Result<void> check_options(const Options& options) {
    if (options.slots >= 1 && options.slots <= slots_max) return {};
    return base::fail(
        base::ErrorCode::validation,
        fmt::format("{} slots; an executor has 1 to {}", options.slots, slots_max)
    );
}

void sweep(const JobRunner& runner, const Journal& journal) {
    std::set<jobs::LeaseId> kept;
    for (const auto& result : journal.left().results)
        kept.insert(result.ref.lease);
    runner.sweep_spool(kept);
}

}  // namespace

base::Result<void> run(const Options& options, const http::StopSignal& stop) {
    if (auto good = check_options(options); !good) return good;
    const auto lock = lock_work(options.work);
    if (!lock) return base::fail(lock.error());
    const auto id = executor_id(options);
    if (!id) return base::fail(id.error());
    const auto key_file = options.work / "executor.key";
    std::error_code ignored;
    if (options.enrolment.token_file && !files::exists(key_file, ignored)) {
        // Told before anything else is tried.
        const auto token = first_line_of(*options.enrolment.token_file);
        if (!token) return base::fail(token.error());
    }
    const auto key = executor_key(key_file);
    if (!key) return base::fail(key.error());
    auto journal = Journal::open(options.work / "journal");
    if (!journal) return base::fail(journal.error());
    const auto session = next_session(options.work);
    if (!session) return base::fail(session.error());
    const auto& clock = base::system_clock();
    auto runner = JobRunner::start(runner_options(options), clock);
    if (!runner) return base::fail(runner.error());
    sweep(**runner, **journal);

    http::ClientOptions client;
    client.url = options.master;
    client.ca_file = options.ca_file;
    client.body_bytes_max = jobs::sync_body_bytes_max;
    auto access = Access::make(client, *id, *key, options.enrolment);
    if (!access) return base::fail(access.error());
    HttpTransport transport(std::move(client), *id, **access);
    DaemonOptions daemon_options;
    daemon_options.agent.session = *session;
    daemon_options.agent.seed = random_seed();
    daemon_options.agent.introduction = {options.slots, options.labels, (*runner)->look_again()};
    daemon_options.drain = options.drain;
    Daemon daemon(std::move(daemon_options), {transport, **runner, **journal, clock});
    base::log_info(fmt::format("executor {} works for {}", *id, options.master));
    return daemon.run(stop);
}

}  // namespace executor
