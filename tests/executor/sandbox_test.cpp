#include "base/json.hpp"
#include "tests/executor/rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <vector>

// What a job sees, and what it does not.

namespace {

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> out;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        out.push_back(line);
    return out;
}

bool has_line(const std::string& text, const std::string& line) {
    const auto all = lines(text);
    return std::ranges::find(all, line) != all.end();
}

}  // namespace

TEST_CASE("a script runs in the sandbox and its streams and exit status come back") {
    rig::Rig rig;
    auto lease = rig::script(jobs::Runtime::sh, "echo out $1; echo err >&2; exit 3\n");
    lease.job.argv = {"x y"};
    const auto outcome = rig.run(lease).outcome;
    CHECK(outcome.standard_output.text == "out x y\n");
    CHECK(outcome.standard_error.text == "err\n");
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.outcome_class == jobs::OutcomeClass::job);
    REQUIRE(outcome.error);
    CHECK(outcome.error->code == base::ErrorCode::exit_nonzero);
    CHECK(outcome.sandbox.backend == "bwrap");
    CHECK(outcome.sandbox.version.starts_with("bubblewrap"));
}

TEST_CASE("every runtime that is reported runs a script") {
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path());
    options.runtimes = executor::RunnerOptions().runtimes;
    rig::Rig rig(options);
    const auto& runtimes = rig.runner().capabilities().runtimes;
    CHECK(runtimes.contains("sh"));
    CHECK(runtimes.contains("bash"));
    for (const auto& [name, version] : runtimes) {
        CAPTURE(name);
        CHECK_FALSE(version.empty());
        const auto runtime = *jobs::runtime(name);
        const std::string text = runtime == jobs::Runtime::node      ? "console.log('hi')"
                                 : runtime == jobs::Runtime::python3 ? "print('hi')"
                                                                     : "echo hi";
        const auto outcome = rig.run(rig::script(runtime, text)).outcome;
        CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
        CHECK(outcome.standard_output.text == "hi\n");
    }
}

TEST_CASE("a command is run by bash with its arguments") {
    rig::Rig rig;
    auto lease = rig::bash("echo \"$1-$2\"");
    lease.job.argv = {"a", "b c"};
    CHECK(rig.run(lease).outcome.standard_output.text == "a-b c\n");
}

TEST_CASE("a job begins with no signal ignored or blocked, as a shell expects") {
    rig::Rig rig;
    const auto text = rig.run(rig::bash("sed -n 's/^Sig\\(Ign\\|Blk\\):\t//p' /proc/self/status"))
                          .outcome.standard_output.text;
    const auto masks = lines(text);
    REQUIRE(masks.size() == 2);
    // 32 and 33 are the C library's own; it lets nobody set them.
    constexpr std::uint64_t ours = ~(std::uint64_t{3} << 31U);
    for (const auto& mask : masks)
        CHECK_MESSAGE((std::stoull(mask, nullptr, 16) & ours) == 0, mask);
}

TEST_CASE("stdin carries the input to its last byte, or is at its end at once") {
    rig::Rig rig;
    auto lease = rig::bash("cat");
    CHECK(rig.run(lease).outcome.standard_output.bytes_total == 0);
    lease.job.input = std::string("{\"a\":1}\0x", 9);
    CHECK(rig.run(lease).outcome.standard_output.text == *lease.job.input);
}

TEST_CASE("a job that asks for more than this executor gives anybody is rejected, not cut down") {
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path());
    options.output_bytes_max = 1000;
    options.content_bytes_max = 10;
    rig::Rig rig(options);
    auto variable = rig::bash("echo ran");
    variable.job.env = {{"SHELLOPTS", "xtrace"}};
    auto output = rig::bash("echo ran");
    output.job.caps.output_bytes = 1001;
    auto content = rig::script(jobs::Runtime::sh, "echo far too long");
    content.job.caps.output_bytes = 1000;
    for (const auto& lease : {variable, output, content}) {
        const auto outcome = rig.run(lease).outcome;
        CHECK(outcome.outcome_class == jobs::OutcomeClass::rejected);
        CHECK(outcome.error->code == base::ErrorCode::unsupported);
        CHECK(outcome.standard_output.bytes_total == 0);
    }
}

