/* SPDX-License-Identifier: MIT
 *
 * real.h - the functions behind ours.
 *
 * real_<name> points at first to a stub that finds the function and then makes the call, so that a call before our
 * constructor (another library's constructor, ld.so itself) works and the hot path has no "is it resolved?" branch. A
 * process finds only what it calls: next.h says why that is safe at any time. Each PT_REAL puts a row into the linker
 * section pt_reals; there is no second list.
 */
#ifndef PT_CORE_REAL_REAL_H
#define PT_CORE_REAL_REAL_H

#include "core/compiler.h"

/* Each member is the distance from itself: pointers would have to be relocated when each process starts, which costs a
 * copy of each page. */
struct pt_real {
    pt_i32 name;
    pt_i32 version; /* "" = the one that a program built today gets */
    pt_i32 slot;
};

/* To be called while the process starts. Where functions cannot be found by reading, dlsym finds all of them here. */
void pt_reals_prepare(void);

/* Set the slot of one row. */
void pt_real_resolve(const struct pt_real *real) PT_ALIGNS_STACK;

#define PT_REAL(type, name, parameters, arguments) PT_REAL_VERSION(type, name, #name, "", parameters, arguments)

/* A function of which libc has several that differ, or that only old programs can link to: its name and version as in
 * objdump -T libc.so.6; `name` is what we call it. */
#define PT_REAL_VERSION(type, name, symbol, version, parameters, arguments)                                            \
    static type boot_##name parameters;                                                                                \
    __attribute__((used)) static type(*real_##name) parameters = boot_##name;                                          \
    extern const struct pt_real pt_real_##name __attribute__((visibility("hidden")));                                  \
    __asm__(".pushsection pt_reals, \"a\", @progbits\n.balign 4\n"                                                     \
            "pt_real_" #name ": .long 771f - ., 772f - ., real_" #name " - .\n.popsection\n"                           \
            ".pushsection .rodata.pt_reals, \"a\", @progbits\n"                                                        \
            "771: .asciz \"" symbol "\"\n772: .asciz \"" version "\"\n.popsection");                                   \
    PT_COLD static type boot_##name parameters                                                                         \
    {                                                                                                                  \
        pt_real_resolve(&pt_real_##name);                                                                              \
        return real_##name arguments;                                                                                  \
    }

/* For a function that is compared, or called where no stub may stand between: before that call. */
#define PT_RESOLVE(name) pt_real_resolve(&pt_real_##name)
/* What was not there is looked for again when it is called: before glibc 2.34 libpthread may come later. */
#define PT_RESOLVE_LATER(name) (real_##name = pt_real_is_missing((const void *)real_##name) ? boot_##name : real_##name)
int pt_real_is_missing(const void *function);

#endif
