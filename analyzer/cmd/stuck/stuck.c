/* SPDX-License-Identifier: MIT
 *
 * Owns: stacks.txt. Threads: main only. Never: fails a run: that it hangs is trouble enough.
 */
#include "stuck.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run_file/run_file.h"
#include "stacks/core.h"
#include "stacks/folded.h"
#include "stacks/look.h"
#include "stacks/text.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/small_file.h"
#include "util/text/sanitize.h"
#include "util/text/utf8.h"

/* One file for all looks of a run, the newest last. */
static int append(int run_fd, const struct pt_str *text)
{
    PT_AUTO(pt_closep)
    int fd = openat(run_fd, "stacks.txt", O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
    const char *from = pt_str_text(text);
    for (size_t left = text->n; fd >= 0 && left;) {
        const ssize_t n = write(fd, from, left);
        if (n < 0)
            return -1;
        from += n;
        left -= (size_t)n;
    }
    return fd < 0 ? -1 : 0;
}

static void put_heading(const struct pt_stuck *stuck, const char *why, struct pt_str *out)
{
    char at[32];
    const time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", &utc);
    pt_str_printf(out, "== %s, stage ", at);
    pt_sanitize_terminal(out, stuck->stage);
    pt_str_printf(out, ": %s\n", why);
}

static void set_reason(struct pt_stuck *stuck, const struct pt_str *reason)
{
    snprintf(stuck->reason, sizeof stuck->reason, "%s", pt_str_text(reason));
    pt_utf8_trim(stuck->reason, sizeof stuck->reason);
}

void pt_stuck_begin(struct pt_stuck *stuck, const char *stage)
{
    if (stuck->stage && !strcmp(stuck->stage, stage))
        return;
    stuck->stage = stage;
    stuck->looks = 0;
    *stuck->reason = 0;
    pt_str_clear(&stuck->folded);
}

enum pt_stuck_seen pt_stuck_look(struct pt_stuck *stuck, pid_t pid, const char *why, bool is_asked)
{
    enum {
        MOST_LOOKS = 50,
        MOST_FOLDED_LINES = PT_RUN_STUCK_LINES
    }; /* a training that pauses for days must not fill the disk */
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    PT_AUTO(pt_str_fini) struct pt_str reason = {0};
    struct pt_look look = {0};
    struct pt_error err = {0};
    if (!is_asked && stuck->looks++ >= MOST_LOOKS)
        return PT_STUCK_NOT_SEEN;
    pt_str_clear(&stuck->folded);
    put_heading(stuck, why, &text);
    if (pt_look_open(&look, (pt_u32)pid, true, &err) == 0) {
        pt_look_put(&look, &text);
        pt_look_put_reason(&look, (pt_u32)pid, &reason);
        pt_look_put_folded(&look, MOST_FOLDED_LINES, &stuck->folded);
    } else {
        pt_str_printf(&text, "no stacks: %s\n", err.text);
        pt_str_printf(&reason, "its stacks cannot be read: %s", err.text);
    }
    pt_look_close(&look);
    pt_str_char(&text, '\n');
    if (append(stuck->run_fd, &text) < 0)
        pt_str_printf(&reason, " (stacks.txt cannot be written: %s)", strerror(errno));
    const bool is_new = strcmp(stuck->reason, pt_str_text(&reason)) != 0;
    set_reason(stuck, &reason);
    return is_new ? PT_STUCK_NEW : PT_STUCK_AS_BEFORE;
}

/* ---- dumps ---- */

/* kernel.core_pattern as a pattern of fnmatch(3): its pid is known, what else it may say is not, nor the pid that it
 * has outside of a container, %P. False: dumps go to a program. */
static bool dump_pattern(pid_t pid, struct pt_str *out)
{
    char pattern[256], uses_pid[8];
    if (!pt_small_file_word(pattern, sizeof pattern, "/proc/sys/kernel/core_pattern") || *pattern == '|')
        return false;
    for (const char *at = pattern; *at; at++) {
        if (*at != '%')
            pt_str_char(out, *at);
        else if (*++at == 'p')
            pt_str_printf(out, "%d", (int)pid);
        else
            pt_str_char(out, *at == '%' ? '%' : '*');
        if (!*at)
            break;
    }
    if (!strstr(pattern, "%p") && pt_small_file_word(uses_pid, sizeof uses_pid, "/proc/sys/kernel/core_uses_pid") &&
        strcmp(uses_pid, "0") != 0)
        pt_str_printf(out, ".%d", (int)pid);
    return true;
}

static bool read_dump(struct pt_stuck *stuck, pid_t pid, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    struct pt_look look = {0};
    struct pt_error err = {0};
    const bool is_it = pt_look_open_core(&look, path, &err) == 0 && look.processes.items[0]->pid == (pt_u32)pid;
    if (is_it) {
        put_heading(stuck, "it died, and this is its core dump", &text);
        pt_look_put(&look, &text);
        pt_str_char(&text, '\n');
        PT_AUTO(pt_str_fini) struct pt_str reason = {0};
        pt_sanitize_terminal(&reason, look.conclusions.items[0]);
        set_reason(stuck, &reason);
        pt_str_clear(&stuck->folded);
        pt_look_put_folded(&look, PT_RUN_STUCK_LINES, &stuck->folded);
    }
    pt_look_close(&look);
    return is_it && append(stuck->run_fd, &text) == 0;
}

bool pt_stuck_core(struct pt_stuck *stuck, pid_t pid, const char *cwd)
{
    PT_AUTO(pt_str_fini) struct pt_str pattern = {0};
    if (!dump_pattern(pid, &pattern))
        return false;
    const char *text = pt_str_text(&pattern), *slash = strrchr(text, '/');
    PT_AUTO(pt_freep)
    char *folder = *text == '/' ? pt_asprintf("%.*s", (int)(slash - text) + 1, text)
                   : slash      ? pt_asprintf("%s/%.*s", cwd, (int)(slash - text) + 1, text)
                                : pt_asprintf("%s/", cwd);
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool is_found = false;
    while (directory && !is_found && (entry = readdir(directory))) {
        PT_AUTO(pt_freep) char *path = pt_asprintf("%s%s", folder, entry->d_name);
        is_found = fnmatch(slash ? slash + 1 : text, entry->d_name, 0) == 0 && read_dump(stuck, pid, path);
    }
    if (directory)
        closedir(directory);
    return is_found;
}
