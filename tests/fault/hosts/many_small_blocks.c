/* SPDX-License-Identifier: MIT
 *
 * T6: more allocations than a packed counter holds, of which samples may see none.
 */
#include "host.h"

int main(void)
{
    alloc_pairs(20000000, 16);
    return 0;
}
