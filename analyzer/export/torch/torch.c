/* SPDX-License-Identifier: MIT
 *
 * torch.c - a folder of traces as PyTorch's profiler writes them, one for each process that used a GPU; where none did,
 * for each training on CPUs.
 *
 * Owns: the files, MOST_OPEN of which are written in one pass over the events, and which get their names together
 * at the end. One thread. Never: leaves a file of a failed export, or takes one away that was there before it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proftrace/events.h"
#include "facts/facts.h"
#include "util/auto.h"
#include "util/mem.h"
#include "util/new_file.h"
#include "cpu.h"
#include "file.h"
#include "windows.h"

/* Each open file has a descriptor, a thread and 4 MiB. */
enum { MOST_OPEN = 32, FEW = 4 };

struct torch {
    struct pt_session *session;
    const struct pt_export_options *options;
    struct pt_export_summary *summary;
    struct pt_torch_file *files; /* by process index; `process` NULL = none */
    pt_u32 n;
    bool are_many;
    bool is_on_cpu;             /* nothing was done on a GPU */
    struct pt_out_place folder; /* of the files, once it is made */
    struct pt_sink_files whole; /* files without their names */
};

static bool used_gpu(const struct pt_process *process)
{
    static const int tracks[] = {PT_KIND_gpu_kernel, PT_KIND_gpu_copy, PT_KIND_gpu_set, PT_KIND_gpu_graph};
    for (size_t i = 0; i < sizeof tracks / sizeof *tracks; i++)
        if (pt_totals_of(process->totals, tracks[i])->calls)
            return true;
    return false;
}

/* How many files there are to be. */
static pt_u32 choose(struct torch *torch, bool (*is_wanted)(const struct pt_process *process))
{
    const struct pt_filter *filter = &torch->options->filter;
    pt_u32 ranks = 0;
    for (pt_u32 i = 0; i < torch->n; i++) {
        struct pt_process *process = torch->session->processes[i];
        if (pt_selects_process(filter, process) && is_wanted(process))
            torch->files[i] = (struct pt_torch_file){.process = process,
                                                     .summary = torch->summary,
                                                     .rank = ranks++, /* see number_ranks */
                                                     .window = pt_window_of(filter),
                                                     .min_duration_ns = filter->min_duration_ns,
                                                     .is_on_cpu = torch->is_on_cpu};
    }
    return ranks;
}

/* Whether each process has a rank of its own; if not, the reason goes to `ret_why`. */
static bool have_ranks(const struct torch *torch, char *ret_why, size_t room)
{
    struct pt_map by_rank = {0};
    bool have = true;
    for (pt_u32 i = 0; i < torch->n && have; i++) {
        const struct pt_process *process = torch->files[i].process;
        if (!process)
            continue;
        uint64_t *pid = pt_map_at(&by_rank, (uint64_t)process->rank);
        if (process->rank < 0)
            snprintf(ret_why, room, "process %u had no RANK in its environment, and set none", process->pid);
        else if (*pid)
            snprintf(ret_why, room, "processes %u and %u both had rank %lld; --stage or --pid choose", (pt_u32)*pid,
                     process->pid, (long long)process->rank);
        have = process->rank >= 0 && !*pid;
        *pid = process->pid;
    }
    pt_map_fini(&by_rank);
    return have;
}

/* As the launcher of the training numbered them, where the trace can know it: tools join files of several hosts by it.
 */
static void number_ranks(struct torch *torch, pt_u32 ranks)
{
    char why[120] = "";
    const bool have = have_ranks(torch, why, sizeof why);
    if (!have && ranks > 1)
        snprintf(torch->summary->note, sizeof torch->summary->note, "ranks are numbered as the processes started: %s",
                 why);
    for (pt_u32 i = 0; i < torch->n; i++) {
        struct pt_torch_file *file = &torch->files[i];
        if (file->process && have) {
            file->rank = (pt_u32)file->process->rank;
            file->world_size = file->process->world_size;
        }
        if (file->world_size <= file->rank)
            file->world_size = file->rank < ranks ? ranks : file->rank + 1;
    }
}

/* From the process `from` on, as many as may be open; the next process that has a file, or how many there are; or -1.
 */
static pt_i64 open_files(struct torch *torch, pt_u32 from, struct pt_error *err)
{
    pt_u32 i = from, n = 0;
    for (; i < torch->n && n < MOST_OPEN; i++) {
        struct pt_torch_file *file = &torch->files[i];
        if (!file->process)
            continue;
        if (pt_torch_open(file, &torch->folder, torch->are_many, torch->options->max_bytes, err) < 0)
            return -1;
        n++;
    }
    while (i < torch->n && !torch->files[i].process)
        i++;
    return i;
}

