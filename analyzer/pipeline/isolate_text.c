/* SPDX-License-Identifier: MIT
 *
 * isolate_text.c - Owns: the text of the temporary configuration: the user's, with a few values replaced in place.
 * Threads: main only. Never: rewrites a number or a name that does not change, because a round trip through doubles
 * turns 1700000000000000 into 1.7e+15.
 */
#include "isolate_text.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "util/auto.h"
#include "util/json/json_walk.h"
#include "util/text/utf8.h"
#include "resolve.h"

/* Where we are in the user's text, and what was made of it so far. */
struct edit {
    const struct pt_config *config;
    const char *text;
    size_t copied; /* up to here it is in `out` */
    struct pt_str *out;
    struct pt_error *err;
};

/* A member that an object must have: its value, and where that is an object, the function that edits one that is there.
 */
struct wanted {
    const char *name, *value;
    int (*edit)(struct edit *edit, size_t at);
    bool seen;
};

static void copy_to(struct edit *edit, size_t end)
{
    pt_str_bytes(edit->out, edit->text + edit->copied, end - edit->copied);
    edit->copied = end;
}

static void replace(struct edit *edit, struct pt_json_span span, const char *value)
{
    copy_to(edit, span.begin);
    pt_str_add(edit->out, value);
    edit->copied = span.end;
}

/* The string in a span, unescaped; NULL when it is none. For free(). */
static char *string_at(const char *text, struct pt_json_span span)
{
    cJSON *item = text[span.begin] == '"' ? cJSON_ParseWithLength(text + span.begin, span.end - span.begin) : NULL;
    char *string = cJSON_IsString(item) ? pt_strdup(item->valuestring) : NULL;
    cJSON_Delete(item);
    return string;
}

static char *quoted(const char *text)
{
    cJSON *item = cJSON_CreateStringReference(text);
    char *printed = cJSON_PrintUnformatted(item);
    cJSON_Delete(item);
    return printed;
}

/* "s3://bucket/x" is no path: resolved it would lead nowhere. */
static bool is_url(const char *text)
{
    const size_t scheme = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+.-");
    return scheme > 1 && !strncmp(text + scheme, "://", 3);
}

static int edit_path(struct edit *edit, const struct pt_json_member *member)
{
    PT_AUTO(pt_str_fini) struct pt_str resolved = {0};
    PT_AUTO(pt_freep) char *path = string_at(edit->text, member->value);
    if (!path || is_url(path))
        return 0;
    PT_AUTO(pt_freep) char *name = string_at(edit->text, member->key);
    if (pt_path_resolve(path, &resolved, edit->err) < 0)
        return pt_error_context(edit->err, "paths.%.80s", name ? name : "");
    if (!pt_utf8_valid(resolved.text))
        return pt_fail_code(edit->err, 2,
                            "paths.%.80s: the path it leads to is not UTF-8, so JSON cannot hold it; rename %s",
                            name ? name : "", resolved.text);
    PT_AUTO(pt_freep) char *value = quoted(resolved.text);
    replace(edit, member->value, value);
    return 0;
}

static int edit_paths(struct edit *edit, size_t at)
{
    struct pt_json_member member;
    while (pt_json_text_next(edit->text, &at, &member))
        if (edit_path(edit, &member) < 0)
            return -1;
    return 0;
}

static int meet(struct edit *edit, const struct pt_json_member *member, struct wanted *wanted)
{
    PT_AUTO(pt_freep) char *name = string_at(edit->text, member->key);
    for (; wanted->name; wanted++) {
        if (!name || strcmp(name, wanted->name) != 0)
            continue;
        wanted->seen = true;
        if (wanted->edit && edit->text[member->value.begin] == '{') /* else it is null, as good as missing */
            return wanted->edit(edit, member->value.begin);
        replace(edit, member->value, wanted->value);
    }
    return 0;
}

/* Add members that the object does not have after its last one, with the same space as before its first. */
static void append_missing(struct edit *edit, size_t open, size_t first, size_t last_end, const struct wanted *wanted)
{
    bool has_members = first != 0;
    copy_to(edit, has_members ? last_end : open + 1);
    for (; wanted->name; wanted++) {
        if (wanted->seen)
            continue;
        if (has_members)
            pt_str_char(edit->out, ',');
        if (first)
            pt_str_bytes(edit->out, edit->text + open + 1, first - open - 1);
        pt_str_printf(edit->out, "\"%s\": %s", wanted->name, wanted->value);
        has_members = true;
    }
}

static int edit_object(struct edit *edit, size_t at, struct wanted *wanted)
{
    const size_t open = at;
    size_t first = 0, last_end = 0;
    struct pt_json_member member;
    while (pt_json_text_next(edit->text, &at, &member)) {
        if (!first)
            first = member.key.begin;
        last_end = member.value.end;
        if (meet(edit, &member, wanted) < 0)
            return -1;
    }
    append_missing(edit, open, first, last_end, wanted);
    return 0;
}

static int edit_run(struct edit *edit, size_t at)
{
    PT_AUTO(pt_freep) char *dataset = quoted(edit->config->dataset);
    struct wanted wanted[] = {{.name = "dataset", .value = dataset}, {0}};
    return edit_object(edit, at, wanted);
}

static int edit_train(struct edit *edit, size_t at)
{
    PT_AUTO(pt_freep) char *epochs = pt_asprintf("%llu", (unsigned long long)edit->config->train_epochs);
    struct wanted wanted[] = {{.name = "epochs", .value = epochs}, {.name = "wandb_enabled", .value = "false"}, {0}};
    return edit_object(edit, at, wanted);
}

int pt_isolate_text(const struct pt_config *config, struct pt_str *out, struct pt_error *err)
{
    const char *text = pt_str_text(&config->text);
    struct edit edit = {config, text, 0, out, err};
    PT_AUTO(pt_freep) char *dataset = quoted(config->dataset);
    PT_AUTO(pt_freep) char *run = pt_asprintf("{\"dataset\": %s}", dataset);
    PT_AUTO(pt_freep)
    char *train = pt_asprintf("{\"epochs\": %llu, \"wandb_enabled\": false}", (unsigned long long)config->train_epochs);
    struct wanted wanted[] = {
        {.name = "paths", .value = "{}", .edit = edit_paths},
        {.name = "run", .value = run, .edit = edit_run},
        {.name = "train", .value = train, .edit = edit_train},
        {0},
    };
    if (edit_object(&edit, pt_json_text_value(text, 0).begin, wanted) < 0)
        return -1;
    copy_to(&edit, config->text.n);
    return 0;
}
