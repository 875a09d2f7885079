/* SPDX-License-Identifier: MIT
 *
 * text_read.c - Owns: the way from a line of text to an event. Threads: any. Never: trusts the text: people edit it.
 */
#include "text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/vec.h"
#include "field_value.h"

/* The constant of a unit whose name is the n bytes at `name`; NULL when there is none. */
static const struct pt_constant *find_constant(enum pt_unit unit, const char *name, size_t n)
{
    const struct pt_constants constants = pt_unit_constants(unit);
    const struct pt_constant *constant = constants.items;
    for (pt_u32 i = 0; i < constants.n; i++, constant++)
        if (strlen(constant->name) == n && !memcmp(constant->name, name, n))
            return constant;
    return NULL;
}

static const char *read_flags(const char *at, const struct pt_field_desc *field, pt_u64 *ret_value)
{
    pt_u64 value = 0;
    for (;; at++) {
        const size_t n = strcspn(at, "| ");
        const struct pt_constant *constant = find_constant(field->unit, at, n);
        char *end = NULL;
        if (constant)
            value |= constant->value;
        else if (*at >= '0' && *at <= '9')
            value |= strtoull(at, &end, 0);
        else
            return NULL;
        at += n;
        if ((end && end != at) || *at != '|')
            break;
    }
    *ret_value = value;
    return at;
}

const char *pt_text_seconds(const char *at, pt_i64 *ret_ns)
{
    const bool negative = *at == '-';
    at += negative;
    if (*at < '0' || *at > '9')
        return NULL;
    pt_u64 ns = 0, scale = 0;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !scale); at++) {
        if (*at == '.') {
            scale = 1;
            continue;
        }
        if (scale > 1000000000 / 10 || ns > (1ull << 60) / 10)
            return NULL;
        ns = ns * 10 + (pt_u64)(*at - '0');
        scale *= 10;
    }
    scale = scale ? scale : 1;
    if (ns > (1ull << 62) / (1000000000 / scale))
        return NULL;
    ns *= 1000000000 / scale;
    *ret_ns = negative ? -(pt_i64)ns : (pt_i64)ns;
    return at;
}

/* A string, or `?`. */
static const char *read_string(const char *at, pt_u64 *ret_id, const struct pt_text_ids *ids)
{
    *ret_id = PT_TEXT_UNKNOWN_ID;
    if (*at == '?')
        return at + 1;
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    const char *end = pt_text_unquote(at, &text);
    if (end)
        *ret_id = ids->string(ids->context, pt_str_text(&text), text.n);
    return end;
}

/* An address, or what is running in Python. */
static const char *read_frame(const char *at, pt_u64 *ret_frame, const struct pt_text_ids *ids)
{
    char *end;
    if (*at != '"' && *at != '?') {
        *ret_frame = strtoull(at, &end, 0);
        return end == at ? NULL : end;
    }
    pt_u64 id = 0;
    at = read_string(at, &id, ids);
    *ret_frame = pt_python_frame((pt_u32)id);
    return at;
}

static const char *read_stack(const char *at, pt_u64 *ret_value, const struct pt_text_ids *ids)
{
    struct {
        PT_VEC(pt_u64);
    } frames = {0};
    at++;
    while (*at && *at != ']') {
        pt_u64 frame = 0;
        const char *end = read_frame(at, &frame, ids);
        if (!end)
            break;
        pt_vec_push(&frames, frame);
        at = end + strspn(end, " ");
    }
    *ret_value = ids->stack(ids->context, frames.items, (pt_u32)frames.n);
    free(frames.items);
    return *at == ']' ? at + 1 : NULL;
}

static const char *read_name(const char *at, const struct pt_field_desc *field, pt_u64 *ret_value,
                             const struct pt_text_ids *ids)
{
    if (field->unit_class == PT_CLASS_STACK && *at == '[')
        return read_stack(at, ret_value, ids);
    return field->unit_class == PT_CLASS_STRING || *at == '?' ? read_string(at, ret_value, ids) : NULL;
}

