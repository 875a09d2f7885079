/* SPDX-License-Identifier: MIT
 *
 * builtins.h - what our Python scripts can call.
 */
#ifndef PT_PYTHON_BUILTINS_H
#define PT_PYTHON_BUILTINS_H

/* Put them into the globals of the scripts:
 *
 *   begin(phase, object=None, name=None)         a phase begins on this thread (phases.h); object: an int, or anything
 *                                                else for its address
 *   end(amount=0, outcome=0, object=None)        the innermost one ends
 *   epoch(number)                                a framework says that an epoch begins
 *   joined(rank, size)                           this process is one of a group
 *   known_rank()                                 its number among those of its launcher or group, else None
 *   collected(phase, info)                       for gc.callbacks
 *   is_theirs(exception)                         the exception, if it is not ours to drop (exceptions.h), else None
 *
 * and boot.c adds
 *
 *   check()                                      is the layout true? Called once, from a function
 *   load(name)                                   run another script, in the same globals; raises what the program
 *                                                raised in it, nothing else
 *
 * No other one raises. */
void pt_python_builtins_add(void *globals);

/* As CPython calls it, with METH_FASTCALL. */
typedef void *pt_python_function(void *self, void *const *arguments, long n);
/* PyMethodDef, stable since 3.7; it must stay where it is. */
struct pt_python_method {
    const char *name;
    pt_python_function *function;
    int flags;
    const char *doc;
};
#define PT_PYTHON_METHOD(name)                                                                                         \
    {                                                                                                                  \
#name, name, 0x80 /* METH_FASTCALL */, 0                                                                       \
    }

void pt_python_method_add(void *globals, struct pt_python_method *method);

/* Their None, and the text of an argument that is a str, else NULL. */
void *pt_python_none(void);
const char *pt_python_text_of(void *const *arguments, long n, long i, long *ret_bytes);

#endif
