/* SPDX-License-Identifier: MIT
 *
 * real.h - the functions behind ours, all resolved in one pass by RTLD_NEXT.
 *
 * real_<name> points at first to a stub that resolves everything and then makes the call, so that a call before our
 * constructor (another library's constructor, ld.so itself) works and the hot path has no "is it resolved?" branch.
 * Each PT_REAL puts a row into the linker section pt_reals; there is no second list.
 */
#ifndef PT_CORE_REAL_H
#define PT_CORE_REAL_H

#include "compiler.h"

struct pt_real {
    const char *name;
    const char *version; /* 0 = the one that a program built today gets */
    void **slot;
};

/* Resolve every row once; safe to call again and from several threads. */
void pt_reals_resolve(void);

#define PT_REAL(type, name, parameters, arguments) PT_REAL_VERSION(type, name, #name, 0, parameters, arguments)

/* A function of which libc has several that differ, or that only old programs can link to: its name and version as in
 * objdump -T libc.so.6; `name` is what we call it. */
#define PT_REAL_VERSION(type, name, symbol, version, parameters, arguments)                                            \
    static type boot_##name parameters;                                                                                \
    static type(*real_##name) parameters = boot_##name;                                                                \
    static const struct pt_real pt_real_##name __attribute__((used, section("pt_reals"), aligned(sizeof(void *)))) = { \
        symbol, version, (void **)(void *)&real_##name};                                                               \
    PT_COLD static type boot_##name parameters                                                                         \
    {                                                                                                                  \
        pt_reals_resolve();                                                                                            \
        return real_##name arguments;                                                                                  \
    }

#endif
