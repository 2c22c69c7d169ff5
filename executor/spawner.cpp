#include "executor/spawner.hpp"

#include "executor/sandbox_init/wire.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <string_view>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace executor {

namespace {

constexpr int helper_socket_fd = 3;

std::string_view stage_name(std::uint32_t stage) {
    constexpr std::array<std::string_view, 10> names{
        "nothing",
        "reading the order",
        "reading the program",
        "fork",
        "joining the cgroup",
        "placing the descriptors",
        "setting the limits",
        "taking the slot's user",
        "entering the folder",
        "executing the program",
    };
    return stage < names.size() ? names[stage] : "an unknown step";
}

base::Result<void> send_order(
    int socket, const nw_spawn_request& request, const std::vector<int>& descriptors
) {
    nw_spawn_request copy = request;
    iovec data{&copy, sizeof copy};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * nw_fds_max)> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(part), descriptors.data(), sizeof(int) * descriptors.size());
    ssize_t count = 0;
    do {
        count = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return base::fail(base::errno_error("send to the spawner"));
    return {};
}

base::Result<Child> receive_reply(int socket) {
    nw_spawn_reply reply{};
    iovec data{&reply, sizeof reply};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    ssize_t count = 0;
    do {
        count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    if (count != static_cast<ssize_t>(sizeof reply)) {
        return base::fail(base::ErrorCode::internal, "the spawner is gone");
    }
    Child child;
    child.pid = reply.pid;
    const cmsghdr* part = CMSG_FIRSTHDR(&message);
    if (part != nullptr && part->cmsg_type == SCM_RIGHTS) {
        int pidfd = -1;
        std::memcpy(&pidfd, CMSG_DATA(part), sizeof pidfd);
        child.pidfd.reset(pidfd);
    }
    if (reply.stage != nw_stage_none || !child.pidfd) {
        return base::fail(
            base::ErrorCode::internal,
            fmt::format(
                "starting a process failed at {}: {}",
                stage_name(reply.stage),
                std::error_code(reply.error, std::generic_category()).message()
            )
        );
    }
    return child;
}

}  // namespace

base::Result<base::FileDescriptor> sealed_file(const std::string& name, std::string_view bytes) {
    base::FileDescriptor file(::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file) return base::fail(base::errno_error("memfd_create"));
    if (auto written = base::write_all(file.value(), bytes); !written) {
        return base::fail(written.error());
    }
    constexpr int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
    if (::fcntl(file.value(), F_ADD_SEALS, seals) != 0) {
        return base::fail(base::errno_error("seal a memfd"));
    }
    if (::lseek(file.value(), 0, SEEK_SET) != 0) return base::fail(base::errno_error("lseek"));
    return file;
}

base::Result<base::FileDescriptor> program_file(const Program& program) {
    std::string block(sizeof(nw_program), '\0');
    bool shifted = false;
    const auto add = [&](std::string_view text) {
        shifted |= text.contains('\0');
        block.append(text).push_back('\0');
    };
    add(program.path);
    for (const auto& argument : program.argv)
        add(argument);
    for (const auto& entry : program.env)
        add(entry);
    add(program.folder);
    // One text would be read as two, and what follows it as something else.
    if (shifted) {
        return base::fail(
            base::ErrorCode::validation,
            "a program's path, arguments, environment and folder cannot hold a zero byte"
        );
    }
    const nw_program header{
        .bytes = static_cast<std::uint32_t>(block.size()),
        .argc = static_cast<std::uint32_t>(program.argv.size()),
        .envc = static_cast<std::uint32_t>(program.env.size()),
        .subreaper = program.subreaper ? 1U : 0U,
    };
    std::memcpy(block.data(), &header, sizeof header);
    return sealed_file("program", block);
}

base::Result<std::unique_ptr<Spawner>> Spawner::start(const std::filesystem::path& helper) {
    std::array<int, 2> pair{};
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) {
        return base::fail(base::errno_error("socketpair"));
    }
    base::FileDescriptor ours(pair[0]);
    // Moved up, so that putting it in its place (and so clearing close-on-exec) is never a no-op.
    const base::FileDescriptor pair_end(pair[1]);
    const base::FileDescriptor theirs(::fcntl(pair[1], F_DUPFD_CLOEXEC, helper_socket_fd + 1));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, theirs.value(), helper_socket_fd);
    posix_spawn_file_actions_addclosefrom_np(&actions, helper_socket_fd + 1);
    std::string name = "netwright-sandbox-init";
    std::string mode = "spawn";
    std::string fd = std::to_string(helper_socket_fd);
    std::array<char*, 4> argv{name.data(), mode.data(), fd.data(), nullptr};
    std::array<char*, 1> env{nullptr};
    pid_t pid = 0;
    const int failed =
        ::posix_spawn(&pid, helper.c_str(), &actions, nullptr, argv.data(), env.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        return base::fail(
            base::ErrorCode::sandbox_unavailable,
            fmt::format(
                "cannot start {}: {}",
                helper.string(),
                std::error_code(failed, std::generic_category()).message()
            ),
            "it is installed beside the netwright program; NETWRIGHT_SANDBOX_INIT names another "
            "place"
        );
    }
    return std::unique_ptr<Spawner>(new Spawner(std::move(ours), pid));
}

Spawner::~Spawner() {
    socket_.with([](base::FileDescriptor& socket) { socket.reset(); });
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
}

base::Result<Child> Spawner::spawn(const SpawnOrder& order) {
    auto program = program_file(order.program);
    if (!program) return base::fail(program.error());
    std::vector<int> descriptors{program->value()};
    descriptors.insert(descriptors.end(), order.cgroup_entries.begin(), order.cgroup_entries.end());
    descriptors.insert(descriptors.end(), order.descriptors.begin(), order.descriptors.end());
    if (descriptors.size() > nw_fds_max) {
        return base::fail(base::ErrorCode::internal, "too many descriptors for one process");
    }
    const auto id = order.uid.value_or(static_cast<std::uint32_t>(nw_keep_id));
    const nw_spawn_request request{
        .fd_count = static_cast<std::uint32_t>(descriptors.size()),
        .cgroup_count = static_cast<std::uint32_t>(order.cgroup_entries.size()),
        .uid = id,
        .gid = id,
        .cpu_seconds = order.limits.cpu_seconds.value_or(NW_UNLIMITED),
        .file_bytes = order.limits.file_bytes.value_or(NW_UNLIMITED),
        .open_files = order.limits.open_files.value_or(NW_UNLIMITED),
        .processes = order.limits.processes.value_or(NW_UNLIMITED),
    };
    // One order at a time: the helper does them one by one anyway.
    return socket_.with([&](base::FileDescriptor& socket) -> base::Result<Child> {
        if (auto sent = send_order(socket.value(), request, descriptors); !sent) {
            return base::fail(sent.error());
        }
        return receive_reply(socket.value());
    });
}

std::filesystem::path helper_path() {
    if (const char* given = std::getenv("NETWRIGHT_SANDBOX_INIT"); given != nullptr) return given;
    std::error_code failed;
    const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
    return self.parent_path() / "netwright-sandbox-init";
}

}  // namespace executor
