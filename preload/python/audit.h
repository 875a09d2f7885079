/* SPDX-License-Identifier: MIT
 *
 * audit.h - one audit hook in CPython's list of them, and out of it again.
 */
#ifndef PT_PYTHON_AUDIT_H
#define PT_PYTHON_AUDIT_H

typedef int pt_python_audit(const char *event, void *arguments, void *cookie);

/* -1 when there is none to be had. */
int pt_python_audit_add(pt_python_audit *hook);
/* Nothing where it is not in. */
void pt_python_audit_remove(void);

#endif
