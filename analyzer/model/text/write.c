/* SPDX-License-Identifier: MIT
 *
 * text/write.c - Owns: the order and the lines of a session's text. Threads: one. Never: writes what read.c would not
 * read back as the same.
 */
#include "write.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "proftrace/events.h"
#include "proftrace/heap_modes.h"
#include "decode/text.h"
#include "merge/feed.h"

#include "model/labels.h"
#include "model/minutes.h"
#include "model/session_data.h"
#include "model/python_seen.h"
#include "util/auto.h"
#include "util/text/fmt.h"

static const char *const drop_names[] = {
#define DROP(name, doc) #name,
#include "proftrace/drops.def"
#undef DROP
};

static void put_text(struct pt_str *line, const char *key, const char *text)
{
    pt_str_printf(line, " %s=", key);
    pt_text_quote(line, text);
}

static void put_number(struct pt_str *line, const char *key, pt_u64 value)
{
    if (value)
        pt_str_printf(line, " %s=%" PRIu64, key, value);
}

static void put_layers_off(struct pt_str *line, const struct pt_process *p)
{
    for (int layer = 0; layer < PT_LAYER__COUNT; layer++)
        if (p->layers_off & 1u << layer)
            pt_str_printf(line, " %s=off", pt_layer_name((enum pt_layer)layer));
}

static void put_rank(struct pt_str *line, const struct pt_process *p)
{
    if (p->rank >= 0)
        pt_str_printf(line, " rank=%" PRId64, p->rank);
    if (p->local_rank >= 0)
        pt_str_printf(line, " local_rank=%" PRId64, p->local_rank);
    put_number(line, "world_size", p->world_size);
}

static void put_python(struct pt_str *line, const struct pt_python_header *python)
{
    char note[sizeof python->note + 1] = "";
    memcpy(note, python->note, sizeof python->note);
    if (python->state && python->state < PT_PYTHON_STATES)
        pt_str_printf(line, " python=%s", pt_python_states[python->state]);
    put_number(line, "python_version", python->version);
    if (note[0])
        put_text(line, "python_note", note);
}

/* Only of a process that has any: otherwise each would say so. */
static bool minutes_of(const struct pt_process *p)
{
    return pt_process_minute_ns(p) > 0 && p->file->minutes.n > 0;
}

static void put_process(struct pt_str *line, const struct pt_process *p, const char *label)
{
    static const char *const states[] = {"", "live", "exited", "execed"};
    char boot_id[sizeof p->file->header->boot_id + 1] = "";
    memcpy(boot_id, p->file->header->boot_id, sizeof p->file->header->boot_id);
    pt_str_printf(line, "process %s ppid=%" PRIu32 " uid=%" PRIu32 " trace_id=0x%" PRIx64, label, p->ppid, p->uid,
                  p->trace_id);
    if (p->parent_trace_id)
        pt_str_printf(line, " parent_trace_id=0x%" PRIx64, p->parent_trace_id);
    pt_str_printf(line, " start=%s", pt_fmt_seconds(p->start_ns).text);
    pt_str_printf(line, " end=%s state=%s", pt_fmt_seconds(p->end_ns).text, states[p->state]);
    if (p->state == PT_PROCESS_EXITED)
        pt_str_printf(line, " exit_status=%d", p->exit_status);
    pt_str_printf(line, " heap=%s", pt_heap_modes[p->heap_mode]);
    if (p->file->header->options & PT_OPTION_HEAP_HIDDEN)
        pt_str_add(line, " heap_hidden=yes");
    if (p->file->header->options & PT_OPTION_HEAP_TOO_LATE)
        pt_str_add(line, " heap_too_late=yes");
    if (p->file->header->options & PT_OPTION_HEAP_LINKED_IN)
        pt_str_add(line, " heap_linked_in=yes");
    put_number(line, "heap_sample_bytes", p->heap_sample_bytes);
    put_number(line, "cpu_ns", p->cpu_ns);
    put_number(line, "max_rss_bytes", p->max_rss_bytes);
    put_number(line, "minute_ns", minutes_of(p) ? (pt_u64)pt_process_minute_ns(p) : 0);
    put_rank(line, p);
    put_layers_off(line, p);
    if (p->file->header->ignored_options[0]) {
        char ignored[PT_IGNORED_OPTIONS_BYTES + 1] = "";
        memcpy(ignored, p->file->header->ignored_options, PT_IGNORED_OPTIONS_BYTES);
        put_text(line, "ignored_options", ignored);
    }
    put_python(line, &p->file->header->python);
    put_text(line, "boot", boot_id);
    put_text(line, "host", p->host);
    put_text(line, "stage", p->stage);
    put_text(line, "comm", p->comm);
    put_text(line, "exe", p->exe);
    put_text(line, "cwd", p->cwd);
    pt_str_printf(line, " argc=%d argv=[", p->true_argc);
    for (int i = 0; i < p->argc; i++) {
        if (i)
            pt_str_char(line, ' ');
        pt_text_quote(line, p->argv[i]);
    }
    pt_str_add(line, "]\n");
}

