/* SPDX-License-Identifier: MIT
 *
 * boot.h - our scripts in the interpreter.
 */
#ifndef PT_PYTHON_BOOT_H
#define PT_PYTHON_BOOT_H

/* Run the first script, unless it was. In an audit event, with the GIL held. */
void pt_python_boot(void);

#endif
