/* SPDX-License-Identifier: MIT
 *
 * symbols.h - addresses of a traced process as functions, files and lines.
 *
 *     struct pt_symbols *symbols = pt_symbols_of_session(session);
 *     const pt_u64 *stack;
 *     for (pt_u32 i = 0, n = pt_process_stack(process, id, &stack); i < n; i++) {
 *         pt_u32 n_frames;
 *         const struct pt_frame *frames = pt_symbolize(symbols, process, stack[i], at_ns, &n_frames);
 *         // frames[0] is the innermost function inlined there, frames[n_frames - 1] the real one
 *     }
 *     pt_symbols_close(symbols);
 *
 * For one thread at a time, and for one session. An address that was looked up before costs a hash lookup; files are
 * opened when an address of theirs is not known, and stay mapped until pt_symbols_close.
 */
#ifndef PT_SYMBOLS_SYMBOLS_H
#define PT_SYMBOLS_SYMBOLS_H

#include "model/session.h"

struct pt_symbols;

struct pt_frame {
    const char *function; /* demangled; NULL = unknown */
    const char *file;     /* source file; NULL = unknown */
    pt_u32 line;          /* 0 = unknown */
    const char *module;   /* path of the executable or library; NULL = unknown */
    const char *near;     /* of code without a name in a stripped file: the function that it exports next, demangled. A
                             hint,     no name: often, not always, it is of the same source file. NULL = none is near */
};

/* What was looked up before is read from the run directory `folder`, and what is new is kept there, as symbol_cache.h
 * has it; NULL = nothing is. */
struct pt_symbols *pt_symbols_open(const char *folder);
/* The same of the session's run: a file without a build-id that was changed after it is not used. */
struct pt_symbols *pt_symbols_of_session(const struct pt_session *session);
void pt_symbols_close(struct pt_symbols *symbols);
static inline void pt_symbols_closep(struct pt_symbols **symbols)
{
    if (*symbols)
        pt_symbols_close(*symbols);
}

/* The frames at a return address of the process (recorded stacks have only such, also as innermost frame: the call
 * is before it). Always at least one frame; it and its texts live until pt_symbols_close. */
const struct pt_frame *pt_symbolize(struct pt_symbols *symbols, const struct pt_process *process, pt_u64 address,
                                    pt_i64 at_ns, pt_u32 *ret_n);

/* The frames at an address of a file itself: of an instruction, not of where a call returns to. */
const struct pt_frame *pt_symbolize_file(struct pt_symbols *symbols, const char *path, const pt_u8 *build_id,
                                         pt_u32 build_id_bytes, pt_u64 address, pt_u32 *ret_n);

#endif