static bool is_last_life(const struct pt_thread *t)
{
    const struct pt_process *p = t->process;
    return t->index + 1 == p->n_threads || p->threads[t->index + 1].slot != t->slot;
}

static void put_thread(struct pt_str *line, const struct pt_thread *t, const char *label)
{
    pt_str_printf(line, "thread %s slot=%" PRIu32 " life=%" PRIu32 " start=%s", label, t->slot, t->life,
                  pt_fmt_seconds(t->start_ns).text);
    if (!is_last_life(t))
        pt_str_printf(line, " end=%s allocs=%" PRIu64 " bytes=%" PRIu64 " frees=%" PRIu64,
                      pt_fmt_seconds(t->end_ns).text, t->heap_allocs, t->heap_bytes, t->heap_frees);
    pt_str_char(line, '\n');
}

static void put_module(struct pt_str *line, const struct pt_module *m, const char *label)
{
    pt_str_printf(line, "module %s start=0x%" PRIx64 " end=0x%" PRIx64 " bias=0x%" PRIx64 " since=%s build_id=", label,
                  m->start, m->end, m->load_bias, pt_fmt_seconds(m->since_ns).text);
    for (pt_u32 i = 0; i < m->build_id_bytes; i++)
        pt_str_printf(line, "%02x", m->build_id[i]);
    put_text(line, "path", m->path);
    pt_str_char(line, '\n');
}

static void put_quality(struct pt_str *line, const struct pt_quality *q, const char *label)
{
    const size_t start = line->n;
    pt_str_printf(line, "lost %s", label);
    const size_t empty = line->n;
    put_number(line, "overwritten", q->overwritten);
    for (int d = 0; d < PT_DROP__COUNT; d++)
        put_number(line, drop_names[d], q->drops[d]);
    if (line->n == empty)
        line->n = start;
    else
        pt_str_char(line, '\n');
}

static void put_header(struct pt_str *line, const struct pt_process *p, const struct pt_labels *labels)
{
    const char *label = pt_label_of_process(labels, p);
    put_process(line, p, label);
    for (pt_u32 i = 0; i < p->n_threads; i++)
        put_thread(line, &p->threads[i], pt_label_of_thread(labels, &p->threads[i]));
    for (pt_u32 i = 0; i < p->n_modules; i++)
        put_module(line, &p->modules[i], label);
    for (pt_u32 i = 0; i < p->n_untraced; i++) {
        pt_str_printf(line, "untraced %s at=%s", label, pt_fmt_seconds(p->untraced[i].at_ns).text);
        put_text(line, "path", p->untraced[i].path);
        put_text(line, "reason", p->untraced[i].reason);
        pt_str_char(line, '\n');
    }
    put_quality(line, &p->quality, label);
}

struct minute_lines {
    struct pt_str *line;
    const struct pt_process *process;
    const struct pt_labels *labels;
};

static void put_minute(void *context, const struct pt_interval *interval)
{
    const struct minute_lines *to = context;
    const struct pt_kind_totals *t = &interval->totals;
    pt_u32 thread = 0; /* the last one of the slot */
    for (pt_u32 i = 0; i < to->process->n_threads; i++)
        thread = to->process->threads[i].slot == interval->slot ? i : thread;
    if (!interval->is_row || !to->process->n_threads)
        return;
    pt_str_printf(to->line, "minute %s %s from=%s", pt_label_of_thread(to->labels, &to->process->threads[thread]),
                  interval->kind < PT_KIND__COUNT ? pt_event_descs[interval->kind].name : "heap",
                  pt_fmt_seconds(interval->from_ns).text);
    pt_str_printf(to->line, " for=%s calls=%" PRIu64 " errors=%" PRIu64 " bytes=%" PRIu64 " ns=%" PRIu64 "\n",
                  pt_fmt_seconds(interval->until_ns - interval->from_ns).text, t->calls, t->errors, t->bytes, t->ns);
}

