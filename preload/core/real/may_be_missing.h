/* SPDX-License-Identifier: MIT
 *
 * may_be_missing.h - the functions of libc that a process may not have: before glibc 2.34 they are in libdl and
 * libpthread, which a program without plugins or threads does not load; musl lacks some.
 *
 * Our library needs none but libc itself: each other one costs every process 60 us at its start, and libpthread alone
 * changes how an older libc works. What these functions do, nobody has asked for in a process that has none of them: a
 * library that is open was opened by one who has dlopen.
 */
#ifndef PT_CORE_REAL_MAY_BE_MISSING_H
#define PT_CORE_REAL_MAY_BE_MISSING_H

#include <dlfcn.h>
#include <pthread.h>

#pragma weak dladdr
#pragma weak dladdr1
#pragma weak dlclose
#pragma weak dlerror
#pragma weak dlinfo
#pragma weak dlopen
#pragma weak dlsym
#pragma weak dlvsym
#pragma weak pthread_self /* libc has it, too, but the linker may take libpthread's */
#pragma weak pthread_testcancel

#endif
