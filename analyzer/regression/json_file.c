/* SPDX-License-Identifier: MIT
 *
 * Owns: the reading of whole documents. Threads: any. Never: believes a text that is no JSON.
 */
#include "json_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "util/auto.h"
#include "util/json/json_text.h"
#include "util/str.h"

enum { MOST_BYTES = 64 << 20 };

static int read_text(const char *path, struct pt_str *text, struct pt_error *err)
{
    PT_AUTO(pt_fclosep) FILE *file = fopen(path, "re");
    char bytes[65536];
    size_t n;
    if (!file)
        return pt_fail_code(err, errno == ENOENT ? 2 : 3, "%s cannot be read: %s", path, strerror(errno));
    while ((n = fread(bytes, 1, sizeof bytes, file)) > 0 && text->n < MOST_BYTES)
        pt_str_bytes(text, bytes, n);
    if (ferror(file) || text->n >= MOST_BYTES)
        return pt_fail_code(err, 3, "%s cannot be read: %s", path,
                            ferror(file) ? strerror(errno) : "it is larger than 64 MiB");
    return 0;
}

cJSON *pt_json_file_read(const char *path, struct pt_error *err)
{
    PT_AUTO(pt_str_fini) struct pt_str text = {0};
    if (read_text(path, &text, err) < 0)
        return NULL;
    if (pt_json_text_check(pt_str_text(&text), text.n, err) < 0) {
        err->exit_code = 3;
        pt_error_context(err, "%s", path);
        return NULL;
    }
    return cJSON_ParseWithLength(pt_str_text(&text), text.n);
}
