/* SPDX-License-Identifier: MIT
 *
 * own_functions.h - what the program's own functions of Python cost by themselves.
 */
#ifndef PT_RULES_OWN_FUNCTIONS_H
#define PT_RULES_OWN_FUNCTIONS_H

#include <stdbool.h>

#include "facts/wait_kind.h"
#include "profile/profile.h"

/* Seconds of CPU time of the critical thread, without imports; of its training alone, where that is asked for. Of the
 * stacks that cost most, as profile->stacks has them. */
struct pt_own_function {
    const char *file, *function; /* with its comprehensions, which have no name */
    double own_s;        /* in it and in what it calls but other own functions, without a framework's operations */
    double own_native_s; /* of that, in native code that it calls: NumPy's, say */
    double with_s;       /* with these */
    double beside_s;     /* of with_s, outside of a framework's operations, in other own functions as well */
    double behind_s;     /* of it, called behind the backward pass of each step, and no phase */
    double behind_own_s; /* of that, outside of operations on tensors */
    double in_calls_s;   /* of with_s, in recorded calls */
    double loading_s;    /* of with_s, where a data loader without workers reads samples */
    double backward_s;   /* of with_s, in backward passes */
    double modules_s;    /* of with_s, in modules: what a model computes */
    double called_s;     /* of that, called by another own function, not by the outermost code */
};

struct pt_own_functions {
    PT_VEC(struct pt_own_function);
    double all_s; /* all that this thread computes */
};

/* To be freed. */
void pt_own_functions(struct pt_profile *profile, pt_i64 stage, bool in_training,
                      struct pt_own_functions *ret_functions);
void pt_own_functions_free(struct pt_own_functions *functions);

/* Whether at least `least` of its time is its own, and it is no function that runs the program. */
bool pt_own_function_is_leaf(const struct pt_own_functions *functions, const struct pt_own_function *function,
                             double least);

/* Whether it does hardly anything but run Python, with all that it calls, and is no function that runs the program. */
bool pt_own_function_is_python(const struct pt_own_functions *functions, const struct pt_own_function *function);

/* Whether it is called behind the steps, and what it does is Python, and what a framework does around tiny operations:
 * whatever the steps need, this is none of it. */
bool pt_own_function_is_behind(const struct pt_own_functions *functions, const struct pt_own_function *function);

/* Whether it is the loop of a training: there are backward passes in it. */
bool pt_own_function_trains(const struct pt_own_function *function);

/* Of the function's time, what native code takes that it calls: NumPy's, say. To find out which tiny operation to do,
 * behind a step, is none: a loop in Python asks for each. */
double pt_own_function_native_percent(const struct pt_profile *profile, pt_i64 stage,
                                      const struct pt_own_function *function);

/* How long the function is in recorded calls of one part of the time account, and how long all Python of the main
 * thread is. */
struct pt_in_calls {
    double function_s, all_s;
};
struct pt_in_calls pt_own_function_in_calls(const struct pt_profile *profile, pt_i64 stage,
                                            const struct pt_own_function *function, enum pt_time_part part);

#endif
