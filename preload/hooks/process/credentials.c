/* SPDX-License-Identifier: MIT
 *
 * credentials.c - hooks of the calls after which the trace file can no longer be opened.
 *
 * Entered by any thread. A process that gives up its user or its root directory can no longer open its own private
 * file: before that it makes room for which none is needed. Never keeps a descriptor open for later.
 */
#include <unistd.h>

#include "core/file/prepare.h"
#include "hooks/hook.h"

#define LEAVING(name, parameters, arguments)                                                                           \
    CUSTOM(int, name, parameters, arguments)                                                                           \
    int name parameters                                                                                                \
    {                                                                                                                  \
        if (pt_switches.user)                                                                                          \
            pt_ring_prepare();                                                                                         \
        return real_##name arguments;                                                                                  \
    }

LEAVING(setuid, (uid_t user), (user))
LEAVING(seteuid, (uid_t user), (user))
LEAVING(setreuid, (uid_t real, uid_t effective), (real, effective))
LEAVING(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
LEAVING(chroot, (const char *path), (path))
