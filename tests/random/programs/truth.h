/* SPDX-License-Identifier: MIT
 * truth.py in C: what a generated program says of itself, by its own clocks. */
#pragma once
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static bool truth_fixed;

static inline double truth_queued_s(void)
{
    char text[128] = "";
    unsigned long long run_ns = 0, queued_ns = 0;
    const int fd = open("/proc/thread-self/schedstat", O_RDONLY);
    if (fd >= 0 && read(fd, text, sizeof text - 1) > 0)
        sscanf(text, "%llu %llu", &run_ns, &queued_ns);
    close(fd);
    return (double)queued_ns / 1e9;
}

static inline double truth_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void *truth_part(void *function)
{
    char path[4096];
    const double before = truth_queued_s();
    ((void (*)(void))function)();
    snprintf(path, sizeof path, "%s.queued", getenv("RANDOM_TRUTH"));
    FILE *file = fopen(path, "a");
    fprintf(file, "%.6f\n", truth_queued_s() - before);
    fclose(file);
    return NULL;
}

static inline void truth_in_main(void (*function)(void))
{
    function();
}

static inline void truth_in_thread(void (*function)(void))
{
    pthread_t thread;
    pthread_create(&thread, NULL, truth_part, (void *)function);
    pthread_join(thread, NULL);
}

static inline void truth_in_fork(void (*function)(void))
{
    const pid_t pid = fork();
    if (!pid) {
        truth_part((void *)function);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

/* About so many milliseconds on one CPU, without a system call. */
static volatile long truth_sink;
static inline void truth_compute(long units)
{
    for (long i = 0; i < units * 500000; i++)
        truth_sink ^= i;
}

static inline int truth_main(int argc, char **argv, void (*function)(void))
{
    truth_fixed = argc > 1 && !strcmp(argv[1], "--fixed");
    const double began = truth_now_s(), queued = truth_queued_s();
    function();
    const double wall = truth_now_s() - began, waited = truth_queued_s() - queued;
    double cpu = 0;
    for (int i = 0; i < 2; i++) {
        struct rusage used;
        getrusage(i ? RUSAGE_CHILDREN : RUSAGE_SELF, &used);
        cpu += (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    }
    FILE *file = fopen(getenv("RANDOM_TRUTH"), "w");
    fprintf(file, "{\"wall_s\": %.6f, \"queued_s\": %.6f, \"cpu_s\": %.6f}", wall, waited, cpu);
    fclose(file);
    return 0;
}
