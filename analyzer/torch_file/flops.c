/* SPDX-License-Identifier: MIT
 *
 * torch_file/flops.c - Owns: the formulas. Never: takes a shape for granted.
 */
#include "flops.h"

#include <math.h>
#include <string.h>

static double product(const struct pt_torch_shapes *shapes, pt_u32 input)
{
    double all = 1;
    for (pt_u32 i = 0; i < shapes->n_dims[input]; i++)
        all *= shapes->dims[input][i];
    return all;
}

/* Of matrices, or of batches of them, in inputs `left` and `left` + 1. */
static double matrices(const struct pt_torch_shapes *shapes, pt_u32 left, pt_u32 n_dims)
{
    if (shapes->n < left + 2 || shapes->n_dims[left] != n_dims || shapes->n_dims[left + 1] != n_dims)
        return NAN;
    const double shared = shapes->dims[left][n_dims - 1], batches = n_dims == 3 ? shapes->dims[left][0] : 1;
    return shared > 0 && batches > 0 ? 2 * product(shapes, left) * product(shapes, left + 1) / shared / batches : 0;
}

static double convolution(const struct pt_torch_event *event)
{
    const struct pt_torch_shapes *shapes = &event->shapes;
    if (shapes->n < 2 || shapes->n_dims[0] != 4 || shapes->n_dims[1] != 4 || !event->groups)
        return NAN;
    const double *input = shapes->dims[0], *weight = shapes->dims[1];
    double flops = 2 * input[0] * input[1] * weight[0] * weight[2] * weight[3] / event->groups;
    for (int i = 0; i < 2; i++) {
        if (!(event->stride[i] > 0))
            return NAN;
        flops *= floor((input[2 + i] + 2 * event->padding[i] - event->dilation[i] * (weight[2 + i] - 1) - 1) /
                       event->stride[i]) +
                 1;
    }
    return flops;
}

/* Each gradient multiplies as often as the convolution itself did: each element of what came out of it (or went in,
 * where it is transposed) with the weights of one channel. */
static double convolution_backward(const struct pt_torch_event *event)
{
    const struct pt_torch_shapes *shapes = &event->shapes;
    if (shapes->n < 3 || !event->gradients || shapes->n_dims[0] < 3 || shapes->n_dims[2] < 3 ||
        !(shapes->dims[2][0] > 0))
        return NAN;
    return 2 * product(shapes, event->is_transposed ? 1 : 0) * product(shapes, 2) / shapes->dims[2][0] *
           event->gradients;
}

double pt_torch_flops(const struct pt_torch_event *event)
{
    const struct pt_torch_shapes *shapes = &event->shapes;
    const char *name = event->name;
    if (!shapes->n)
        return NAN;
    if (!strcmp(name, "aten::mm"))
        return matrices(shapes, 0, 2);
    if (!strcmp(name, "aten::addmm"))
        return matrices(shapes, 1, 2);
    if (!strcmp(name, "aten::bmm"))
        return matrices(shapes, 0, 3);
    if (!strcmp(name, "aten::baddbmm"))
        return matrices(shapes, 1, 3);
    if (!strcmp(name, "aten::conv2d"))
        return convolution(event);
    if (!strcmp(name, "aten::convolution_backward"))
        return convolution_backward(event);
    if ((!strcmp(name, "aten::mul") || !strcmp(name, "aten::add")) && shapes->n_dims[0])
        return product(shapes, 0);
    return NAN;
}
