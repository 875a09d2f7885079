/* SPDX-License-Identifier: MIT
 *
 * boot.h - our scripts in the interpreter.
 */
#ifndef PT_PYTHON_BOOT_H
#define PT_PYTHON_BOOT_H

/* Run the first script, unless it was. In an audit event, with the GIL held. `at_end` is called when the interpreter is
 * gone; then another may come in this process. */
void pt_python_boot(void (*at_end)(void));

#endif
