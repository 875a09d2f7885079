/* SPDX-License-Identifier: MIT
 *
 * cfi.h - how to get from a frame to its caller, as the unwind tables of one executable or library say it (.eh_frame).
 *
 * elfutils reads the tables; what they say for an address is kept in eight bytes, and going through it again costs a
 * hash lookup. The table of a file serves all processes that map it.
 */
#ifndef PT_CPU_PROFILE_CFI_H
#define PT_CPU_PROFILE_CFI_H

#include "frame.h"

struct pt_cfi;

/* Of a regular file that code may have been mapped from; -1 = it is none. A process may have put anything in its place:
 * a FIFO to open which takes for ever, a device that opening alone makes do something. */
int pt_cfi_open_file(const char *path);
/* NULL = cannot be used: no such file, or not an ELF file of this machine. */
struct pt_cfi *pt_cfi_open(const char *path);
/* The vDSO is in no file, but all processes have the same, so ours is read. */
struct pt_cfi *pt_cfi_open_vdso(void);
void pt_cfi_close(struct pt_cfi *cfi);

/* Where the byte of the file lies in memory, before the file is moved to where it was loaded. */
pt_u64 pt_cfi_address(const struct pt_cfi *cfi, pt_u64 file_offset);
/* Its build-id; at most 20 bytes. */
pt_u32 pt_cfi_build_id(const struct pt_cfi *cfi, const pt_u8 **ret_build_id);
/* `address`: of the instruction that runs, or of one inside the call. */
enum pt_frame_step pt_cfi_step(struct pt_cfi *cfi, pt_u64 address, const struct pt_stack_copy *stack,
                               struct pt_frame_regs *regs);

#endif
