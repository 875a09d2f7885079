/* SPDX-License-Identifier: MIT
 *
 * debuginfod.c - Owns: the client of libdebuginfod, for the life of the process. One thread. Never: touches the network
 * unless DEBUGINFOD_URLS is set; what a server sends is checked like any other file. */
#include "debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *begin_function(void);
typedef int find_function(void *client, const unsigned char *build_id, int build_id_bytes, char **path);

bool pt_debuginfod_open(struct pt_elf_image *image, const pt_u8 *build_id, pt_u32 build_id_bytes)
{
    static begin_function *begin;
    static find_function *find;
    static void *client;
    static bool searched;
    const char *urls = getenv("DEBUGINFOD_URLS");
    if (!urls || !*urls || !build_id_bytes || build_id_bytes > 64)
        return false;
    if (!searched) {
        searched = true;
        void *library = dlopen("libdebuginfod.so.1", RTLD_LAZY | RTLD_LOCAL);
        if (library) {
            *(void **)&begin = dlsym(library, "debuginfod_begin");
            *(void **)&find = dlsym(library, "debuginfod_find_debuginfo");
        }
        client = begin && find ? begin() : NULL;
    }
    char *path = NULL;
    if (!client)
        return false;
    const int fd = find(client, build_id, (int)build_id_bytes, &path);
    if (fd < 0)
        return false;
    close(fd);
    const bool is_open = path && pt_elf_image_open(image, path, build_id, build_id_bytes);
    free(path);
    return is_open;
}
