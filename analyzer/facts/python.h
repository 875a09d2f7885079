/* SPDX-License-Identifier: MIT
 *
 * python.h - what a traced process has of CPython: which lock is the GIL.
 */
#ifndef PT_FACTS_PYTHON_H
#define PT_FACTS_PYTHON_H

#include "model/session.h"

/* Whether a condition or mutex at an address is that of the global interpreter lock. Since 3.7 CPython keeps it in
 * the exported variable _PyRuntime; a file of the interpreter that does not have that, or that is not here, has no
 * other conditions in its own memory. Never true for interpreters with a GIL of their own (3.12), which is on the
 * heap. */
bool pt_process_is_gil(const struct pt_process *process, pt_u64 address, pt_i64 at_ns);

/* Whether an interpreter is the program, or was loaded: then its computing may be Python. */
bool pt_process_has_python(const struct pt_process *process);

/* False for a Python whose trace does not say where its GIL is: its waits cannot be distinguished from others. */
bool pt_process_knows_gil(const struct pt_process *process);

#endif
