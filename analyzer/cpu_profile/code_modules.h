/* SPDX-License-Identifier: MIT
 *
 * code_modules.h - the executables and libraries that were mapped: each is one, whichever process maps it.
 */
#ifndef PT_CPU_PROFILE_CODE_MODULES_H
#define PT_CPU_PROFILE_CODE_MODULES_H

#include <sys/types.h>

#include "util/map.h"
#include "util/vec.h"
#include "cfi.h"

struct pt_code_module {
    const char *path; /* interned; "" = memory that is no file */
    pt_u32 number;    /* as the profile's file has it; 0 = nothing ever ran in it */
    pt_u8 build_id[20];
    pt_u32 build_id_bytes;
    pt_u64 inode;
    pt_i64 seen_s; /* real time at which it was seen first */
    /* Where its bytes can be read here: at path, or by way of a process for which another file is at that path than for
     * us. NULL = nowhere, or nothing ran in it yet. */
    const char *file;
    struct pt_cfi *cfi; /* NULL = not opened, or cannot be used */
};

struct pt_code_modules {
    PT_VEC(struct pt_code_module *);
    struct {
        PT_VEC(struct pt_code_module *);
    } used; /* those with a number, in its order */
    struct pt_intern paths;
    struct pt_map
        by_file;          /* path, device, inode, generation -> module: below two roots a path is two files, by turns */
    struct pt_map newest; /* path, device -> module */
    struct pt_map n_anew; /* path, device -> how often a file that was known counted as a new one */
    struct pt_map calls;  /* module and offset in its file -> what call stands before it; see code_bytes.h */
};

/* The kernel's links and maps in /proc/PID name a file from our root, or, of another mount namespace, from that one's:
 * where the process has a folder for its root (chroot), they name that folder, too. What is below it is what to look
 * for below /proc/PID/root and in /proc/PID/mountinfo. A part of `path`. */
const char *pt_code_path_below_root(pid_t pid, const char *path);
/* The path at which we find the file that /proc/PID/maps names `path`: below /proc/PID/root where the process is known
 * to be in another mount namespace, else the same. To be freed. */
char *pt_code_path_here(pid_t pid, const char *path, pt_u64 inode);
/* The module of a file. Never NULL. `generation`: what tells it from an earlier one whose inode it got; 0 = its file
 * system has none. */
struct pt_code_module *pt_code_module_of_file(struct pt_code_modules *modules, const char *path, pt_u64 device,
                                              pt_u64 inode, pt_u64 generation);
/* Where no more is known of it. */
struct pt_code_module *pt_code_module_of(struct pt_code_modules *modules, const char *path, pt_u64 inode);
/* Something runs in it: its tables and its number are needed from now on. `pid` has it mapped. NULL = cannot be read.
 */
struct pt_cfi *pt_code_module_use(struct pt_code_modules *modules, struct pt_code_module *module, pid_t pid);
/* From the file, also when no process has it mapped any more. False = it is no file, or another file is there now. */
bool pt_code_module_bytes(const struct pt_code_module *module, pt_u64 file_offset, void *ret_bytes, size_t n);
void pt_code_modules_fini(struct pt_code_modules *modules);

#endif
