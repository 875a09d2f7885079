/* SPDX-License-Identifier: MIT
 *
 * child.c - Owns: fork, execve and the re-enactment of the child's end. Threads: main only (and the forked child, until
 * execve). Never: touches our own descriptors 0 to 2.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/auto.h"

/* execve, and as execvp does, /bin/sh for a script that has no #! line. */
static void exec_or_shell(const char *path, char **argv, char **environment)
{
    execve(path, argv, environment);
    if (errno != ENOEXEC)
        return;
    size_t n = 0;
    while (argv[n])
        n++;
    char **shell_argv = calloc(n + 2, sizeof *shell_argv);
    if (!shell_argv)
        return;
    static char shell[] = "/bin/sh";
    shell_argv[0] = shell;
    shell_argv[1] = (char *)(size_t)path;
    memcpy(shell_argv + 2, argv + 1, n * sizeof *argv);
    execve(shell, shell_argv, environment);
    free(shell_argv);
    errno = ENOEXEC;
}

static int exec_failed(const char *path, int problem, struct pt_error *err)
{
    return pt_fail_code(err, problem == ENOENT ? 127 : 126, "%s: cannot be run: %s", path, strerror(problem));
}

int pt_child_become(const char *path, char **argv, char **environment, struct pt_error *err)
{
    exec_or_shell(path, argv, environment);
    return exec_failed(path, errno, err);
}

static bool rename_pid(char **environment, const char *ours, char *made)
{
    bool is_ours = false;
    for (char **at = environment; *at; at++)
        if (!strcmp(*at, ours)) {
            *at = made;
            is_ours = true;
        }
    return is_ours;
}

static void take_out(char **environment, const char *start)
{
    char **kept = environment;
    for (char **at = environment; *at; at++)
        if (strncmp(*at, start, strlen(start)) != 0)
            *kept++ = *at;
    *kept = NULL;
}

/* systemd's sockets and its watchdog are for the process that it has started, by its pid: that is us, and is to be the
 * command, which would open other sockets otherwise. From systemd 258 on the sockets name the process also by the
 * number of its pidfd, and who finds another one there takes none of them. */
static void be_the_service(char **environment)
{
    static const char *const names[] = {"LISTEN_PID", "WATCHDOG_PID", "SYSTEMD_EXEC_PID"};
    static char made[sizeof names / sizeof *names][32];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char ours[sizeof made[i]];
        snprintf(ours, sizeof ours, "%s=%d", names[i], (int)getppid());
        snprintf(made[i], sizeof made[i], "%s=%d", names[i], (int)getpid());
        if (rename_pid(environment, ours, made[i]) && i == 0)
            take_out(environment, "LISTEN_PIDFDID=");
    }
}

/* What the child says through the pipe when it cannot become the command. */
struct trouble {
    int problem;
    bool is_cwd;
};

__attribute__((noreturn)) static void run_child(const struct pt_child *child, const struct pt_inherited *inherited,
                                                int report_fd)
{
    /* They are above 2, so none of them is overwritten before it is used. */
    for (int i = 0; child->output_fds && i < 2; i++)
        if (child->output_fds[i] >= 0 && dup2(child->output_fds[i], STDOUT_FILENO + i) < 0)
            _exit(125);
    sigaction(SIGPIPE, &inherited->pipe_action, NULL);
    sigaction(SIGCHLD, &inherited->child_action, NULL);
    sigaction(SIGXFSZ, &inherited->size_action, NULL);
    sigprocmask(SIG_SETMASK, &inherited->mask, NULL);
    const bool is_cwd = child->cwd && chdir(child->cwd) < 0;
    be_the_service(child->environment);
    if (!is_cwd)
        exec_or_shell(child->path, child->argv, child->environment);
    const struct trouble trouble = {errno, is_cwd};
    if (write(report_fd, &trouble, sizeof trouble) < 0)
        _exit(125);
    _exit(trouble.problem == ENOENT ? 127 : 126);
}

pid_t pt_child_start(const struct pt_child *child, const struct pt_inherited *inherited, struct pt_error *err)
{
    /* A successful execve closes the pipe; a failed one sends its trouble through it. */
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return pt_fail(err, "cannot make a pipe: %s", strerror(errno));
    const pid_t pid = fork();
    if (pid == 0)
        run_child(child, inherited, report[1]);
    const int fork_problem = errno;
    close(report[1]);
    struct trouble trouble = {0};
    ssize_t n = 0;
    if (pid > 0)
        while ((n = read(report[0], &trouble, sizeof trouble)) < 0 && errno == EINTR)
            ;
    close(report[0]);
    if (pid < 0)
        return pt_fail(err, "cannot fork: %s", strerror(fork_problem));
    if (n == sizeof trouble) {
        waitpid(pid, NULL, 0);
        if (trouble.is_cwd)
            return pt_fail_code(err, 126, "cannot enter the directory %s: %s", child->cwd, strerror(trouble.problem));
        return exec_failed(child->path, trouble.problem, err);
    }
    return pid;
}

int pt_status_exit_code(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int pt_end_as(int wait_status)
{
    if (!WIFSIGNALED(wait_status))
        return WEXITSTATUS(wait_status);
    const int number = WTERMSIG(wait_status);
    /* One crash, one core file: the child's. */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* whom core_pattern pipes it to is called whatever the limit is */
    signal(number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    fflush(NULL);
    kill(getpid(), number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    return 128 + number; /* process 1 of a container: the kernel shields it from its own signals */
}
