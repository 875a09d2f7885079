/* SPDX-License-Identifier: MIT
 *
 * Owns: reading instructions. Threads: main only. State: none; what was read of files is kept with the modules. Never:
 * keeps what was read of memory that is no file: the next code may lie there.
 */
#include "code_bytes.h"

#include <string.h>
#include <sys/uio.h>

enum { CALL_BYTES = 7, KEPT_MAX = 262144 };

bool pt_code_bytes(const struct pt_image *image, pt_u32 pid, pt_u64 address, pt_u8 *ret_code, size_t n)
{
    struct iovec to = {ret_code, n}, from = {(void *)(uintptr_t)address, n};
    if (process_vm_readv((pid_t)pid, &to, 1, &from, 1, 0) == (ssize_t)n)
        return true;
    const struct pt_mapping *mapping = pt_image_find(image, address);
    return mapping &&
           pt_code_module_bytes(mapping->module, address - mapping->start + mapping->file_offset, ret_code, n);
}

/* FF /2: the length of the call follows from the byte behind FF. */
static bool is_call_by_pointer(const pt_u8 code[CALL_BYTES])
{
    static const struct {
        int length, mode;
    } forms[] = {{2, 0xd0}, {2, 0x10}, {3, 0x50}, {6, 0x90}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const pt_u8 *at = code + CALL_BYTES - forms[i].length;
        const int base = at[1] & 7;
        const bool takes_more = forms[i].mode != 0xd0 && (base == 4 || (forms[i].mode == 0x10 && base == 5));
        if (at[0] == 0xff && (at[1] & 0xf8) == forms[i].mode && !takes_more)
            return true;
        /* With an index register it is a byte longer. */
        if (forms[i].mode != 0xd0 && at[-(at > code)] == 0xff && at > code && at[0] == forms[i].mode + 4)
            return true;
    }
    return false;
}

static enum pt_call_before decode(const pt_u8 code[CALL_BYTES])
{
    if (code[2] == 0xe8 || (code[1] == 0xff && code[2] == 0x15))
        return PT_CALL_BY_NAME;
    return is_call_by_pointer(code) ? PT_CALL_BY_POINTER : PT_NO_CALL;
}

enum pt_call_before pt_call_before(struct pt_code_modules *modules, const struct pt_image *image, pt_u32 pid,
                                   pt_u64 address)
{
    pt_u8 code[CALL_BYTES];
    const struct pt_mapping *mapping = pt_image_find(image, address - 1);
    if (!mapping || address - mapping->start < CALL_BYTES)
        return PT_NO_CALL;
    const bool is_file = mapping->module->path[0] == '/';
    const pt_u64 offset = address - mapping->start + mapping->file_offset;
    const pt_u64 key = ((pt_u64)(uintptr_t)mapping->module * 0x9e3779b97f4a7c15u) ^ offset;
    const pt_u64 *known = is_file ? pt_map_find(&modules->calls, key) : NULL;
    if (known)
        return (enum pt_call_before) * known;
    if (!pt_code_bytes(image, pid, address - CALL_BYTES, code, CALL_BYTES))
        return PT_NO_CALL;
    const enum pt_call_before found = decode(code);
    if (is_file && modules->calls.n < KEPT_MAX)
        *pt_map_at(&modules->calls, key) = found;
    return found;
}
