/* What the executor and its small helper program say to each other. Both sides are built together
 * and run on one machine, so these are plain structures. Included by C and by C++. */
#ifndef NETWRIGHT_SANDBOX_INIT_WIRE_H
#define NETWRIGHT_SANDBOX_INIT_WIRE_H

#include <stdint.h>

enum {
    nw_fds_max = 48,        /* descriptors with one spawn request */
    nw_keep_id = 0xFFFFFFFF /* uid and gid: stay who you are */
};

#define NW_UNLIMITED UINT64_MAX

/* A program to execute, in a memfd: this header, then the path, `argc` arguments and `envc`
 * environment entries, and the folder to start in (may be empty), each ended by a zero byte. */
struct nw_program {
    uint32_t bytes; /* of all, with the header */
    uint32_t argc;
    uint32_t envc;
    uint32_t
        subreaper; /* init mode: orphans of the job become its children, outside a pid namespace */
};

/* One message on the spawner's socket, with descriptors: first the memfd of a program, then
 * `cgroup_count` open `cgroup.procs` files that the child joins, then those that become 0, 1, 2, 3,
 * ... in the child. Everything else is closed there. */
struct nw_spawn_request {
    uint32_t fd_count;
    uint32_t cgroup_count;
    uint32_t uid;
    uint32_t gid;
    uint64_t cpu_seconds;
    uint64_t file_bytes;
    uint64_t open_files;
    uint64_t processes;
};

enum nw_spawn_stage {
    nw_stage_none = 0,
    nw_stage_request,
    nw_stage_program,
    nw_stage_fork,
    nw_stage_cgroup,
    nw_stage_descriptors,
    nw_stage_limits,
    nw_stage_identity,
    nw_stage_folder,
    nw_stage_exec
};

/* The answer; with a pidfd of the child when `stage` is none. */
struct nw_spawn_reply {
    uint32_t stage;
    int32_t error; /* errno at that stage */
    int32_t pid;
};

/* What init writes to its report pipe: first `started` (once the job's program was executed, or
 * could not be), then `ended`. Each is one write. */
enum nw_report_kind { nw_report_started = 1, nw_report_ended = 2 };
struct nw_report {
    uint32_t kind;
    int32_t exec_error;  /* started: errno of the failed exec, 0 = it runs */
    int32_t exit_code;   /* ended: -1 when a signal ended it */
    int32_t exit_signal; /* ended: 0 when it exited */
    uint64_t cpu_us;     /* ended: user + system time of the job and what it waited for */
    uint64_t rss_peak_bytes;
};

#endif
