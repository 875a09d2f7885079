/* SPDX-License-Identifier: MIT
 *
 * auto.h - cleanup at scope exit: `PT_AUTO(pt_freep) char *line = NULL;`
 */
#ifndef PT_UTIL_AUTO_H
#define PT_UTIL_AUTO_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PT_AUTO(function) __attribute__((cleanup(function)))

static inline void pt_freep(void *pointer_to_pointer)
{
    free(*(void **)pointer_to_pointer);
}

static inline void pt_closep(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void pt_fclosep(FILE **file)
{
    if (*file)
        fclose(*file);
}

#endif
