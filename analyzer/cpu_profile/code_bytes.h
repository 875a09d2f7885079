/* SPDX-License-Identifier: MIT
 *
 * code_bytes.h - the instructions of a process, also when it is gone already.
 */
#ifndef PT_CPU_PROFILE_CODE_BYTES_H
#define PT_CPU_PROFILE_CODE_BYTES_H

#include "images.h"

/* From the process, else from the file that is mapped there. */
bool pt_code_bytes(const struct pt_image *image, pt_u32 pid, pt_u64 address, pt_u8 *ret_code, size_t n);

enum pt_call_before { PT_NO_CALL = 1, PT_CALL_BY_NAME, PT_CALL_BY_POINTER };

/* The instruction that ends at the address. A call of a function of another library is one by name. */
enum pt_call_before pt_call_before(struct pt_code_modules *modules, const struct pt_image *image, pt_u32 pid,
                                   pt_u64 address);

#endif
