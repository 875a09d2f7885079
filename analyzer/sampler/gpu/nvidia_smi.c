/* SPDX-License-Identifier: MIT
 *
 * gpu/nvidia_smi.c - Owns: asking the program nvidia-smi where NVML cannot be loaded. Threads: one, in the reader
 * process. Never: runs it more often than every five seconds: it costs tens of milliseconds and the driver's lock.
 */
#include "nvidia_smi.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"

#define AGAIN_NS 5000000000u
#define TIMEOUT_NS 20000000000u

extern char **environ;

/* A driver rejects the whole query for one field that it does not know: newer names first. */
static const char *const queries[] = {
    "--query-gpu=utilization.gpu,memory.used,power.draw,temperature.gpu,clocks_event_reasons.active,name",
    "--query-gpu=utilization.gpu,memory.used,power.draw,temperature.gpu,clocks_throttle_reasons.active,name",
};
enum { N_QUERIES = sizeof queries / sizeof *queries };

static const char *path;
static size_t query;
static pt_u64 after_ns;

static pid_t start(const char *question, int *ret_fd)
{
    int pipe_fds[2];
    if (pipe2(pipe_fds, O_CLOEXEC) < 0)
        return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        const char *argv[] = {path, question, "--format=csv,noheader,nounits", NULL};
        dup2(pipe_fds[1], STDOUT_FILENO);
        setenv("PROFTRACE_DISABLE", "1", 1); /* where LD_PRELOAD is exported, it would be a run of its own */
        execve(path, (char **)(size_t)argv, environ);
        _exit(127);
    }
    close(pipe_fds[1]);
    *ret_fd = pipe_fds[0];
    if (pid < 0)
        close(pipe_fds[0]);
    return pid;
}

/* What it printed; false when it failed or took too long. A program that hangs in the driver is not waited for. */
static bool ask(const char *question, char *text, size_t size)
{
    int fd, status = -1;
    size_t used = 0;
    const pid_t pid = start(question, &fd);
    const pt_u64 until_ns = pt_monotonic_ns() + TIMEOUT_NS;
    if (pid < 0)
        return false;
    for (ssize_t n = 1; n != 0 && pt_monotonic_ns() < until_ns;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        if (poll(&ready, 1, (int)((until_ns - pt_monotonic_ns()) / 1000000u + 1)) <= 0)
            continue;
        char rest[512];
        n = used + 1 < size ? read(fd, text + used, size - 1 - used) : read(fd, rest, sizeof rest);
        if (n > 0 && used + 1 < size)
            used += (size_t)n;
        if (n < 0 && errno != EINTR)
            break;
    }
    text[used] = 0;
    close(fd);
    if (pt_monotonic_ns() >= until_ns)
        kill(pid, SIGKILL);
    for (int i = 0; i < 100 && waitpid(pid, &status, WNOHANG) == 0; i++)
        poll(NULL, 0, 10);
    return status == 0;
}

/* One field; NAN for [N/A], [Not Supported] and the like. */
static double take_number(char **at, struct pt_gpu *gpu, enum pt_gpu_field field)
{
    const char *word = strsep(at, ",");
    char *end = NULL;
    while (word && *word == ' ')
        word++;
    const double number = word ? strtod(word, &end) : NAN;
    if (word && end != word)
        return number;
    snprintf(gpu->reasons[field], PT_GPU_REASON_SIZE, "nvidia-smi says %.40s", word ? word : "nothing");
    return NAN;
}

/* Hexadecimal, so that no number below 10 is taken for a percentage. */
static void take_clock_reasons(char **at, struct pt_gpu *gpu)
{
    const char *word = strsep(at, ",");
    char why[PT_GPU_REASON_SIZE];
    word += word ? strspn(word, " ") : 0;
    if (word && !strncmp(word, "0x", 2)) {
        pt_gpu_take_clock_reasons(gpu, strtoull(word, NULL, 16));
        return;
    }
    snprintf(why, sizeof why, "nvidia-smi says %.40s", word ? word : "nothing");
    pt_gpu_no_clock_reasons(gpu, why);
}

static void parse(struct pt_gpu_table *table, char *text)
{
    table->n = 0;
    for (char *line; (line = strsep(&text, "\n")) && table->n < PT_GPUS_MAX;) {
        if (!strchr(line, ','))
            continue;
        struct pt_gpu *gpu = &table->gpus[table->n++];
        *gpu = (struct pt_gpu){0};
        gpu->values[PT_GPU_UTIL] = take_number(&line, gpu, PT_GPU_UTIL);
        gpu->values[PT_GPU_MEM] = take_number(&line, gpu, PT_GPU_MEM) * 1048576;
        gpu->values[PT_GPU_POWER] = take_number(&line, gpu, PT_GPU_POWER);
        gpu->values[PT_GPU_TEMPERATURE] = take_number(&line, gpu, PT_GPU_TEMPERATURE);
        take_clock_reasons(&line, gpu);
        gpu->values[PT_GPU_ENERGY] = NAN;
        snprintf(gpu->reasons[PT_GPU_ENERGY], PT_GPU_REASON_SIZE, "nvidia-smi does not tell it");
        const char *name = line ? line + strspn(line, " ") : "";
        snprintf(gpu->name, PT_GPU_NAME_SIZE, "%.*s", PT_GPU_NAME_SIZE - 1, name);
    }
}

int pt_gpu_smi_open(const char *program, struct pt_gpu_table *table, char *reason, size_t size)
{
    char text[16384];
    path = program;
    for (query = 0; query < N_QUERIES; query++) {
        if (ask(queries[query], text, sizeof text)) {
            parse(table, text);
            after_ns = pt_monotonic_ns() + AGAIN_NS;
            table->is_fresh = true;
            if (table->n)
                return 0;
            break;
        }
    }
    text[strcspn(text, "\n")] = 0;
    snprintf(reason, size, "nvidia-smi: %.100s", *text ? text : "it failed");
    return -1;
}

void pt_gpu_smi_read(struct pt_gpu_table *table)
{
    char text[16384];
    table->is_fresh = false;
    pt_gpu_table_forget(table);
    if (pt_monotonic_ns() < after_ns)
        return;
    if (ask(queries[query], text, sizeof text)) {
        parse(table, text);
        table->is_fresh = true;
    }
    after_ns = pt_monotonic_ns() + AGAIN_NS;
}
