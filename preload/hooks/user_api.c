/* SPDX-License-Identifier: MIT
 *
 * user_api.c - the functions behind proftrace.h.
 *
 * Entered by any thread of the host and in signal handlers. Names come from the program itself, which vouches for them.
 */
#include "proftrace/proftrace.h"

#include "../core/intern.h"
#include "hook.h"
