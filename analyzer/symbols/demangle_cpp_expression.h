/* SPDX-License-Identifier: MIT
 *
 * demangle_cpp_expression.h - expressions within mangled names of C++: what decltype holds, and computed arguments.
 */
#ifndef PT_SYMBOLS_DEMANGLE_CPP_EXPRESSION_H
#define PT_SYMBOLS_DEMANGLE_CPP_EXPRESSION_H

#include "demangle_cpp_read.h"

double pt_cpp_expression(struct pt_cpp *r);

#endif
