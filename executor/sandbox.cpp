#include "executor/sandbox.hpp"

#include "executor/open_beneath.hpp"
#include "executor/seccomp.hpp"

#include <array>
#include <fcntl.h>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

constexpr std::int64_t tmp_bytes = std::int64_t{64} << 20U;
constexpr const char* helper_name = "netwright-sandbox-init";

// The descriptors of bwrap by number: the order in which they are spawned.
enum : int {
    status_fd = 3,
    arguments_fd,
    filter_fd,
    program_fd,
    report_fd,
    usr_fd,
    etc_fd,
    script_fd
};

namespace files = std::filesystem;

// The few files of /etc that programs look for, as a folder of our own: nothing of the host's
// configuration (users, hosts, keys) is seen inside.
base::Result<void> write_etc(const files::path& etc) {
    std::error_code failed;
    files::create_directories(etc / "ssl" / "certs", failed);
    const auto copy = [&](const char* what) {
        std::error_code absent;
        files::copy(
            files::path("/etc") / what,
            etc / what,
            files::copy_options::recursive | files::copy_options::copy_symlinks,
            absent
        );
    };
    for (const char* what :
         {"ld.so.cache", "alternatives", "ssl/openssl.cnf", "ssl/certs/ca-certificates.crt"}) {
        copy(what);
    }
    const std::pair<const char*, const char*> texts[] = {
        {"passwd", "nobody:x:65534:65534:nobody:/job:/bin/sh\n"},
        {"group", "nogroup:x:65534:\n"},
        {"hosts", "127.0.0.1 localhost\n"},
        {"nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"},
    };
    for (const auto& [name, text] : texts) {
        if (auto written = base::write_file_atomically(etc / name, text); !written) return written;
    }
    return {};
}

std::vector<std::string> links_into_usr() {
    std::vector<std::string> links;
    for (const char* name : {"bin", "sbin", "lib", "lib64", "lib32"}) {
        std::error_code failed;
        const auto target = files::read_symlink(files::path("/") / name, failed);
        if (!failed && target == files::path("usr") / name) links.emplace_back(name);
    }
    return links;
}

class Arguments {
public:
    template <class... Words>
    void add(const Words&... words) {
        (add_one(words), ...);
    }
    void tmpfs(const char* where, const char* permissions, std::int64_t bytes) {
        add("--perms", permissions, "--size", bytes, "--tmpfs", where);
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    void add_one(std::string_view word) { text_.append(word).push_back('\0'); }
    void add_one(std::int64_t number) { add_one(std::string_view(std::to_string(number))); }
    void add_one(int number) { add_one(std::int64_t{number}); }
    std::string text_;
};

std::string arguments(const SandboxOrder& order, const std::vector<std::string>& links) {
    Arguments line;
    line.add("--unshare-all", "--unshare-user", "--disable-userns");
    line.add("--uid", 65534, "--gid", 65534, "--hostname", "sandbox");
    line.add("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv");
    line.add("--ro-bind-fd", usr_fd, "/usr");
    for (const auto& name : links)
        line.add("--symlink", "usr/" + name, "/" + name);
    line.add("--ro-bind-fd", etc_fd, "/etc");
    line.add("--proc", "/proc", "--dev", "/dev");
    line.tmpfs("/tmp", "1777", tmp_bytes);
    line.tmpfs("/dev/shm", "1777", tmp_bytes);
    line.tmpfs(sandbox_work, "0755", order.work_bytes);
    if (order.script) {
        // A plain file of the root file system, which becomes read-only below: no mount is needed.
        line.add("--perms", "0555", "--file", script_fd);
        line.add(fmt::format("{}/{}", sandbox_tool, order.filename));
    }
    line.add("--chdir", sandbox_work);
    line.add("--json-status-fd", status_fd, "--seccomp", filter_fd);
    line.add("--remount-ro", "/dev", "--remount-ro", "/", "--as-pid-1");
    return line.text();
}

// /run for root: cleared at boot, and by nobody before. Any other user's jobs run as that user, who
// can reach the work folder.
files::path public_parent(const files::path& work) {
    return ::geteuid() == 0 ? files::path("/run") : work;
}

base::Result<base::FileDescriptor> open_in(const files::path& folder, const std::string& name) {
    const auto handle = open_folder(folder);
    if (!handle) return base::fail(handle.error());
    return open_beneath(handle->value(), name, O_PATH);
}

}  // namespace