static void put_totals(struct pt_str *line, const struct pt_process *p, const struct pt_labels *labels)
{
    for (pt_u32 i = 0; i < p->n_threads; i++)
        for (int r = 0; r < PT_KIND__COUNT; r++) {
            const struct pt_kind_totals *totals = pt_totals_of(p->threads[i].totals, (pt_u32)r);
            if (totals->calls || totals->errors || totals->bytes || totals->ns)
                pt_str_printf(line,
                              "totals %s %s calls=%" PRIu64 " errors=%" PRIu64 " bytes=%" PRIu64 " ns=%" PRIu64 "\n",
                              pt_label_of_thread(labels, &p->threads[i]), pt_event_descs[r].name, totals->calls,
                              totals->errors, totals->bytes, totals->ns);
        }
    const struct pt_process_data *data = pt_process_data_of(p);
    for (pt_u32 i = 0; i < data->n_slot_heaps; i++) {
        const struct pt_heap_totals *heap = &data->slot_heaps[i].totals;
        pt_str_printf(line, "heap %s slot=%" PRIu32 " frees=%" PRIu64 " failures=%" PRIu64 " classes=[",
                      pt_label_of_process(labels, p), data->slot_heaps[i].slot, heap->frees, heap->failures);
        const char *space = "";
        for (pt_u32 c = 0; c < PT_HEAP_CLASSES; c++)
            if (heap->classes[c].count || heap->classes[c].bytes) {
                pt_str_printf(line, "%s%" PRIu32 ":%" PRIu64 ":%" PRIu64, space, c, heap->classes[c].count,
                              heap->classes[c].bytes);
                space = " ";
            }
        pt_str_add(line, "]\n");
    }
    struct minute_lines to = {line, p, labels};
    if (minutes_of(p))
        pt_process_intervals(p, put_minute, &to);
}

static const char *name_string(void *context, pt_u32 id)
{
    return pt_process_string(context, id);
}

static pt_u32 name_stack(void *context, pt_u32 id, const pt_u64 **ret_frames)
{
    return pt_process_stack(context, id, ret_frames);
}

static int put_events(struct pt_session *session, const struct pt_labels *labels, FILE *out, struct pt_error *err)
{
    PT_AUTO(pt_feed_closep)
    struct pt_feed *feed = pt_session_feed(session, &(struct pt_filter){.as_stored = true}, err);
    PT_AUTO(pt_str_fini) struct pt_str line = {0};
    struct pt_event event;
    int more;
    if (!feed)
        return -1;
    while ((more = feed->next(feed, &event, err)) > 0) {
        const struct pt_text_names names = {event.process, name_string, name_stack};
        pt_str_clear(&line);
        pt_text_event(&line, &event, pt_label_of_thread(labels, event.thread), &names);
        pt_str_char(&line, '\n');
        fwrite(line.text, 1, line.n, out);
        if (ferror(out))
            return pt_fail(err, "cannot write: %s", strerror(errno));
    }
    return more;
}

int pt_session_write_text(struct pt_session *session, FILE *out, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    struct pt_labels *labels = pt_labels_new(session);
    pt_str_printf(&text, "proftrace-text 1 start_realtime_ns=%" PRIu64 "\n", session->start_realtime_ns);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        put_header(&text, session->processes[i], labels);
    fwrite(pt_str_text(&text), 1, text.n, out);
    const int result = put_events(session, labels, out, err);
    pt_str_clear(&text);
    for (pt_u32 i = 0; i < session->n_processes; i++)
        put_totals(&text, session->processes[i], labels);
    fwrite(pt_str_text(&text), 1, text.n, out);
    pt_labels_free(labels);
    if (result < 0)
        return -1;
    return fflush(out) || ferror(out) ? pt_fail(err, "cannot write: %s", strerror(errno)) : 0;
}
