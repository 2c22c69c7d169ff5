#include "executor/job_process.hpp"

#include "base/log.hpp"
#include "executor/process_tree.hpp"
#include "executor/sandbox_init/wire.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

constexpr base::Duration look_interval = base::milliseconds(20);
constexpr base::Duration tree_look_interval = base::milliseconds(100);
constexpr base::Duration empty_wait_max = base::seconds(30);
constexpr std::chrono::microseconds empty_pause{500};
constexpr std::size_t read_bytes = 65536;
constexpr std::size_t status_bytes_max = 16384;
constexpr std::size_t start_error_bytes_max = 2000;
// A flood is read in turns with the clock and the other pipes.
constexpr int reads_in_a_row_max = 16;

void unblock(const base::FileDescriptor& file) {
    const int flags = ::fcntl(file.value(), F_GETFL);
    ::fcntl(file.value(), F_SETFL, flags | O_NONBLOCK);
}

int signal_pidfd(const base::FileDescriptor& pidfd, int number) {
    if (!pidfd) return -1;
    return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd.value(), number, nullptr, 0));
}

// The number behind `key` in bwrap's status, which is one JSON object a line.
std::optional<pid_t> status_number(std::string_view text, std::string_view key) {
    const auto at = text.find(key);
    if (at == std::string_view::npos) return std::nullopt;
    auto rest = text.substr(at + key.size());
    while (!rest.empty() && (rest.front() == ':' || rest.front() == ' '))
        rest.remove_prefix(1);
    pid_t value = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    // A number that ends with the text may go on in the next read.
    if (failed != std::errc{} || end == rest.data() + rest.size()) return std::nullopt;
    return value;
}

}  // namespace

JobProcess::JobProcess(const Options& options, Child child, PipeEnds pipes)
    : options_(options),
      child_(std::move(child)),
      pipes_(std::move(pipes)),
      stdout_(options.stdout_spool, static_cast<std::uint64_t>(options.caps.output_bytes)),
      stderr_(options.stderr_spool, static_cast<std::uint64_t>(options.caps.output_bytes)),
      started_(options.clock.elapsed()),
      next_look_(started_) {
    for (const auto* pipe :
         {&pipes_.standard_output, &pipes_.standard_error, &pipes_.status, &pipes_.report}) {
        unblock(*pipe);
    }
}

Ending JobProcess::watch() {
    while (!gone_) {
        poll_once();
        look_at_clock();
    }
    options_.control.show(jobs::Phase::collecting);
    clear_up();
    if (!ending_.started && ending_.start_error.empty()) {
        ending_.start_error = "bwrap ended without starting it";
    }
    ending_.output_over_cap = stdout_.over_cap() || stderr_.over_cap();
    return ending_;
}

void JobProcess::poll_once() {
    std::array<pollfd, 6> waiting{{
        {pipes_.standard_output.value(), POLLIN, 0},
        {pipes_.standard_error.value(), POLLIN, 0},
        {pipes_.status.value(), POLLIN, 0},
        {pipes_.report.value(), POLLIN, 0},
        {child_.pidfd.value(), POLLIN, 0},
        {woken_ ? -1 : options_.control.wake_fd(), POLLIN, 0},
    }};
    ::poll(waiting.data(), waiting.size(), static_cast<int>(look_interval.ms()));
    if (waiting[0].revents != 0) read_stream(pipes_.standard_output, stdout_, false);
    if (waiting[1].revents != 0) read_stream(pipes_.standard_error, stderr_, true);
    if (waiting[2].revents != 0) read_status();
    if (waiting[3].revents != 0) read_report();
    gone_ = waiting[4].revents != 0;
}

