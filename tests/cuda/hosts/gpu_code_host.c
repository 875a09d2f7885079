/* SPDX-License-Identifier: MIT
 *
 * gpu_code_host.c - a program that holds GPU code, as nvcc -cudart static makes them, where no driver is: it does
 * without.
 */
#include <stdio.h>

__attribute__((section(".nv_fatbin"), used)) static const unsigned fatbin[] = {0xba55ed50, 0x00100001};

int main(void)
{
    return puts("no GPU") < 0;
}
