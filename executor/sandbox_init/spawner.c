/* The fork server. It is single-threaded, because bwrap's --die-with-parent follows the thread that
 * started it; it is its own small program, because a fork of a large one is slow and would hand the
 * executor's memory to its children. It ends, and with it everything it started in a sandbox, when
 * the executor's end of the socket closes. */
#define _GNU_SOURCE
#include "program.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Received descriptors are moved above this before they are put in their places. */
enum { high_fd = 512 };

struct order {
    struct nw_spawn_request request;
    int fds[nw_fds_max];
    struct program program;
};

static int limit(int what, uint64_t value) {
    if (value == NW_UNLIMITED) return 0;
    struct rlimit both = {value, value};
    return setrlimit((__rlimit_resource_t)what, &both);
}

static int set_limits(const struct nw_spawn_request* request) {
    /* One second between the soft and the hard CPU limit, so that the job sees XCPU, then KILL. */
    if (request->cpu_seconds != NW_UNLIMITED) {
        struct rlimit cpu = {request->cpu_seconds, request->cpu_seconds + 1};
        if (setrlimit(RLIMIT_CPU, &cpu) != 0) return -1;
    }
    if (limit(RLIMIT_CORE, 0) != 0) return -1;
    if (limit(RLIMIT_FSIZE, request->file_bytes) != 0) return -1;
    return limit(RLIMIT_NOFILE, request->open_files);
}

