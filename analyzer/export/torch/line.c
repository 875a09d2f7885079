/* SPDX-License-Identifier: MIT
 *
 * torch/line.c - lines of a PyTorch-profiler trace. Owns nothing. One thread. Never: writes what is not JSON. */
#include "torch.h"

#include "export/out/put.h"

char *pt_torch_begin(struct pt_torch_file *file, char phase, const char *category, const char *name, pt_i64 pid,
                     pt_i64 tid, pt_i64 at_ns)
{
    char *at = pt_sink_room(file->sink);
    at = pt_put(at, file->has_lines ? ",\n{\"ph\":\"" : "\n{\"ph\":\"");
    file->has_lines = true;
    *at++ = phase;
    if (category)
        at = pt_put(pt_put(at, "\",\"cat\":\""), category);
    at = pt_put_string(pt_put(at, "\",\"name\":"), name);
    at = pt_put_i64(pt_put(at, ",\"pid\":"), pid);
    at = pt_put_i64(pt_put(at, ",\"tid\":"), tid);
    return pt_put_us(pt_put(at, ",\"ts\":"), at_ns);
}

void pt_torch_end(struct pt_torch_file *file, char *at)
{
    *at++ = '}';
    pt_sink_wrote(file->sink, at);
}

char *pt_torch_span(char *at, pt_i64 duration_ns)
{
    return pt_put(pt_put_us(pt_put(at, ",\"dur\":"), duration_ns), ",\"args\":{");
}

char *pt_torch_arg(char *at, const char *key, pt_i64 value)
{
    if (at[-1] != '{')
        *at++ = ',';
    *at++ = '"';
    return pt_put_i64(pt_put(pt_put(at, key), "\":"), value);
}

void pt_torch_name(struct pt_torch_file *file, const char *what, const char *key, pt_i64 pid, pt_i64 tid,
                   const char *name, pt_i64 sort_index)
{
    char *at = pt_torch_begin(file, 'M', NULL, what, pid, tid, 0);
    at = pt_put(pt_put(pt_put(at, ",\"args\":{\""), key), "\":");
    at = name ? pt_put_string(at, name) : pt_put_i64(at, sort_index);
    *at++ = '}';
    pt_torch_end(file, at);
    file->summary->metadata++;
}

void pt_torch_flow(struct pt_torch_file *file, char phase, pt_u32 correlation, pt_i64 pid, pt_i64 tid, pt_i64 at_ns)
{
    char *at = pt_torch_begin(file, phase, "ac2g", "ac2g", pid, tid, at_ns);
    at = pt_put_u64(pt_put(at, ",\"id\":"), correlation);
    pt_torch_end(file, phase == 'f' ? pt_put(at, ",\"bp\":\"e\"") : at);
    file->summary->flows += phase == 'f';
}

bool pt_torch_clip(const struct pt_torch_file *file, const struct pt_event *event, pt_i64 *start_ns, pt_i64 *end_ns)
{
    *start_ns = event->start_ns;
    *end_ns = pt_event_end_ns(event);
    if (*end_ns < file->from_ns || *start_ns > file->until_ns || event->duration_ns < file->min_duration_ns)
        return false;
    *start_ns = *start_ns < file->from_ns ? file->from_ns : *start_ns;
    *end_ns = *end_ns > file->until_ns ? file->until_ns : *end_ns;
    return true;
}
