/* SPDX-License-Identifier: MIT
 *
 * mem.c - Owns: what happens when memory is exhausted. Threads: any. Never: returns NULL.
 */
#include "mem.h"

#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *block)
{
    if (!block) {
        fputs("proftrace: out of memory\n", stderr);
        exit(PT_EXIT_OWN_FAILURE);
    }
    return block;
}

void *pt_malloc(size_t bytes)
{
    return checked(malloc(bytes ? bytes : 1));
}

void *pt_calloc(size_t count, size_t bytes)
{
    return checked(calloc(count ? count : 1, bytes ? bytes : 1));
}

void *pt_realloc(void *block, size_t bytes)
{
    return checked(realloc(block, bytes ? bytes : 1));
}

char *pt_strdup(const char *text)
{
    return checked(strdup(text));
}

char *pt_asprintf(const char *format, ...)
{
    char *text = NULL;
    va_list arguments;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    return checked(text);
}
