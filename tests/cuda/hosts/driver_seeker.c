/* SPDX-License-Identifier: MIT
 *
 * driver_seeker.c - a program of the driver's API that looks for the driver by itself, and does without where there is
 * none.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    return puts(driver ? "a GPU, maybe" : "no GPU") < 0;
}
