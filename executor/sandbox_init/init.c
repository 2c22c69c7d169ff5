/* pid 1 of a sandbox: starts the job's program, hands TERM on, reaps what dies, and reports exactly
 * how the program ended. Its own memory and descriptors are closed to the job (not dumpable), so
 * that the job can neither read nor forge the report. */
#define _GNU_SOURCE
#include "program.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { report_fd_here = 3, init_failed = 125 };

static volatile sig_atomic_t job_pid;

/* The job is a process group of its own: all of it is told, so that a shell waiting for its
 * foreground child gets to run its trap. */
static void hand_on(int number) {
    if (job_pid > 0) kill(-(pid_t)job_pid, number);
}

/* Outside a pid namespace KILL cannot simply be sent to pid 1: it comes as USR2. */
static void kill_job(int number) {
    (void)number;
    if (job_pid <= 0) return;
    kill(-(pid_t)job_pid, SIGKILL);
    kill((pid_t)job_pid, SIGKILL);
}

/* Kills whatever is left below this process, which is the subreaper: when a parent dies its
 * children come here, so it ends when nobody is left. */
static void bury_descendants(void) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (;;) {
        FILE* children = fopen(path, "re");
        int pid = 0;
        while (children != NULL && fscanf(children, "%d", &pid) == 1)
            kill(pid, SIGKILL);
        if (children != NULL) fclose(children);
        pid_t buried = 0;
        while ((buried = waitpid(-1, NULL, WNOHANG)) > 0) {
        }
        if (buried < 0 && errno == ECHILD) return;
        usleep(1000);
    }
}

static void report(const struct nw_report* what) {
    ssize_t ignored = write(report_fd_here, what, sizeof *what);
    (void)ignored;
}

static uint64_t microseconds(struct timeval time) {
    return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_usec;
}

static void run_job(const struct program* program, int error_fd) {
    setpgid(0, 0);
    /* An ignored signal stays ignored over exec: the daemon ignores SIGPIPE, nohup SIGHUP. */
    for (int number = 1; number < NSIG; ++number)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int error = 0;
    if (program->folder[0] != 0 && chdir(program->folder) != 0) error = errno;
    if (error == 0) {
        execve(program->path, program->argv, program->envp);
        error = errno;
    }
    ssize_t ignored = write(error_fd, &error, sizeof error);
    (void)ignored;
    _exit(127);
}

/* Waits for the job's own process, reaping every orphan on the way. */
static int wait_for_job(pid_t job, struct nw_report* out) {
    for (;;) {
        int status = 0;
        struct rusage usage;
        const pid_t ended = wait4(-1, &status, 0, &usage);
        if (ended < 0 && errno == EINTR) continue;
        if (ended < 0) return init_failed;
        if (ended != job) continue;
        out->exit_code = WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
        out->exit_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        out->cpu_us = microseconds(usage.ru_utime) + microseconds(usage.ru_stime);
        out->rss_peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
        return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

static int supervise(const struct program* program) {
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = hand_on;
    action.sa_flags = SA_RESTART;
    sigset_t told;
    sigemptyset(&told);
    sigaddset(&told, SIGTERM);
    sigaddset(&told, SIGINT);
    /* Held back until the job's pid is known: a TERM that comes early is not lost. */
    sigprocmask(SIG_BLOCK, &told, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);

    if (program->subreaper) {
        action.sa_handler = kill_job;
        sigaction(SIGUSR2, &action, NULL);
    }

    int error_pipe[2];
    if (pipe2(error_pipe, O_CLOEXEC) != 0) return init_failed;
    const pid_t job = fork();
    if (job < 0) return init_failed;
    if (job == 0) run_job(program, error_pipe[1]);
    setpgid(job, job);
    close(error_pipe[1]);
    int error = 0;
    ssize_t count = 0;
    do {
        count = read(error_pipe[0], &error, sizeof error);
    } while (count < 0 && errno == EINTR);
    close(error_pipe[0]);
    struct nw_report started;
    memset(&started, 0, sizeof started);
    started.kind = nw_report_started;
    started.exec_error = count == (ssize_t)sizeof error ? error : 0;
    report(&started);
    job_pid = job;
    sigprocmask(SIG_UNBLOCK, &told, NULL);

    struct nw_report ended;
    memset(&ended, 0, sizeof ended);
    ended.kind = nw_report_ended;
    const int status = wait_for_job(job, &ended);
    if (status == init_failed) return init_failed;
    if (program->subreaper) bury_descendants();
    report(&ended);
    return status;
}

int init_main(int program_fd, int report_fd) {
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    struct program program;
    if (program_read(program_fd, &program) != 0) return init_failed;
    if (report_fd != report_fd_here && dup2(report_fd, report_fd_here) < 0) return init_failed;
    if (fcntl(report_fd_here, F_SETFD, FD_CLOEXEC) != 0) return init_failed;
    if (close_range(report_fd_here + 1, ~0U, 0) != 0) return init_failed;
    if (program.subreaper) {
        prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
        prctl(PR_SET_PDEATHSIG, SIGUSR2, 0, 0, 0);
    }
    return supervise(&program);
}