void JobProcess::read_stream(base::FileDescriptor& pipe, OutputCapture& capture, bool progress) {
    std::array<char, read_bytes> buffer;  // NOLINT(*-member-init): 64 KiB that read() fills
    for (int i = 0; i < reads_in_a_row_max; ++i) {
        const ssize_t count = ::read(pipe.value(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count <= 0) {
            pipe.reset();
            return;
        }
        const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
        capture.add(bytes);
        if (!progress) continue;
        if (const auto newest = progress_.add(bytes)) options_.control.show(*newest);
        // Until the job runs, what is written here is bwrap's own complaint.
        if (!ending_.started && ending_.start_error.size() < start_error_bytes_max) {
            ending_.start_error += bytes.substr(0, start_error_bytes_max);
        }
    }
}

void JobProcess::read_status() {
    std::array<char, 4096> buffer{};
    for (;;) {
        const ssize_t count = ::read(pipes_.status.value(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        if (count <= 0) {
            pipes_.status.reset();
            break;
        }
        if (status_text_.size() < status_bytes_max) {
            status_text_.append(buffer.data(), static_cast<std::size_t>(count));
        }
    }
    if (init_) return;
    if (const auto pid = status_number(status_text_, "\"child-pid\"")) {
        init_.reset(static_cast<int>(::syscall(SYS_pidfd_open, *pid, 0)));
    }
}

void JobProcess::read_report() {
    for (;;) {
        nw_report report{};
        const ssize_t count = ::read(pipes_.report.value(), &report, sizeof report);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) return;
        if (count != static_cast<ssize_t>(sizeof report)) {
            pipes_.report.reset();
            return;
        }
        if (report.kind == nw_report_started && report.exec_error != 0) {
            ending_.start_error =
                "exec: " + std::error_code(report.exec_error, std::generic_category()).message();
        } else if (report.kind == nw_report_started) {
            ending_.started = true;
            if (stopping_) {
                terminate();
            } else {
                options_.control.show(jobs::Phase::running);
            }
        } else if (ending_.started) {
            if (report.exit_signal != 0) {
                ending_.signal = report.exit_signal;
            } else {
                ending_.exit_code = report.exit_code;
            }
            usage_.cpu_ms = static_cast<std::int64_t>(report.cpu_us / 1000);
            if (options_.group == nullptr) {
                usage_.memory_peak_bytes = std::max(
                    usage_.memory_peak_bytes, static_cast<std::int64_t>(report.rss_peak_bytes)
                );
            }
        }
    }
}

void JobProcess::look_at_clock() {
    const auto now = options_.clock.elapsed();
    if (const auto order = options_.control.stop_order()) {
        woken_ = true;
        begin_stop(*order);
    }
    if (now - started_ >= base::milliseconds(options_.caps.wall_ms)) {
        begin_stop({StopReason::wall, options_.grace});
    }
    if (now >= next_look_) look_at_usage(now);
    if (kill_at_ && now >= *kill_at_ && !killed_) kill();
}

void JobProcess::look_at_usage(base::Duration now) {
    next_look_ = now + (options_.group != nullptr ? look_interval : tree_look_interval);
    update_usage();
    options_.control.show(usage_);
    if (usage_.cpu_ms >= options_.caps.cpu_ms) begin_stop({StopReason::cpu, options_.grace});
    if (options_.group != nullptr) return;
    const auto tree = process_tree_usage(child_.pid);
    if (tree.rss_bytes > options_.caps.memory_mb << 20U) begin_stop({StopReason::memory, {}});
}

void JobProcess::update_usage() {
    usage_.wall_ms = (options_.clock.elapsed() - started_).ms();
    if (options_.group != nullptr) {
        ending_.group = options_.group->usage();
        usage_.cpu_ms = ending_.group.cpu_us / 1000;
        usage_.memory_peak_bytes = ending_.group.memory_peak_bytes;
        usage_.pids_peak = ending_.group.pids_peak;
        return;
    }
    const auto tree = process_tree_usage(child_.pid);
    usage_.cpu_ms = std::max(usage_.cpu_ms, tree.cpu_us / 1000);
    usage_.memory_peak_bytes = std::max(usage_.memory_peak_bytes, tree.rss_bytes);
    usage_.pids_peak = std::max(usage_.pids_peak, tree.processes);
    ending_.group.cpu_us = usage_.cpu_ms * 1000;
}

void JobProcess::begin_stop(StopOrder order) {
    const auto kill_at = options_.clock.elapsed() + order.grace;
    if (!stopping_) {
        stopping_ = true;
        // An exit that was reported before the order is how the job ended: it owes the order
        // nothing. What it left behind is stopped all the same.
        read_report();
        if (!ending_.exit_code && !ending_.signal) ending_.stop = order.reason;
        options_.control.show(jobs::Phase::stopping);
        terminate();
        kill_at_ = kill_at;
    }
    if (kill_at < *kill_at_) kill_at_ = kill_at;
}

// Init hears TERM from when it says that the job runs; before, it would be lost.
void JobProcess::terminate() {
    if (!ending_.started) return;
    if (options_.sandboxed) {
        signal_pidfd(init_, SIGTERM);
    } else {
        signal_pidfd(child_.pidfd, SIGTERM);
    }
}

void JobProcess::kill() {
    killed_ = true;
    if (options_.group != nullptr) options_.group->kill();
    if (options_.sandboxed) {
        // The death of its pid 1 ends a pid namespace, whoever is in it.
        signal_pidfd(init_, SIGKILL);
        signal_pidfd(child_.pidfd, SIGKILL);
    } else {
        signal_pidfd(child_.pidfd, SIGUSR2);
    }
}

// The main process is gone. Whatever it left behind is killed, and only when nobody is left who
// could still write are pipes and counters read for the last time.
void JobProcess::clear_up() {
    const auto give_up = options_.clock.elapsed() + empty_wait_max;
    if (options_.group != nullptr) {
        while (!options_.group->empty()) {
            options_.group->kill();
            if (options_.clock.elapsed() > give_up) {
                base::log_error("a job's cgroup does not become empty");
                break;
            }
            std::this_thread::sleep_for(empty_pause);
        }
    } else if (init_) {
        pollfd init{init_.value(), POLLIN, 0};
        signal_pidfd(init_, SIGKILL);
        if (::poll(&init, 1, static_cast<int>(empty_wait_max.ms())) != 1) {
            base::log_error("a job's sandbox does not end");
        }
    }
    read_status();
    read_report();
    while (pipes_.standard_output && options_.clock.elapsed() < give_up) {
        const auto before = stdout_.total();
        read_stream(pipes_.standard_output, stdout_, false);
        if (stdout_.total() == before) break;
    }
    while (pipes_.standard_error && options_.clock.elapsed() < give_up) {
        const auto before = stderr_.total();
        read_stream(pipes_.standard_error, stderr_, true);
        if (stderr_.total() == before) break;
    }
    if (options_.group != nullptr) {
        update_usage();
    } else {
        usage_.wall_ms = (options_.clock.elapsed() - started_).ms();
    }
}

}  // namespace executor
