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
