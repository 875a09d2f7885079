/* SPDX-License-Identifier: MIT
 *
 * Owns: the two tables. Threads: any. Never: has a name for what this kernel does not know.
 */
#include "posix_names.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

/* clang-format off */
#define SIGNALS(NAME) \
    NAME(HUP) NAME(INT) NAME(QUIT) NAME(ILL) NAME(TRAP) NAME(ABRT) NAME(BUS) NAME(FPE) NAME(KILL) \
    NAME(USR1) NAME(SEGV) NAME(USR2) NAME(PIPE) NAME(ALRM) NAME(TERM) NAME(STKFLT) NAME(CHLD) NAME(CONT) \
    NAME(STOP) NAME(TSTP) NAME(TTIN) NAME(TTOU) NAME(URG) NAME(XCPU) NAME(XFSZ) NAME(VTALRM) NAME(PROF) \
    NAME(WINCH) NAME(POLL) NAME(PWR) NAME(SYS)
/* clang-format on */

const char *pt_signal_name(int number)
{
    static const char *const names[] = {
#define NAME(name) [SIG##name] = #name,
        SIGNALS(NAME)
#undef NAME
    };
    return number > 0 && (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
}

const char *pt_error_name(int number)
{
    static const char *const names[] = {
#define ERROR_NAME(name) [name] = #name,
#include "error_names.def"
#undef ERROR_NAME
    };
    return number > 0 && (size_t)number < sizeof names / sizeof *names ? names[number] : NULL;
}
