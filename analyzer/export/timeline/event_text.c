/* SPDX-License-Identifier: MIT
 *
 * event_text.c - Owns nothing; any thread. */
#include "event_text.h"

#include <string.h>

const char *pt_category_name(enum pt_category category)
{
    switch (category) {
    case PT_CATEGORY_HEAP:
        return "heap";
    case PT_CATEGORY_MAP:
        return "map";
    case PT_CATEGORY_IO:
        return "io";
    case PT_CATEGORY_META:
        return "meta";
    case PT_CATEGORY_STDIO:
        return "stdio";
    case PT_CATEGORY_PROC:
        return "proc";
    case PT_CATEGORY_USER:
        return "user";
    case PT_CATEGORY_WAIT:
        return "wait";
    case PT_CATEGORY_NET:
        return "net";
    case PT_CATEGORY_CUDA:
        return "cuda";
    case PT_CATEGORY_GPU:
        return "gpu";
    case PT_CATEGORY_CLOCK:
        return "clock";
    case PT_CATEGORY_PYTHON:
        return "python";
    }
    return "other";
}

const char *pt_event_short_name(const struct pt_event_desc *desc)
{
    static const char *const families[] = {"io_", "meta_", "proc_", "wait_", "net_", "cuda_", "gpu_"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (!strncmp(desc->name, families[i], strlen(families[i])))
            return desc->name + strlen(families[i]);
    return desc->name;
}