static const char *read_number(const char *at, const struct pt_field_desc *field, pt_u64 *ret_value)
{
    const size_t n = strcspn(at, " ");
    char word[64], *end;
    if (!n || n >= sizeof word)
        return NULL;
    memcpy(word, at, n);
    word[n] = 0;
    const struct pt_constant *constant =
        field->unit_class == PT_CLASS_CONSTANT ? find_constant(field->unit, word, n) : NULL;
    const struct pt_event_desc *event = field->unit_class == PT_CLASS_EVENT ? pt_event_desc_by_name(word) : NULL;
    if (constant || event) {
        *ret_value = constant ? constant->value : event->id;
        return at + n;
    }
    if (field->unit_class == PT_CLASS_REAL && strncmp(word, "0x", 2) != 0) {
        const double value = strtod(word, &end);
        memcpy(ret_value, &value, sizeof value);
    } else {
        *ret_value = word[0] == '-' ? (pt_u64)strtoll(word, &end, 0) : strtoull(word, &end, 0);
    }
    return *end || end == word ? NULL : at + n;
}

static const char *read_value(const char *at, const struct pt_field_desc *field, const struct pt_text_ids *ids,
                              pt_u64 *ret_value)
{
    if (field->unit_class == PT_CLASS_STRING || field->unit_class == PT_CLASS_STACK)
        return read_name(at, field, ret_value, ids);
    if (field->unit_class == PT_CLASS_FLAGS)
        return read_flags(at, field, ret_value);
    return read_number(at, field, ret_value);
}

static int read_field(const char **at, struct pt_event *event, const struct pt_text_ids *ids, struct pt_error *err)
{
    const size_t n = strcspn(*at, "= ");
    const struct pt_field_desc *field = NULL;
    for (pt_u32 i = 0; i < event->desc->n_fields; i++)
        if (strlen(event->desc->fields[i].name) == n && !memcmp(event->desc->fields[i].name, *at, n))
            field = &event->desc->fields[i];
    if (!field || (*at)[n] != '=')
        return pt_fail_code(err, 3, "%s has no field '%.*s'", event->desc->name, (int)(n < 60 ? n : 60), *at);
    pt_u64 value = 0;
    const char *end = read_value(*at + n + 1, field, ids, &value);
    if (!end || (*end && *end != ' '))
        return pt_fail_code(err, 3, "field '%s' of %s cannot be read", field->name, event->desc->name);
    pt_field_set(event, field, value);
    *at = end;
    return 0;
}

int pt_text_parse_event(const char *line, struct pt_event *ret_event, struct pt_str *label,
                        const struct pt_text_ids *ids, struct pt_error *err)
{
    struct pt_event event = {.tag = -1};
    const char *at = pt_text_seconds(line, &event.start_ns);
    if (!at || *at != ' ')
        return pt_fail_code(err, 3, "no time at the start of the line");
    at += strspn(at, " ");
    if (*at == '+') {
        at = pt_text_seconds(at + 1, &event.duration_ns);
        if (!at || *at != ' ')
            return pt_fail_code(err, 3, "the duration cannot be read");
        at += strspn(at, " ");
    }
    const size_t label_bytes = strcspn(at, " ");
    pt_str_clear(label);
    pt_str_bytes(label, at, label_bytes);
    at += label_bytes + strspn(at + label_bytes, " ");
    char name[64];
    const size_t n = strcspn(at, " ");
    snprintf(name, sizeof name, "%.*s", (int)(n < 63 ? n : 63), at);
    event.desc = pt_event_desc_by_name(name);
    if (!event.desc)
        return pt_fail_code(err, 3, "no event is called '%s'", name);
    for (pt_u32 i = 0; i < event.desc->n_fields; i++)
        if (event.desc->fields[i].place == PT_FIELD_TAG)
            event.tag = (pt_i32)pt_field_default(&event.desc->fields[i]);
    at += n;
    while (*(at += strspn(at, " ")))
        if (read_field(&at, &event, ids, err) < 0)
            return -1;
    *ret_event = event;
    return 0;
}
