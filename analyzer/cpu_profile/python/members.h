/* SPDX-License-Identifier: MIT
 *
 * python/members.h - members of CPython's structures in bytes that were read, by the offsets of a layout.
 */
#ifndef PT_CPU_PROFILE_PYTHON_MEMBERS_H
#define PT_CPU_PROFILE_PYTHON_MEMBERS_H

#include <stdbool.h>
#include <string.h>

#include "proftrace/python_walk.h"

static inline bool pt_python_has_member(pt_u16 offset)
{
    return offset != PT_PYTHON_NO_MEMBER;
}

/* How many bytes have to be read: `end`, or more where a member of `n` bytes lies beyond it. */
static inline pt_u32 pt_python_bytes_with(pt_u32 end, pt_u16 offset, pt_u32 n)
{
    return pt_python_has_member(offset) && offset + n > end ? offset + n : end;
}

static inline pt_u64 pt_python_word_at(const pt_u8 *bytes, pt_u16 offset)
{
    pt_u64 word;
    memcpy(&word, bytes + offset, sizeof word);
    return word;
}

#endif