/* NPROC comes last: it counts against the new user and would refuse our own steps before. */
static int take_identity(const struct nw_spawn_request* request) {
    if (request->uid != (uint32_t)nw_keep_id) {
        if (setgroups(0, NULL) != 0) return -1;
        if (setresgid(request->gid, request->gid, request->gid) != 0) return -1;
        if (setresuid(request->uid, request->uid, request->uid) != 0) return -1;
    }
    if (limit(RLIMIT_NPROC, request->processes) != 0) return -1;
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

static int place_descriptors(const struct order* order) {
    const uint32_t first = 1 + order->request.cgroup_count;
    const uint32_t count = order->request.fd_count - first;
    for (uint32_t i = 0; i < count; ++i) {
        if (dup2(order->fds[first + i], (int)i) < 0) return -1;
    }
    return close_range(count, ~0U, 0);
}

/* In the child, which shares this process's memory until it executes: sets `reply`, never returns.
 */
static void become(const struct order* order, volatile struct nw_spawn_reply* reply) {
    setsid();
    uint32_t stage = nw_stage_cgroup;
    int good = 1;
    for (uint32_t i = 0; good && i < order->request.cgroup_count; ++i) {
        good = write(order->fds[1 + i], "0", 1) == 1;
    }
    if (good && (stage = nw_stage_limits)) good = set_limits(&order->request) == 0;
    if (good && (stage = nw_stage_descriptors)) good = place_descriptors(order) == 0;
    if (good && (stage = nw_stage_identity)) good = take_identity(&order->request) == 0;
    if (good && (stage = nw_stage_folder) && order->program.folder[0] != 0) {
        good = chdir(order->program.folder) == 0;
    }
    if (good) {
        stage = nw_stage_exec;
        const int ours[] = {SIGCHLD, SIGPIPE, SIGINT, SIGTERM, SIGHUP};
        for (unsigned i = 0; i < sizeof ours / sizeof ours[0]; ++i)
            signal(ours[i], SIG_DFL);
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        umask(022);
        execve(order->program.path, order->program.argv, order->program.envp);
    }
    reply->error = errno;
    reply->stage = stage;
    _exit(127);
}

static void start(struct order* order, struct nw_spawn_reply* reply, int* pidfd) {
    const struct nw_spawn_request* request = &order->request;
    reply->stage = nw_stage_request;
    reply->error = EINVAL;
    if (request->fd_count < 1 || request->cgroup_count > request->fd_count - 1) return;
    if (request->uid == 0 || request->gid == 0) return;
    reply->stage = nw_stage_program;
    reply->error = program_read(order->fds[0], &order->program);
    if (reply->error != 0) return;
    volatile struct nw_spawn_reply from_child = {nw_stage_none, 0, 0};
    const pid_t child = vfork();
    if (child == 0) become(order, &from_child);
    reply->stage = child < 0 ? (uint32_t)nw_stage_fork : from_child.stage;
    reply->error = child < 0 ? errno : from_child.error;
    if (reply->stage != nw_stage_none) return;
    reply->pid = child;
    /* SIGCHLD is blocked here: even a child that is gone already has not been waited for yet. */
    *pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    if (*pidfd < 0) {
        reply->stage = nw_stage_fork;
        reply->error = errno;
    }
}

/* 1 = an order, 0 = the executor is gone, -1 = not an order. */
static int receive(int socket_fd, struct order* order) {
    memset(order, 0, sizeof *order);
    struct iovec data = {&order->request, sizeof order->request};
    union {
        char bytes[CMSG_SPACE(sizeof(int) * nw_fds_max)];
        struct cmsghdr align;
    } control;
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    ssize_t count = 0;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &child, NULL);
    do {
        count = recvmsg(socket_fd, &message, MSG_CMSG_CLOEXEC);
    } while (count < 0 && errno == EINTR);
    sigprocmask(SIG_BLOCK, &child, NULL);
    if (count <= 0) return 0;
    struct cmsghdr* part = CMSG_FIRSTHDR(&message);
    uint32_t got = 0;
    if (part != NULL && part->cmsg_level == SOL_SOCKET && part->cmsg_type == SCM_RIGHTS) {
        got = (uint32_t)((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(order->fds, CMSG_DATA(part), got * sizeof(int));
    }
    for (uint32_t i = 0; i < got; ++i) {
        const int high = fcntl(order->fds[i], F_DUPFD_CLOEXEC, high_fd);
        close(order->fds[i]);
        order->fds[i] = high;
        if (high < 0) got = 0;
    }
    const int whole = count == (ssize_t)sizeof order->request && got == order->request.fd_count;
    if (!whole) order->request.fd_count = got;
    return whole ? 1 : -1;
}

static int answer(int socket_fd, const struct nw_spawn_reply* reply, int pidfd) {
    struct nw_spawn_reply copy = *reply;
    struct iovec data = {&copy, sizeof copy};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    memset(&control, 0, sizeof control);
    struct msghdr message;
    memset(&message, 0, sizeof message);
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (pidfd >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr* part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(part), &pidfd, sizeof(int));
    }
    ssize_t count = 0;
    do {
        count = sendmsg(socket_fd, &message, MSG_NOSIGNAL);
    } while (count < 0 && errno == EINTR);
    return count == (ssize_t)sizeof copy;
}

/* How children ended is told by init and seen through pidfds; here they are only buried. */
static void bury(int number) {
    (void)number;
    const int saved = errno;
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    errno = saved;
}

int spawner_main(int socket_fd) {
    prctl(PR_SET_NAME, "nw-spawner", 0, 0, 0);
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = bury;
    action.sa_flags = SA_NOCLDSTOP;
    sigaction(SIGCHLD, &action, NULL);
    /* A terminal's ^C is for the executor, which decides what becomes of the jobs. */
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (;;) {
        struct order order;
        const int got = receive(socket_fd, &order);
        if (got == 0) return 0;
        struct nw_spawn_reply reply = {nw_stage_request, EINVAL, 0};
        int pidfd = -1;
        if (got > 0) start(&order, &reply, &pidfd);
        program_free(&order.program);
        for (uint32_t i = 0; i < order.request.fd_count && i < nw_fds_max; ++i) {
            close(order.fds[i]);
        }
        const int told = answer(socket_fd, &reply, pidfd);
        if (pidfd >= 0) close(pidfd);
        if (!told) return 1;
    }
}
