/* SPDX-License-Identifier: MIT
 *
 * Owns: the folders of such sources, as debug information has them. Threads: any. Never: looks at the files.
 */
#include "toolchain.h"

#include <stddef.h>
#include <string.h>

bool pt_is_of_toolchain(const char *source)
{
    static const char *const folders[] = {"/usr/include/", "/include/c++/", "/bits/", "/nptl/", "/sysdeps/", "/rustc/"};
    for (size_t i = 0; source && i < sizeof folders / sizeof *folders; i++)
        if (strstr(source, folders[i]))
            return true;
    return false;
}
