/* SPDX-License-Identifier: MIT
 *
 * may_be_missing.h - the functions of libc that a process may not have: before glibc 2.34 they are in libdl and
 * libpthread, which a program without plugins or threads does not load; musl lacks some.
 *
 * Our library needs none but libc itself: each other one costs every process 60 us at its start, and libpthread alone
 * changes how an older libc works. What these functions do, nobody has asked for in a process that has none of them: a
 * library that is open was opened by one who has dlopen.
 *
 * They are asked for under the version that they had there, which newer libcs have, too, for the same code. A library
 * that asks for a version which its libc does not define is no pass-through: ld.so ends the program. What libc has had
 * for a shorter time is found by pt_next_find_of_libc.
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

#if __GLIBC_PREREQ(2, 34) /* before, the linker finds no other */
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5\n"
        ".symver dladdr1, dladdr1@GLIBC_2.3.3\n"
        ".symver dlclose, dlclose@GLIBC_2.2.5\n"
        ".symver dlerror, dlerror@GLIBC_2.2.5\n"
        ".symver dlinfo, dlinfo@GLIBC_2.3.3\n"
        ".symver dlopen, dlopen@GLIBC_2.2.5\n"
        ".symver dlsym, dlsym@GLIBC_2.2.5\n"
        ".symver dlvsym, dlvsym@GLIBC_2.2.5\n"
        ".symver pthread_testcancel, pthread_testcancel@GLIBC_2.2.5\n");
#endif

#endif
