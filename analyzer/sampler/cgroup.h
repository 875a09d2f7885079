/* SPDX-License-Identifier: MIT
 *
 * cgroup.h - the control groups of this process (cgroup v1 and v2), and where they are mounted.
 */
#ifndef PT_SAMPLER_CGROUP_H
#define PT_SAMPLER_CGROUP_H

#include <limits.h>
#include <stdbool.h>

struct pt_cgroup {
    bool is_version_2;
    char *path; /* without the last slash: "" = the root */
};

struct pt_cgroups {
    char text[8192], *rest;
};

/* Those of /proc/self/cgroup; none when it is not there. */
void pt_cgroups_read(struct pt_cgroups *groups, const char *proc);
/* The next one with `controller`: in version 2 any, because its line names no controllers. false = no more. */
bool pt_cgroups_next(struct pt_cgroups *groups, const char *controller, struct pt_cgroup *ret_group);
/* Its folder below a mount: "/memory" for that of a controller of version 1, "" or "/unified" for version 2. In a
 * container the path may be the host's and not be there: then the mount's root is our group. false = too long. */
bool pt_cgroup_folder(char folder[PATH_MAX], const char *sys, const char *mount, const char *path);
/* Cuts the path down to the group around it. false = that was the root. */
bool pt_cgroup_go_up(char *path);

#endif