static int write_events(struct torch *torch, struct pt_error *err)
{
    /* Steps and ranges need what came before the window. */
    struct pt_filter wanted = torch->options->filter;
    wanted.from_ns = 0;
    wanted.min_duration_ns = 0;
    wanted.categories =
        PT_CATEGORY_GPU | PT_CATEGORY_CUDA | PT_CATEGORY_USER | (torch->is_on_cpu ? (pt_u32)PT_CALL_CATEGORIES : 0);
    PT_AUTO(pt_feed_closep) struct pt_feed *feed = pt_session_feed(torch->session, &wanted, err);
    struct pt_event event;
    int more;
    if (!feed)
        return -1;
    while ((more = feed->next(feed, &event, err)) > 0) {
        struct pt_torch_file *file = &torch->files[event.process->index];
        if (file->sink && !pt_sink_failed(file->sink))
            pt_torch_event(file, &event);
    }
    return more;
}

/* The folder itself: the files go into it by their names, or by their paths. */
static int make_folder(const struct pt_out_place *place, struct pt_out_place *ret_folder, struct pt_error *err)
{
    *ret_folder = *place;
    if (place->folder_fd == AT_FDCWD) {
        if (mkdir(place->name, 0777) == 0 || errno == EEXIST)
            return 0;
    } else {
        ret_folder->name = "";
        if ((ret_folder->folder_fd = pt_folder_make_in(place->folder_fd, place->name)) >= 0)
            return 0;
    }
    return pt_fail(err, "cannot make the folder %s: %s", place->shown, strerror(errno));
}

static int add_windows(struct torch *torch, struct pt_sink_result *result, struct pt_error *err)
{
    struct pt_export_summary *summary = torch->summary;
    const struct pt_torch_copies to = {&torch->folder, torch->options->max_bytes, &torch->whole, result};
    const int n = pt_torch_export_windows(torch->session, &to, err);
    const size_t used = strlen(summary->note);
    if (n > 0)
        snprintf(summary->note + used, sizeof summary->note - used,
                 "%s%d profiler window%s in folders of %s model's name", used ? "; " : "", n, n == 1 ? "" : "s",
                 n == 1 ? "its" : "their");
    return n < 0 ? -1 : 0;
}

/* All that are open. */
static int close_files(struct torch *torch, struct pt_sink_result *result, struct pt_error *err)
{
    for (pt_u32 i = 0; i < torch->n; i++) {
        struct pt_sink_result written;
        if (!torch->files[i].sink)
            continue;
        if (pt_torch_close(&torch->files[i], &torch->whole, &written, err) < 0)
            return -1;
        pt_torch_free(&torch->files[i]);
        result->bytes += written.bytes;
        result->file_bytes += written.file_bytes;
    }
    return 0;
}

static int write_files(struct torch *torch, const struct pt_out_place *place, struct pt_sink_result *ret_result,
                       struct pt_error *err)
{
    pt_u32 ranks = choose(torch, used_gpu);
    torch->is_on_cpu = !ranks;
    ranks = ranks ? ranks : choose(torch, pt_torch_is_training);
    if (!ranks)
        return pt_fail_code(err, 2,
                            "no process of the run loaded PyTorch, marked ranges or did anything on a GPU that was "
                            "recorded; proftrace doctor says what recording needs");
    if (make_folder(place, &torch->folder, err) < 0)
        return -1;
    number_ranks(torch, ranks);
    torch->are_many = ranks > FEW;
    for (pt_i64 next = 0; next < torch->n;) {
        next = open_files(torch, (pt_u32)next, err);
        if (next < 0 || write_events(torch, err) < 0)
            return -1;
        if (torch->is_on_cpu)
            pt_torch_samples(torch->session, torch->options, torch->files);
        if (close_files(torch, ret_result, err) < 0)
            return -1;
    }
    return add_windows(torch, ret_result, err) < 0 ? -1 : pt_sink_name_files(&torch->whole, err);
}

int pt_export_torch(struct pt_session *session, const struct pt_export_options *options,
                    const struct pt_out_place *place, struct pt_export_summary *ret_summary,
                    struct pt_sink_result *ret_result, struct pt_error *err)
{
    struct torch torch = {.session = session,
                          .options = options,
                          .summary = ret_summary,
                          .n = session->n_processes,
                          .folder = {.folder_fd = -1}};
    *ret_summary = (struct pt_export_summary){0};
    *ret_result = (struct pt_sink_result){0};
    torch.files = pt_calloc(torch.n ? torch.n : 1, sizeof *torch.files);
    const int result = write_files(&torch, place, ret_result, err);
    for (pt_u32 i = 0; i < torch.n; i++)
        if (torch.files[i].process)
            pt_torch_free(&torch.files[i]);
    pt_sink_free_files(&torch.whole);
    if (torch.folder.folder_fd >= 0)
        close(torch.folder.folder_fd);
    free(torch.files);
    return result;
}
