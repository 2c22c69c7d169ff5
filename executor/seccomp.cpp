#include "executor/seccomp.hpp"

#include "base/files.hpp"

#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <memory>
#include <sched.h>
#include <seccomp.h>
#include <span>
#include <sys/mman.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace executor {

namespace {

constexpr std::uint32_t tiocsti = 0x5412;
constexpr std::uint32_t tioclinux = 0x541C;
constexpr std::uint32_t low_32_bits = 0xFFFFFFFFU;
constexpr int families_max = 64;
constexpr std::size_t filter_bytes_max = std::size_t{256} << 10U;

// Refused as a missing right is.
constexpr std::array refused_eperm{
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "swapon",
    "swapoff",
    "reboot",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "acct",
    "quotactl",
    "quotactl_fd",
    "syslog",
    "settimeofday",
    "stime",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "process_madvise",
    "kcmp",
    "lookup_dcookie",
    "add_key",
    "request_key",
    "keyctl",
    "open_by_handle_at",
    "name_to_handle_at",
    "move_pages",
    "migrate_pages",
    "mbind",
    "set_mempolicy",
    "vmsplice",
    "nfsservctl",
    "uselib",
    "modify_ldt",
    "iopl",
    "ioperm",
    "setns",
    "unshare",
    "fanotify_init",
    "vhangup",
    "sethostname",
    "setdomainname",
    "mknod",
    "mknodat",
    "pidfd_getfd",
    "personality",
    "vm86",
    "vm86old",
};

// Newer calls for which libraries have an older way: they look for "no such call".
constexpr std::array refused_enosys{
    "clone3",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "open_tree",
    "move_mount",
    "mount_setattr",
    "memfd_secret",
    "landlock_create_ruleset",
    "landlock_add_rule",
    "landlock_restrict_self",
};

// CLONE_NEWTIME is missing on purpose: in clone() its bit belongs to the exit signal.
constexpr std::array<std::uint64_t, 7> namespace_flags{
    CLONE_NEWUSER,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWNET,
    CLONE_NEWIPC,
    CLONE_NEWUTS,
    CLONE_NEWCGROUP,
};

// (argument & mask) == value
scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
    return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

class Filter {
public:
    Filter() : context_(seccomp_init(SCMP_ACT_ALLOW)) {
        keep(context_ ? 0 : -ENOMEM);
        if (!context_) return;
        keep(seccomp_attr_set(context_.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS));
        // A binary tree over the call numbers: fewer steps for each call.
        keep(seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2));
    }

    void refuse(std::span<const char* const> names, int error) {
        for (const char* name : names) {
            const int number = seccomp_syscall_resolve_name(name);
            if (number == __NR_SCMP_ERROR) continue;  // newer than this libseccomp
            const int result = add(SCMP_ACT_ERRNO(static_cast<std::uint16_t>(error)), number, {});
            if (result != -EDOM) keep(result);  // EDOM: not on this architecture
        }
    }

    void refuse_when(int number, int error, scmp_arg_cmp condition) {
        keep(
            add(SCMP_ACT_ERRNO(static_cast<std::uint16_t>(error)), number, std::span(&condition, 1))
        );
    }

    base::Result<std::string> bytes() {
        if (failed_ != 0) {
            return base::fail(
                base::ErrorCode::sandbox_unavailable,
                "libseccomp: " + std::error_code(-failed_, std::generic_category()).message()
            );
        }
        const base::FileDescriptor file(::memfd_create("seccomp", MFD_CLOEXEC));
        if (!file) return base::fail(base::errno_error("memfd_create"));
        keep(seccomp_export_bpf(context_.get(), file.value()));
        return base::read_file(fmt::format("/proc/self/fd/{}", file.value()), filter_bytes_max);
    }

private:
    int add(std::uint32_t action, int number, std::span<const scmp_arg_cmp> conditions) {
        if (!context_) return -ENOMEM;
        return seccomp_rule_add_array(
            context_.get(),
            action,
            number,
            static_cast<unsigned>(conditions.size()),
            conditions.data()
        );
    }
    void keep(int result) {
        if (result < 0 && failed_ == 0) failed_ = result;
    }

    struct Release {
        void operator()(void* context) const { seccomp_release(context); }
    };
    std::unique_ptr<void, Release> context_;
    int failed_ = 0;
};

bool family_granted(int family, jobs::Network network) {
    if (family == AF_UNIX) return true;
    // NETLINK: getifaddrs of the C library.
    const bool internet = family == AF_INET || family == AF_INET6 || family == AF_NETLINK;
    return internet && network == jobs::Network::allow;
}

}  // namespace

base::Result<std::string> seccomp_filter(jobs::Network network) {
    Filter filter;
    filter.refuse(refused_eperm, EPERM);
    filter.refuse(refused_enosys, ENOSYS);
    for (const auto flag : namespace_flags) {
        filter.refuse_when(SCMP_SYS(clone), EPERM, masked(0, flag, flag));
    }
    // The kernel looks at the low 32 bits only, so must the filter (CVE-2019-10063).
    for (const auto request : {tiocsti, tioclinux}) {
        filter.refuse_when(SCMP_SYS(ioctl), EPERM, masked(1, low_32_bits, request));
    }
    for (int family = 0; family < families_max; ++family) {
        if (family_granted(family, network)) continue;
        filter.refuse_when(
            SCMP_SYS(socket),
            EAFNOSUPPORT,
            masked(0, low_32_bits, static_cast<scmp_datum_t>(family))
        );
    }
    return filter.bytes();
}

}  // namespace executor
