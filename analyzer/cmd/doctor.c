/* SPDX-License-Identifier: MIT */
#include "cmd.h"
int pt_cmd_doctor(int argc, char **argv, struct pt_error *err)
{
    (void)argc, (void)argv;
    return pt_fail(err, "not built yet");
}