TEST_CASE("a job's environment is what was given and nothing else") {
    rig::Rig rig;
    ::setenv("NETWRIGHT_TEST_SECRET", "leaked", 1);
    auto lease = rig::bash(
        "env | sort; echo --; cat /proc/1/environ /proc/*/environ 2>/dev/null | tr '\\0' '\\n'"
    );
    lease.job.env = {{"TOOL_COLOUR", "blue"}, {"TZ", "UTC"}};
    const auto text = rig.run(lease).outcome.standard_output.text;
    ::unsetenv("NETWRIGHT_TEST_SECRET");
    for (const char* line :
         {"TOOL_COLOUR=blue",
          "TZ=UTC",
          "HOME=/job",
          "LANG=C.UTF-8",
          "NETWRIGHT_ATTEMPT=o7.1",
          "NETWRIGHT_IDEMPOTENCY_KEY=key-7",
          "NETWRIGHT_JOB_ID=o7",
          "PATH=/usr/local/bin:/usr/bin:/bin",
          "TMPDIR=/tmp"}) {
        CAPTURE(line);
        CHECK(has_line(text, line));
    }
    CHECK_FALSE(text.contains("leaked"));
    CHECK_FALSE(text.contains("LD_PRELOAD"));
    CHECK_FALSE(text.contains("USER="));
}

TEST_CASE("pid 1's environment and descriptors are closed to the job") {
    rig::Rig rig;
    const auto outcome =
        rig.run(rig::bash(
                    "cat /proc/1/environ | wc -c; ls /proc/1/fd; echo forged > /proc/1/fd/3; true"
                ))
            .outcome;
    CHECK(outcome.outcome_class == jobs::OutcomeClass::done);
    CHECK(outcome.standard_output.text == "0\n");
    CHECK(outcome.standard_error.text.contains("Permission denied"));
}

TEST_CASE("a job holds its three streams and no other descriptor") {
    rig::Rig rig;
    const base::FileDescriptor leak(::dup(STDERR_FILENO));  // not close-on-exec, on purpose
    const auto outcome = rig.run(rig::script(jobs::Runtime::sh, "exec ls /proc/self/fd")).outcome;
    // 3 is the folder that ls itself reads.
    CHECK(outcome.standard_output.text == "0\n1\n2\n3\n");
}