base::Result<Sandbox> Sandbox::open(const Options& options) {
    Sandbox sandbox;
    sandbox.bwrap_ = options.bwrap.string();
    auto usr = open_in("/", "usr");
    if (!usr) return base::fail(usr.error());
    sandbox.usr_ = std::move(*usr);
    auto made = PublicFolder::make(public_parent(options.work), "etc", options.work);
    if (!made) return base::fail(made.error());
    sandbox.public_ = std::move(*made);
    const auto& etc = sandbox.public_.path();
    if (auto written = write_etc(etc); !written) return base::fail(written.error());
    std::error_code failed;
    files::copy_file(options.helper, etc / helper_name, failed);
    if (failed) {
        return base::fail(
            base::ErrorCode::internal,
            fmt::format("copy {}: {}", options.helper.string(), failed.message())
        );
    }
    auto opened = open_in(etc.parent_path(), etc.filename().string());
    if (!opened) return base::fail(opened.error());
    sandbox.etc_ = std::move(*opened);
    auto filter = seccomp_filter(jobs::Network::deny);
    if (!filter) return base::fail(filter.error());
    sandbox.filter_ = std::move(*filter);
    sandbox.links_ = links_into_usr();
    return sandbox;
}

base::Result<PreparedSpawn> Sandbox::prepare(const SandboxOrder& order, const JobPipes& pipes)
    const {
    if (order.network != jobs::Network::deny) {
        return base::fail(
            base::ErrorCode::unsupported, "this executor gives no job access to the network"
        );
    }
    PreparedSpawn prepared;
    auto line = sealed_file("bwrap-arguments", arguments(order, links_));
    auto filter = sealed_file("seccomp", filter_);
    auto program = program_file(order.program);
    for (auto* file : {&line, &filter, &program}) {
        if (!*file) return base::fail(file->error());
        prepared.owned.push_back(std::move(**file));
    }
    // bwrap gets nothing in its environment and no more than this on its command line: both can be
    // read from inside or outside.
    prepared.order.program = {
        .path = bwrap_,
        .argv =
            {"bwrap",
             "--args",
             std::to_string(arguments_fd),
             "--",
             fmt::format("/etc/{}", helper_name),
             "init",
             std::to_string(program_fd),
             std::to_string(report_fd)},
        .env = {},
        .folder = "/",
    };
    prepared.order.descriptors = {
        pipes.standard_input,
        pipes.standard_output,
        pipes.standard_error,
        pipes.status,
        prepared.owned[0].value(),
        prepared.owned[1].value(),
        prepared.owned[2].value(),
        pipes.report,
        usr_.value(),
        etc_.value(),
    };
    if (order.script) {
        auto script = sealed_file("script", *order.script);
        if (!script) return base::fail(script.error());
        prepared.order.descriptors.push_back(script->value());
        prepared.owned.push_back(std::move(*script));
    }
    return prepared;
}

base::Result<PreparedSpawn> prepare_unsandboxed(
    const std::filesystem::path& helper, const Program& program, const JobPipes& pipes
) {
    PreparedSpawn prepared;
    Program inner = program;
    inner.subreaper = true;
    auto file = program_file(inner);
    if (!file) return base::fail(file.error());
    prepared.owned.push_back(std::move(*file));
    prepared.order.program = {
        .path = helper.string(),
        .argv = {"netwright-sandbox-init", "init", "3", "4"},
        .env = {},
        .folder = "/",
    };
    prepared.order.descriptors = {
        pipes.standard_input,
        pipes.standard_output,
        pipes.standard_error,
        prepared.owned[0].value(),
        pipes.report,
    };
    return prepared;
}

}  // namespace executor
