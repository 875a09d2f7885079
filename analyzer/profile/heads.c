/* SPDX-License-Identifier: MIT
 *
 * Owns: what is read of trace files where a run is only to be listed. Threads: any. Never: reads more of one than its
 * head, and trusts no number in it.
 */
#include "heads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "model/running.h"
#include "source/refusals.h"
#include "source/run_dir.h"
#include "source/small_heads.h"
#include "source/trace_file.h"
#include "util/auto.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/small_file.h"
#include "util/str.h"
#include "util/text/redact.h"

static int open_head(const char *path, pt_u64 *ret_offset)
{
    const char *small = pt_small_head_of(path);
    PT_AUTO(pt_freep) char *name = pt_asprintf("%.*s", (int)(small ? (size_t)(small - path) : strlen(path)), path);
    int fd = pt_trace_file_descriptor(name);
    *ret_offset = fd >= 0 && small ? pt_small_heads_offset(fd, path) : 0;
    if (small && !*ret_offset)
        pt_closep(&fd);
    return fd;
}

bool pt_head_read(const char *path, struct pt_file_header *ret_head, pt_u64 *ret_offset)
{
    PT_AUTO(pt_closep) int fd = open_head(path, ret_offset);
    return fd >= 0 && pread(fd, ret_head, sizeof *ret_head, (off_t)*ret_offset) == (ssize_t)sizeof *ret_head &&
           !memcmp(ret_head->magic, PT_FILE_MAGIC, sizeof ret_head->magic);
}

static const char *item_of(const char *text, const char *end, pt_u32 item)
{
    for (; item && text < end; item--)
        text += strlen(text) + 1;
    return text < end ? text : end; /* where a NUL stands */
}

/* As far as it is in the text. */
static char *command_in(const char *text, const char *end)
{
    PT_AUTO(pt_str_fini) struct pt_str command = {0};
    struct pt_redact_line line = {0};
    const long argc = strtol(item_of(text, end, PT_TEXT_ARGC), NULL, 10);
    const char *at = item_of(text, end, PT_TEXT_ARGV);
    for (long i = 0; i < argc && at < end; i++, at += strlen(at) + 1) {
        PT_AUTO(pt_freep) char *word = pt_redacted(at, &line);
        pt_str_printf(&command, "%s%s", i ? " " : "", word ? word : PT_REDACT_MASK);
    }
    return command.n ? pt_strdup(pt_str_text(&command)) : NULL;
}

static char *command_of(const char *path)
{
    struct pt_file_header head;
    pt_u64 offset;
    char text[PT_TEXT_BYTES + 1];
    PT_AUTO(pt_closep) int fd = open_head(path, &offset);
    if (!pt_head_read(path, &head, &offset) || head.text_bytes > PT_TEXT_BYTES)
        return NULL;
    const ssize_t n = pread(fd, text, head.text_bytes, (off_t)(offset + head.text_offset));
    if (n <= 0)
        return NULL;
    text[n] = 0;
    return command_in(text, text + n);
}

static pt_u64 last_sign_ns(const struct pt_file_header *head)
{
    return (head->clock_index ? head->clock_last[head->clock_index & 1] : head->clock_first).monotonic_ns;
}

/* It has noted no end. On another machine, which shares this folder, its pid is of nobody here, or of somebody else; in
 * a container of this one, too, but there its clock is ours: what has been silent for a minute is taken to be over. */
static void find_whether_it_runs(const char *path, pt_u64 offset, const struct pt_file_header *head,
                                 const char boot_id[static sizeof head->boot_id], struct pt_run_heads *heads)
{
    const bool is_boot_known = head->boot_id[0]; /* not where session.bin is missing */
    if (is_boot_known && strncmp(head->boot_id, boot_id, sizeof head->boot_id) != 0)
        heads->may_run_elsewhere = true;
    else if (pt_trace_is_mapped(path, offset, head->pid))
        heads->is_running = true;
    else if (!is_boot_known || pt_monotonic_ns() - last_sign_ns(head) < PT_MOST_QUIET_NS)
        heads->may_run_elsewhere = true;
}

struct pt_run_heads pt_run_heads_read(const char *path)
{
    struct pt_run_heads heads = {0};
    struct pt_run_files files = {0};
    struct pt_error ignored = {0};
    const char *first = NULL;
    pt_u64 n_read = 0, n_live = 0;
    char boot_id[sizeof((struct pt_file_header *)0)->boot_id];
    if (pt_run_files_find(path, &files, &ignored) < 0)
        return heads;
    pt_boot_id(boot_id, sizeof boot_id);
    for (size_t i = 0; i < files.files.n; i++) {
        struct pt_file_header head;
        pt_u64 offset;
        if (!pt_head_read(files.files.items[i], &head, &offset) || !head.pid)
            continue;
        if (!first || head.realtime_ns < heads.start_realtime_ns) {
            first = files.files.items[i];
            heads.start_realtime_ns = head.realtime_ns;
        }
        heads.is_known = true;
        n_read++;
        n_live += head.state == PT_PROCESS_LIVE;
        if (head.state == PT_PROCESS_LIVE && !heads.is_running)
            find_whether_it_runs(files.files.items[i], offset, &head, boot_id, &heads);
    }
    heads.have_noted_ends = !n_live;
    heads.n_made = files.n_made;
    heads.is_whole = files.n_made && n_read >= files.n_made;
    heads.command = first ? command_of(first) : NULL;
    pt_run_files_fini(&files);
    return heads;
}

bool pt_run_has_grown(const char *path, const struct pt_run_heads *since)
{
    return pt_files_made(path) != since->n_made;
}
