/* SPDX-License-Identifier: MIT
 *
 * gpu/reader.c - Owns: the reader process and its socket. Threads: main only, and the reader. Never: waits for the
 * reader without a limit, leaves one of our descriptors open in it.
 */
#include "reader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nvidia_smi.h"
#include "nvml.h"

#define READER_FD 3

/* ---- in the reader ---- */

/* Ours alone: descriptors that it kept open would keep a pipe's reader waiting after we have gone. */
static void detach(int fd, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(0);
    prctl(PR_SET_NAME, "proftrace-gpu");
    setrlimit(RLIMIT_CORE,
              &(struct rlimit){0, 0}); /* a crash of the driver must not write a core file into the command's folder */
    setpgid(0, 0);                     /* Ctrl-C is not for it */
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (chdir("/") < 0 || dup2(fd, READER_FD) < 0)
        _exit(1);
    fcntl(READER_FD, F_SETFD, FD_CLOEXEC);
    fcntl(READER_FD, F_SETFL, 0);
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int i = 0; i < 3; i++)
        dup2(null_fd, i);
    if (syscall(SYS_close_range, READER_FD + 1, ~0u, 0) < 0) /* Linux before 5.9 */
        for (int i = READER_FD + 1; i < 4096; i++)
            close(i);
}

__attribute__((noreturn)) static void serve(void *library, const char *program)
{
    static struct pt_gpu_table table;
    static struct pt_gpu_reading reading;
    char why[160] = "", why_not[160] = "";
    void (*read_all)(struct pt_gpu_table *) = NULL;
    if (library && pt_gpu_nvml_open(library, &table, why, sizeof why) == 0)
        read_all = pt_gpu_nvml_read;
    else if (program && pt_gpu_smi_open(program, &table, why_not, sizeof why_not) == 0)
        read_all = pt_gpu_smi_read;
    if (!read_all)
        table.n = 0;
    pt_gpu_reading_make(&table, &reading);
    if (!read_all)
        snprintf(reading.reason, sizeof reading.reason, "%.80s%s%.70s", why, *why && *why_not ? "; " : "", why_not);
    char request;
    while (send(READER_FD, &reading, sizeof reading, MSG_NOSIGNAL) > 0 && read_all &&
           recv(READER_FD, &request, 1, 0) > 0) {
        read_all(&table);
        pt_gpu_reading_make(&table, &reading);
    }
    _exit(0);
}

/* ---- in the launcher ---- */

static bool find_program(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    for (const char *at = folders; at && *at; at += strspn(at, ":")) {
        const int length = (int)strcspn(at, ":");
        const int n = snprintf(path, size, "%.*s/%s", length, at, name);
        at += length;
        if (*path == '/' && n > 0 && (size_t)n < size && access(path, X_OK) == 0)
            return true;
    }
    return false;
}

int pt_gpu_reader_start(struct pt_gpu_reader *reader, char *reason, size_t size)
{
    char program[PATH_MAX];
    *reader = (struct pt_gpu_reader){.fd = -1};
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    const bool has_program = find_program("nvidia-smi", program, sizeof program);
    if (!library && !has_program) {
        snprintf(reason, size, "no NVIDIA driver: libnvidia-ml.so.1 cannot be loaded and nvidia-smi is not found");
        return -1;
    }
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) < 0) {
        snprintf(reason, size, "no socket for the GPU helper");
        return -1;
    }
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid == 0) {
        detach(fds[1], parent);
        serve(library, has_program ? program : NULL);
    }
    close(fds[1]);
    if (pid < 0) {
        close(fds[0]);
        snprintf(reason, size, "no process for the GPU helper");
        return -1;
    }
    reader->pid = pid;
    reader->fd = fds[0];
    return 0;
}

bool pt_gpu_reader_ask(struct pt_gpu_reader *reader)
{
    if (reader->fd < 0 || reader->is_asked)
        return false;
    reader->is_asked = send(reader->fd, "?", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
    return reader->is_asked;
}

int pt_gpu_reader_take(struct pt_gpu_reader *reader, int timeout_ms, struct pt_gpu_reading *ret_reading)
{
    if (reader->fd < 0)
        return -1;
    struct pollfd ready = {.fd = reader->fd, .events = POLLIN};
    if (poll(&ready, 1, timeout_ms) <= 0)
        return 0;
    const ssize_t n = recv(reader->fd, ret_reading, sizeof *ret_reading, MSG_DONTWAIT);
    if (n == (ssize_t)sizeof *ret_reading) {
        reader->is_asked = false;
        return 1;
    }
    close(reader->fd);
    reader->fd = -1;
    return -1;
}

/* It ends when the socket is closed, at once unless it hangs in the driver. Then it is killed, but we do not wait
 * for its end, which could take as long. */
void pt_gpu_reader_stop(struct pt_gpu_reader *reader)
{
    if (reader->fd >= 0)
        close(reader->fd);
    reader->fd = -1;
    for (int i = 0; reader->pid > 0 && i < 50; i++) {
        if (waitpid(reader->pid, NULL, WNOHANG) != 0)
            reader->pid = 0;
        else
            poll(NULL, 0, 1);
    }
    if (reader->pid > 0 && kill(reader->pid, SIGKILL) == 0 && poll(NULL, 0, 2) == 0)
        waitpid(reader->pid, NULL, WNOHANG);
    reader->pid = 0;
}
