/* SPDX-License-Identifier: MIT
 *
 * error.h - one error, as a chain of causes: "analyzing: block 3 of a.ptr: checksum mismatch".
 *
 * A function that can fail takes `struct pt_error *err` last, returns -1 (or NULL), and leaves err untouched on
 * success. The innermost function says what happened (pt_fail); callers put what they were doing in front
 * (pt_error_context).
 */
#ifndef PT_UTIL_ERROR_H
#define PT_UTIL_ERROR_H

/* proftrace itself failed, for example in writing: as with env, nice and timeout. Not 1, which means that a stage
 * failed or that something got slower. */
#define PT_EXIT_OWN_FAILURE 125

struct pt_error {
    int exit_code; /* what the command should exit with: 1..5 of the contract; 0 = PT_EXIT_OWN_FAILURE */
    char text[1000];
};

/* Set the error; returns -1. */
__attribute__((format(printf, 2, 3))) int pt_fail(struct pt_error *err, const char *format, ...);
/* Set the error with the exit code of the contract (2 usage, 3 unreadable input ...); returns -1. */
__attribute__((format(printf, 3, 4))) int pt_fail_code(struct pt_error *err, int exit_code, const char *format, ...);
/* Put "what: " in front of an error that is set; returns -1. */
__attribute__((format(printf, 2, 3))) int pt_error_context(struct pt_error *err, const char *format, ...);

#endif
