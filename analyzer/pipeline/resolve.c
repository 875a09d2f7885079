/* SPDX-License-Identifier: MIT
 *
 * resolve.c - Owns: nothing. Threads: any. Never: fails because a path does not exist, which realpath(3) does.
 */
#include "resolve.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/auto.h"
#include "util/mem.h"

enum { MAX_LINKS = 40 }; /* as the kernel */

static void cut_last(struct pt_str *path)
{
    while (path->n && path->text[path->n - 1] != '/')
        path->n--;
    if (path->n)
        path->n--;
    if (path->text)
        path->text[path->n] = 0;
}

/* Where the link at `path` leads; false when it is none. */
static bool read_link(const char *path, char target[PATH_MAX])
{
    const ssize_t length = readlink(path, target, PATH_MAX - 1);
    if (length <= 0)
        return false;
    target[length] = 0;
    return true;
}

/* Append one component to `out`. A link goes in front of what is left to do: *rest is replaced. */
static int enter(struct pt_str *out, const char *name, size_t length, char **rest, const char *behind, int *links)
{
    char target[PATH_MAX];
    if (length == 0 || (length == 1 && *name == '.'))
        return 0;
    if (length == 2 && name[0] == '.' && name[1] == '.') {
        cut_last(out);
        return 0;
    }
    pt_str_char(out, '/');
    pt_str_bytes(out, name, length);
    if (!read_link(out->text, target))
        return 0;
    if (++*links > MAX_LINKS)
        return -1;
    if (*target == '/')
        pt_str_clear(out);
    else
        cut_last(out);
    char *joined = pt_asprintf("%s/%s", target, behind);
    free(*rest);
    *rest = joined;
    return 1;
}

int pt_path_resolve(const char *path, struct pt_str *out, struct pt_error *err)
{
    char cwd[PATH_MAX];
    int links = 0;
    PT_AUTO(pt_freep) char *rest = pt_strdup(path);
    pt_str_clear(out);
    if (*path != '/') {
        if (!getcwd(cwd, sizeof cwd))
            return pt_fail_code(err, 2, "the current directory cannot be named: %s; change to another",
                                strerror(errno));
        pt_str_add(out, cwd[1] ? cwd : "");
    }
    for (const char *at = rest; *at;) {
        const size_t length = strcspn(at, "/");
        const char *behind = at[length] ? at + length + 1 : at + length;
        const int entered = enter(out, at, length, &rest, behind, &links);
        if (entered < 0)
            return pt_fail_code(err, 2, "symbolic links lead in a circle; repair or remove them");
        at = entered ? rest : behind;
    }
    if (!out->n)
        pt_str_add(out, "/");
    return 0;
}
