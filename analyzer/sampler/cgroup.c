/* SPDX-License-Identifier: MIT
 *
 * cgroup.c - Owns: how /proc/self/cgroup and the paths of control groups read. Threads: any. Never: trusts a line to be
 * well-formed, nor a folder to be there.
 */
#include "cgroup.h"

#include <stdio.h>
#include <string.h>

#include "util/small_file.h"

void pt_cgroups_read(struct pt_cgroups *groups, const char *proc)
{
    pt_small_file_peek(groups->text, sizeof groups->text, "%s/self/cgroup", proc);
    groups->rest = groups->text;
}

static bool has(const char *controllers, const char *controller)
{
    const size_t length = strlen(controller);
    for (const char *at = controllers; *at; at += strcspn(at, ","), at += *at == ',')
        if (!strncmp(at, controller, length) && (at[length] == ',' || !at[length]))
            return true;
    return false;
}

/* Lines are "4:cpu,cpuacct:/path", and "0::/path" for version 2, which may be mounted together with version 1. */
bool pt_cgroups_next(struct pt_cgroups *groups, const char *controller, struct pt_cgroup *ret_group)
{
    for (char *line; (line = strsep(&groups->rest, "\n"));) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = 0;
        controllers++;
        if (*controllers && !has(controllers, controller))
            continue;
        if (!strcmp(path, "/"))
            *path = 0;
        *ret_group = (struct pt_cgroup){!*controllers, path};
        return true;
    }
    return false;
}

bool pt_cgroup_folder(char folder[PATH_MAX], const char *sys, const char *mount, const char *path)
{
    const int n = snprintf(folder, PATH_MAX, "%s/fs/cgroup%s%s", sys, mount, path);
    return n > 0 && n < PATH_MAX;
}

bool pt_cgroup_go_up(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        *slash = 0;
    return slash;
}
