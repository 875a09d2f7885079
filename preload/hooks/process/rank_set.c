/* SPDX-License-Identifier: MIT
 *
 * rank_set.c - hooks of the calls by which a process sets its rank in its environment, or removes it.
 *
 * Entered by any thread. Reads the texts after libc has taken them, and only those that can be a rank. Never: keeps a
 * pointer; reads the environment to see what setenv changed, because another thread's setenv may have moved it since.
 */
#include <stdlib.h>
#include <string.h>

#include "core/process.h"
#include "core/rank.h"
#include "hooks/hook.h"

enum { LONGEST = 64 }; /* OMPI_COMM_WORLD_LOCAL_RANK= and a number */

CUSTOM(int, setenv, (const char *name, const char *value, int overwrite), (name, value, overwrite))
int setenv(const char *name, const char *value, int overwrite)
{
    const int ret = real_setenv(name, value, overwrite);
    char entry[LONGEST];
    const size_t name_bytes = ret == 0 ? strnlen(name, LONGEST) : LONGEST;
    const size_t value_bytes = ret == 0 ? strnlen(value, LONGEST) : LONGEST;
    if (name_bytes + value_bytes + 2 > LONGEST)
        return ret;
    __builtin_memcpy(entry, name, name_bytes);
    entry[name_bytes] = '=';
    __builtin_memcpy(entry + name_bytes + 1, value, value_bytes);
    entry[name_bytes + 1 + value_bytes] = 0;
    pt_process_note_variable(entry, overwrite);
    return ret;
}

CUSTOM(int, putenv, (char *entry), (entry))
int putenv(char *entry)
{
    const int ret = real_putenv(entry);
    if (ret == 0)
        pt_process_note_variable(entry, 1);
    return ret;
}

CUSTOM(int, unsetenv, (const char *name), (name))
int unsetenv(const char *name)
{
    const int ret = real_unsetenv(name);
    if (ret == 0)
        pt_process_note_variable(name, 1);
    return ret;
}

CUSTOM(int, clearenv, (void), ())
int clearenv(void)
{
    const int ret = real_clearenv();
    if (ret == 0)
        pt_rank_note_none();
    return ret;
}
