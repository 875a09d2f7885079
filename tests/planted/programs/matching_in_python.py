# SPDX-License-Identifier: MIT
"""A detector's training that matches boxes in Python: none of its small functions takes a tenth of the time, the one that calls
them a quarter; the fixed one matches all boxes of a batch at once."""
import os

import planted

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # others of its threads would spin beside the program
import torch  # noqa: E402

torch.set_num_threads(1)
BATCH, STEPS, BOXES, TRUTHS, WIDTH = 16, 600, 24, 6, 96


def area_of(box):
    return (box[2] - box[0]) * (box[3] - box[1])


def shared(a, b):
    return [max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])]


def overlap_of(a, b):
    both = shared(a, b)
    inside = area_of(both) if both[2] > both[0] and both[3] > both[1] else 0
    return inside / (area_of(a) + area_of(b) - inside)


def match(boxes, truths):
    found = []
    for truth in truths:
        best = max(range(len(boxes)), key=lambda i: overlap_of(boxes[i], truth))  # planted here
        found.append(best)
    return found


def match_all(boxes, truths):
    least = torch.maximum(boxes[:, None, :, :2], truths[:, :, None, :2])
    most = torch.minimum(boxes[:, None, :, 2:], truths[:, :, None, 2:])
    both = (most - least).clamp(min=0).prod(-1)
    area, other = ((b[..., 2:] - b[..., :2]).prod(-1) for b in (boxes, truths))
    return (both / (area[:, None, :] + other[:, :, None] - both)).argmax(-1)


def some_boxes(n):
    corner = torch.rand(BATCH, n, 2)
    return torch.cat([corner, corner + 0.1 + torch.rand(BATCH, n, 2) / 2], 2)


def step(model, optimizer, is_fixed):
    boxes, truths = some_boxes(BOXES), some_boxes(TRUTHS)
    if is_fixed:
        matches = match_all(boxes, truths)
    else:
        matches = torch.tensor([match(*of_image) for of_image in zip(boxes.tolist(), truths.tolist())])
    shifts = model(torch.randn(BATCH * BOXES, WIDTH)).view(BATCH, BOXES, 4)
    chosen = torch.gather(boxes + shifts, 1, matches[:, :, None].expand(-1, -1, 4))
    optimizer.zero_grad()
    torch.nn.functional.smooth_l1_loss(chosen, truths).backward()
    optimizer.step()


def work(is_fixed):
    torch.manual_seed(0)
    layers = [torch.nn.Linear(WIDTH, WIDTH) for _ in range(12)]
    model = torch.nn.Sequential(*layers, torch.nn.Linear(WIDTH, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        step(model, optimizer, is_fixed)


planted.main(lambda: work(False), lambda: work(True))
