/* SPDX-License-Identifier: MIT
 *
 * Owns: numbers in names, as one star each. Threads: any. State: none.
 */
#include "fold.h"

#include <string.h>

enum { MOST_NUMBERS = 64 };

static const char digits[] = "0123456789";

void pt_fold_some_numbers(struct pt_str *out, const char *text, uint64_t which)
{
    for (unsigned number = 0; *text; number += number < MOST_NUMBERS - 1) {
        const size_t before = strcspn(text, digits), n = strspn(text + before, digits);
        pt_str_bytes(out, text, before);
        if (n && which >> number & 1)
            pt_str_char(out, '*');
        else
            pt_str_bytes(out, text + before, n);
        text += before + n;
    }
}

void pt_fold_numbers(struct pt_str *out, const char *text)
{
    pt_fold_some_numbers(out, text, UINT64_MAX);
}

uint64_t pt_numbers_apart(const char *a, const char *b)
{
    uint64_t apart = 0;
    for (unsigned number = 0; *a && *b; number += number < MOST_NUMBERS - 1) {
        a += strcspn(a, digits);
        b += strcspn(b, digits);
        const size_t n = strspn(a, digits), n_of_b = strspn(b, digits);
        apart |= n == n_of_b && !memcmp(a, b, n) ? 0 : (uint64_t)1 << number;
        a += n;
        b += n_of_b;
    }
    return apart;
}
