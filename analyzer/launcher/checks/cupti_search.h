/* SPDX-License-Identifier: MIT
 *
 * checks/cupti_search.h - which libcupti the library would find in a command.
 */
#ifndef PT_LAUNCHER_CHECKS_CUPTI_SEARCH_H
#define PT_LAUNCHER_CHECKS_CUPTI_SEARCH_H

#include <stddef.h>

/* Beside the CUDA runtimes that the packages of this Python bring (NULL = there is none), by its name, below CUDA_HOME
 * and CUDA_PATH. 0 = the path, -1 = there is none, -2 = nobody answered in time. */
int pt_cupti_search(const char *python, char *ret_path, size_t size);

#endif
