/* SPDX-License-Identifier: MIT
 *
 * T4: a block that cannot grow stays what it was, whoever's it is.
 */
#include "host.h"

#include <stdint.h>

int main(void)
{
    char *kept = malloc(100);
    strcpy(kept, "kept");
    for (int i = 0; i < 10; i++)
        MUST(realloc(kept, SIZE_MAX / 2) == NULL && errno == ENOMEM && !strcmp(kept, "kept"));
    puts(kept);
    free(kept);
    return host_broken;
}
