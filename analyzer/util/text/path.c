/* SPDX-License-Identifier: MIT
 *
 * Owns: nothing. Threads: any. Never: asks the file system.
 */
#include "path.h"

#include <string.h>

#include "util/auto.h"

void pt_path_normalise(struct pt_str *ret_path, const char *path)
{
    while (*path) {
        path += strspn(path, "/");
        const size_t n = strcspn(path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            while (ret_path->n && ret_path->text[--ret_path->n] != '/')
                ;
        } else if (n && !(n == 1 && path[0] == '.')) {
            pt_str_char(ret_path, '/');
            pt_str_bytes(ret_path, path, n);
        }
        path += n;
    }
    if (!ret_path->n)
        pt_str_char(ret_path, '/');
    ret_path->text[ret_path->n] = 0;
}

void pt_path_join(struct pt_str *ret_path, const char *directory, const char *path)
{
    PT_AUTO(pt_str_fini) struct pt_str joined = {0};
    if (path[0] != '/')
        pt_str_printf(&joined, "%s/", directory);
    pt_str_add(&joined, path);
    pt_path_normalise(ret_path, pt_str_text(&joined));
}

const char *pt_base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash && slash[1] ? slash + 1 : path;
}

const char *pt_telling_name(const char *path)
{
    const char *name = pt_base_name(path);
    if (!name || name < path + 2 || name[-1] != '/' ||
        (strcmp(name, "__init__.py") != 0 && strcmp(name, "__main__.py") != 0))
        return name;
    for (name--; name > path && name[-1] != '/';)
        name--;
    return name;
}

bool pt_ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), n_end = strlen(end);
    return n >= n_end && !strcmp(text + n - n_end, end);
}
