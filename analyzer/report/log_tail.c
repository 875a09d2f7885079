/* SPDX-License-Identifier: MIT
 *
 * Owns: reading the end of a log. Threads: one per arena. Never: reads more of it than its tail (a log is as long as a
 * stage is talkative), follows a link, leaves the run directory.
 */
#include "log_tail.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/mem.h"

enum { TAIL_BYTES = 16384 };

/* Folder by folder: a link among them, too, leads out of a run that somebody else has made. */
static int open_below(const char *directory, const char *name)
{
    PT_AUTO(pt_closep) int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (;;) {
        char part[NAME_MAX + 1];
        const size_t length = strcspn(name, "/");
        const char *rest = name + length + strspn(name + length, "/");
        if (folder < 0 || !length || length >= sizeof part)
            return -1;
        snprintf(part, sizeof part, "%.*s", (int)length, name);
        if (!strcmp(part, ".."))
            return -1;
        if (!*rest)
            return openat(folder, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        const int next = openat(folder, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(folder);
        folder = next;
        name = rest;
    }
}

static size_t read_tail(const char *directory, const char *name, char *buffer)
{
    PT_AUTO(pt_closep) int fd = open_below(directory, name);
    struct stat status;
    if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return 0;
    const off_t from = status.st_size > TAIL_BYTES ? status.st_size - TAIL_BYTES : 0;
    const ssize_t n = pread(fd, buffer, TAIL_BYTES, from);
    return n > 0 ? (size_t)n : 0;
}

/* A progress bar redraws itself after each carriage return. */
static const char *after_last_return(const char *line)
{
    const char *from = strrchr(line, '\r');
    return from && from[1] ? from + 1 : line;
}

struct pt_log_tail pt_log_tail(const char *run_directory, const char *name, struct pt_arena *arena)
{
    struct pt_log_tail tail = {.n = 0};
    PT_AUTO(pt_freep) char *text = pt_calloc(1, TAIL_BYTES + 1);
    size_t n = name ? read_tail(run_directory, name, text) : 0;
    while (n && (text[n - 1] == '\n' || text[n - 1] == '\r'))
        n--;
    size_t from = n;
    for (int lines = 0; from; from--)
        if (text[from - 1] == '\n' && ++lines == PT_LOG_TAIL_LINES)
            break;
    for (size_t i = from; i < n; i++)
        if (!text[i])
            text[i] = '?'; /* a NUL would hide the rest */
    text[n] = 0;
    char *save = NULL;
    for (char *line = n ? strtok_r(text + from, "\n", &save) : NULL; line && tail.n < PT_LOG_TAIL_LINES;
         line = strtok_r(NULL, "\n", &save)) {
        const char *shown = after_last_return(line);
        tail.lines[tail.n++] = pt_arena_text(arena, shown, strlen(shown));
    }
    return tail;
}

unsigned pt_stack_lines(const char *stacks, const char *ret_lines[static PT_RUN_STUCK_LINES], struct pt_arena *arena)
{
    unsigned n = 0;
    for (const char *at = stacks; at && *at && n < PT_RUN_STUCK_LINES; n++) {
        const size_t bytes = strcspn(at, "\n");
        ret_lines[n] = pt_arena_text(arena, at, bytes);
        at += bytes + (at[bytes] == '\n');
    }
    return n;
}
