/* SPDX-License-Identifier: MIT
 *
 * Owns: report.json. Threads: any. Never: writes a number that JSON has not (NaN), or a null without saying why where
 * the reason is known: `key` is followed by `key_reason`.
 */
#include <math.h>
#include <stdlib.h>

#include "util/json/json_stream.h"
#include "render.h"

/* Digits that a measurement has; more would only make reports differ. */
static double rounded(double number, enum pt_show show)
{
    const double steps = show == PT_SHOW_SECONDS ? 1e9 : show == PT_SHOW_PERCENT || show == PT_SHOW_MIB ? 1e3 : 1e6;
    return fabs(number) < 1e9 ? round(number * steps) / steps : number;
}

static void write_value(struct pt_json *json, const struct pt_node *node, const char *key)
{
    switch (node->value.type) {
    case PT_VALUE_UNKNOWN:
        pt_json_null(json, key);
        if (key && node->value.reason) {
            char reason_key[128];
            snprintf(reason_key, sizeof reason_key, "%s_reason", key);
            pt_json_text(json, reason_key, node->value.reason);
        }
        break;
    case PT_VALUE_INTEGER:
        pt_json_i64(json, key, node->value.integer);
        break;
    case PT_VALUE_REAL:
        pt_json_f64(json, key, rounded(node->value.real, node->show));
        break;
    case PT_VALUE_TEXT:
        pt_json_text(json, key, node->value.text);
        break;
    case PT_VALUE_BOOL:
        pt_json_bool(json, key, node->value.integer != 0);
        break;
    }
}

static void write_node(struct pt_json *json, const struct pt_node *node, bool is_item)
{
    if (node->people_only || (!node->key && !is_item))
        return;
    const char *key = is_item ? NULL : node->key;
    if (node->kind == PT_NODE_VALUE) {
        write_value(json, node, key);
        return;
    }
    if (node->kind == PT_NODE_LIST)
        pt_json_array(json, key);
    else
        pt_json_object(json, key);
    for (const struct pt_node *child = node->first; child; child = child->next)
        write_node(json, child, node->kind == PT_NODE_LIST);
    pt_json_end(json);
}

static int append(void *context, const char *bytes, size_t n)
{
    pt_str_bytes(context, bytes, n);
    return 0;
}

void pt_render_json(const struct pt_doc *doc, const struct pt_render_options *options, struct pt_str *out)
{
    (void)options;
    struct pt_json *json = pt_malloc(sizeof *json);
    pt_json_init(json, append, out, true);
    write_node(json, doc->root, true);
    pt_json_close(json);
    free(json);
    pt_str_char(out, '\n');
}
