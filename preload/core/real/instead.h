/* SPDX-License-Identifier: MIT
 *
 * instead.h - what stands in the place of a function that this libc does not have.
 *
 * Our hooks are exported whatever libc is there: a program that looks for a function by dlsym finds ours where it would
 * have heard that there is none, and does not go the other way that it has for that (OpenJDK: fstatat64, before glibc
 * 2.33). Functions that are one system call are that call then, as in the libc that has them.
 */
#ifndef PT_CORE_REAL_INSTEAD_H
#define PT_CORE_REAL_INSTEAD_H

/* The function of that name; NULL = it is more than a system call. */
void *pt_instead_of(const char *name);

#endif
