/* SPDX-License-Identifier: MIT
 *
 * memory.h - samples of what CPython's own allocator gives.
 */
#ifndef PT_PYTHON_MEMORY_H
#define PT_PYTHON_MEMORY_H

/* Put ours before CPython's allocator, where it is the usual one. With the GIL held. */
void pt_python_memory_start(void);

#endif
