/* SPDX-License-Identifier: MIT
 *
 * text.c - finds a variable in an environment. Entered by any thread. Never calls libc.
 */
#include "text.h"

const char *pt_text_value(char *const *vector, const char *name)
{
    for (; vector && *vector; vector++)
        if (pt_text_starts(*vector, name) && (*vector)[pt_text_length(name)] == '=')
            return *vector + pt_text_length(name) + 1;
    return 0;
}
