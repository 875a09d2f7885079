/* SPDX-License-Identifier: MIT
 *
 * injection.h - the variables by which the CUDA driver, NVTX and ITT find this library. Constructor only.
 */
#ifndef PT_CORE_INJECTION_H
#define PT_CORE_INJECTION_H

#include "compiler.h"

enum pt_arrival {
    PT_ARRIVAL_PRELOADED = 0,
    PT_ARRIVAL_INJECTED = 1, /* by dlopen, because one of the variables names us: the hooks see nothing here, and other
                                threads may be running */
    PT_ARRIVAL_SECOND = 2    /* another copy is here, from an earlier place in LD_PRELOAD or before this was injected */
};
enum pt_arrival pt_injection_arrival(void);

/* The library's file as the loader opened it; "" = not known. */
extern const char *pt_own_path __attribute__((visibility("hidden")));

/* Its folder is one of LD_LIBRARY_PATH, and its path may stand in LD_PRELOAD: a name without a folder may be found by
 * nothing else. */
extern int pt_own_folder_is_searched __attribute__((visibility("hidden")));
/* Is its folder in such a list? NULL = no list. */
int pt_own_folder_is_in(const char *list);

/* Note in the trace that files, heap and waits of this process are not seen. */
void pt_injection_note_hooks_blind(void);

/* This is Nsight Compute, or a program that it has started, and CUDA is left to it. */
extern int pt_of_nsight __attribute__((visibility("hidden")));

/* Set the variables that the options ask for and that are not set yet; note which library the others name. */
void pt_injection_announce(void);

#endif