TEST_CASE("the file system is read-only but for small file systems of the job's own") {
    rig::Rig rig;
    const auto outcome = rig.run(rig::bash(R"script(
        for f in /usr/x /etc/x /x /dev/x /tool/x /proc/sys/kernel/core_pattern; do
            (echo y > $f) 2>/dev/null && echo "written: $f"
        done
        for f in /job/x /tmp/x /dev/shm/x; do
            (echo y > $f) || echo "not written: $f"
        done
        ls / /etc
    )script"))
                             .outcome;
    const auto& text = outcome.standard_output.text;
    CHECK_FALSE(text.contains("written"));
    CHECK(text.contains("usr"));
    CHECK_FALSE(text.contains("shadow"));
    for (const char* name : {"root", "home", "var", "sys", "work"})
        CHECK_FALSE(has_line(text, name));
}

TEST_CASE("a job is nobody, alone in its namespaces, without a network") {
    rig::Rig rig;
    const auto outcome = rig.run(rig::bash(R"script(
        echo "uid $UID host $(hostname)"
        ls /proc | grep -c '^[0-9]*$'
        ls /sys/class/net 2>/dev/null
        tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '
        grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\t'
    )script"))
                             .outcome;
    const auto& text = outcome.standard_output.text;
    CHECK(has_line(text, "uid 65534 host sandbox"));
    CHECK(has_line(text, "lo"));
    CHECK_FALSE(text.contains("eth"));
    CHECK(has_line(text, "CapEff:0000000000000000"));
    CHECK(has_line(text, "CapBnd:0000000000000000"));
    CHECK(has_line(text, "NoNewPrivs:1"));
    CHECK(has_line(text, "Seccomp:2"));
}

TEST_CASE("on the host a root executor's job is its slot's user, not root") {
    if (!rig::root()) {
        tests::skipped("slot users need an executor that runs as root");
        return;
    }
    rig::Rig rig;
    executor::JobControl control;
    // The host finds the job by an argument that nobody else has.
    const auto mark = std::to_string(100000 + ::getpid());
    std::thread thread([&] { rig.run(rig::bash("exec sleep " + mark), control); });
    std::optional<uid_t> owner;
    while (!owner) {
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            const auto line = base::read_file(entry.path() / "cmdline", 4096);
            if (!line || *line != std::string("sleep\0", 6) + mark + '\0') continue;
            struct stat status{};
            if (::stat(entry.path().c_str(), &status) == 0) owner = status.st_uid;
        }
    }
    control.stop({executor::StopReason::requested, {}});
    thread.join();
    CHECK(*owner == rig.options_used().slot_uid_base);
}

TEST_CASE("slot users that exist, or are root, are refused") {
    if (!rig::root()) return tests::skipped("slot users need an executor that runs as root");
    const base::TemporaryFolder folder;
    auto options = rig::options(folder.path());
    options.slot_uid_base = 0;
    CHECK_FALSE(executor::JobRunner::start(options, base::system_clock()));
    options.slot_uid_base = 1;  // daemon
    const auto runner = executor::JobRunner::start(options, base::system_clock());
    REQUIRE_FALSE(runner);
    CHECK(runner.error().message.contains("user 1 exists"));
}

TEST_CASE("the system-call filter refuses what no job needs") {
    rig::Rig rig(jobs::Runtime::python3);
    if (!rig.runner().capabilities().runtimes.contains("python3")) {
        tests::skipped("no python3 below /usr");
        return;
    }
    const auto outcome = rig.run(rig::script(jobs::Runtime::python3, R"script(
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
def call(name, number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(number, *arguments)
    error = ctypes.get_errno()
    print(name, "allowed" if result >= 0 else errno.errorcode[error])
call("unshare", 272, 0x10000000)
call("clone-newuser", 56, 0x10000000 | 17, 0, 0, 0, 0)
call("clone3", 435, 0, 0)
call("keyctl", 250, 0, 0)
call("bpf", 321, 0, 0, 0)
call("perf_event_open", 298, 0, 0, 0, 0, 0)
call("io_uring_setup", 425, 1, 0)
call("userfaultfd", 323, 0)
call("ptrace", 101, 0, 0, 0, 0)
call("mount", 165, 0, 0, 0, 0, 0)
call("open_tree", 428, -100, b"/", 0)
call("setns", 308, 0, 0)
call("process_vm_readv", 310, os.getpid(), 0, 0, 0, 0, 0)
call("tiocsti", 16, 0, 0x5412, b"x")
call("tiocsti-high", 16, 0, 0x100005412, b"x")
for family, name in ((1, "unix"), (2, "inet"), (10, "inet6"), (16, "netlink"), (17, "packet"), (38, "alg"), (40, "vsock")):
    try:
        socket.socket(family, 5 if family == 38 else socket.SOCK_DGRAM)
        print("socket", name, "allowed")
    except OSError as e:
        print("socket", name, errno.errorcode[e.errno])
)script"))
                             .outcome;
    const auto& text = outcome.standard_output.text;
    CAPTURE(outcome.standard_error.text);
    for (const char* line :
         {"unshare EPERM",
          "clone-newuser EPERM",
          "clone3 ENOSYS",
          "keyctl EPERM",
          "bpf EPERM",
          "perf_event_open EPERM",
          "io_uring_setup ENOSYS",
          "userfaultfd EPERM",
          "ptrace EPERM",
          "mount EPERM",
          "open_tree ENOSYS",
          "setns EPERM",
          "process_vm_readv EPERM",
          "tiocsti EPERM",
          "tiocsti-high EPERM",
          "socket unix allowed",
          "socket inet EAFNOSUPPORT",
          "socket inet6 EAFNOSUPPORT",
          "socket netlink EAFNOSUPPORT",
          "socket packet EAFNOSUPPORT",
          "socket alg EAFNOSUPPORT",
          "socket vsock EAFNOSUPPORT"}) {
        CAPTURE(line);
        CHECK(has_line(text, line));
    }
}

TEST_CASE("what fails before a job's first process is a failure of the set-up, not of the job") {
    rig::Rig rig;
    executor::JobControl control;
    auto lease = rig::bash("true");
    bool called = false;
    const auto finished = rig.runner().run(
        {lease,
         0,
         {},
         [&]() -> base::Result<void> {
             called = true;
             return base::fail(base::ErrorCode::internal, "the journal is full");
         }},
        control
    );
    CHECK(called);
    CHECK(finished.outcome.outcome_class == jobs::OutcomeClass::rejected);
    CHECK(finished.outcome.given_back());
    CHECK(finished.outcome.error->message == "the journal is full");
}

TEST_CASE("progress lines are seen while the job runs") {
    rig::Rig rig;
    executor::JobControl control;
    const auto finished =
        rig.run(rig::bash("echo '::progress 40 half way' >&2; echo '::progress x' >&2"), control);
    REQUIRE(control.view().progress);
    CHECK(control.view().progress->percent == 40);
    CHECK(control.view().progress->message == "half way");
    CHECK(finished.outcome.standard_error.bytes_total > 0);
}
