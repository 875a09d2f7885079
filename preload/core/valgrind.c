/* SPDX-License-Identifier: MIT
 *
 * valgrind.c - whether the program runs in valgrind. Asked by the constructor, read by any thread.
 */
#include "valgrind.h"

pt_u8 pt_is_below_valgrind;

void pt_valgrind_ask(void)
{
    pt_is_below_valgrind = pt_valgrind(PT_VALGRIND_IS_THERE, 0, 0) != 0;
}
