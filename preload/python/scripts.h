/* SPDX-License-Identifier: MIT
 *
 * scripts.h - the *.py of this folder, as CMake has put them into the library.
 */
#ifndef PT_PYTHON_SCRIPTS_H
#define PT_PYTHON_SCRIPTS_H

/* By the name of the file, without .py; NULL = there is none. */
const char *pt_python_script(const char *name);

#endif
