/* SPDX-License-Identifier: MIT
 *
 * exceptions.h - whose is an exception that comes out of our scripts?
 */
#ifndef PT_PYTHON_EXCEPTIONS_H
#define PT_PYTHON_EXCEPTIONS_H

/* 1: the program's, which must get it; 0: a failure of ours, which it must not see. `exception`: an instance or a
 * class. Leaves no exception. */
int pt_python_is_theirs(void *exception, void *traceback);

#endif
