/* SPDX-License-Identifier: MIT
 *
 * witness.c - writes what was truly executed: one JSON object per line into FAKECUDA_WITNESS.<pid>.jsonl. The file is a
 * shared mapping that grows, so a killed process leaves all its lines (and zero bytes behind them, which readers
 * strip); only raw system calls touch it, so that a tracer does not take it for the program's own files.
 */
#include "fakegpu.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STEP_BYTES = 4 << 20, LINE_MAX_BYTES = 512 << 10 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int fd = -1;
static pid_t owner;
static char *window;           /* the mapped part of the file */
static size_t window_at, used; /* where it begins, and how much of it is written */

static bool map_window(size_t at)
{
    if (window)
        syscall(SYS_munmap, window, STEP_BYTES + LINE_MAX_BYTES);
    window = NULL;
    if (syscall(SYS_ftruncate, fd, (long)(at + STEP_BYTES + LINE_MAX_BYTES)))
        return false;
    void *mapped = (void *)syscall(SYS_mmap, NULL, (long)(STEP_BYTES + LINE_MAX_BYTES), PROT_READ | PROT_WRITE,
                                   MAP_SHARED, fd, (long)at);
    if (mapped == MAP_FAILED)
        return false;
    window = mapped;
    window_at = at;
    return true;
}

static bool open_witness(void)
{
    const char *prefix = getenv("FAKECUDA_WITNESS");
    char path[4096];
    const pid_t pid = (pid_t)syscall(SYS_getpid);
    if (owner == pid)
        return window != NULL;
    owner = pid;
    window = NULL; /* a forked child must not write into its parent's file */
    used = 0;
    if (!prefix || !*prefix)
        return false;
    snprintf(path, sizeof path, "%s.%d.jsonl", prefix, (int)pid);
    fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0 || !map_window(0)) {
        fprintf(stderr, "fakecuda: cannot write the witness %s\n", path);
        abort();
    }
    return true;
}

bool fg_has_witness(void)
{
    pthread_mutex_lock(&lock);
    const bool has = open_witness();
    pthread_mutex_unlock(&lock);
    return has;
}

void fg_witness(const char *format, ...)
{
    pthread_mutex_lock(&lock);
    if (open_witness()) {
        va_list arguments;
        va_start(arguments, format);
        const int n = vsnprintf(window + used, LINE_MAX_BYTES, format, arguments);
        va_end(arguments);
        if (n > 0 && n + 1 < LINE_MAX_BYTES) {
            used += (size_t)n;
            window[used++] = '\n';
        }
        if (used >= STEP_BYTES) {
            const size_t page = 4096, keep_from = used / page * page;
            if (map_window(window_at + keep_from))
                used -= keep_from;
        }
    }
    pthread_mutex_unlock(&lock);
}

const char *fg_json_text(const char *text, char *out, size_t size)
{
    if (!text)
        return "null";
    size_t n = 0;
    out[n++] = '"';
    for (const unsigned char *c = (const unsigned char *)text; *c && n + 9 < size; c++) {
        if (*c == '"' || *c == '\\' || *c < 0x20 || *c > 0x7e)
            n += (size_t)snprintf(out + n, size - n, "\\u%04x", *c);
        else
            out[n++] = (char)*c;
    }
    out[n++] = '"';
    out[n] = 0;
    return out;
}

/* Another thread of the parent may have held it. */
static void renew_lock(void)
{
    pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, renew_lock);
}

__attribute__((destructor)) static void trim(void)
{
    pthread_mutex_lock(&lock);
    if (window && owner == (pid_t)syscall(SYS_getpid))
        syscall(SYS_ftruncate, fd, (long)(window_at + used));
    pthread_mutex_unlock(&lock);
}
