/* SPDX-License-Identifier: MIT
 *
 * torch_file/flops.h - floating point operations of an operator from the shapes of its inputs.
 */
#ifndef PT_TORCH_FILE_FLOPS_H
#define PT_TORCH_FILE_FLOPS_H

#include "trace_events.h"

/* By the formulas of torch.profiler's with_flops (computeFlops in torch/csrc/profiler/util.cpp), so that its table and
 * ours agree: products, two-dimensional convolutions, sums and products of elements; a multiplication with an addition
 * is two. And a convolution's backward, which it leaves out and which is most of such a training, as
 * torch.utils.flop_counter counts it. NAN: neither counts such an operator. */
double pt_torch_flops(const struct pt_torch_event *event);

#endif
