# SPDX-License-Identifier: MIT
"""Boxes, each (left, top, right, bottom) in pixels, and the label files: one line "x y w h" per object, as shares of the image."""
import math


def area(box):
    return max(0.0, box[2] - box[0]) * max(0.0, box[3] - box[1])


def intersection(a, b):
    return max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3])


def iou(a, b):
    """Intersection over union: 1 for equal boxes, 0 for disjoint ones."""
    common = area(intersection(a, b))
    union = area(a) + area(b) - common
    return common / union if union > 0 else 0.0


def write_label(path, boxes, side):
    with open(path, "w", encoding="ascii") as file:
        for left, top, right, bottom in boxes:
            numbers = (left + right) / 2, (top + bottom) / 2, right - left, bottom - top
            file.write(" ".join(f"{number / side:.6f}" for number in numbers) + "\n")


def read_label(path, side):
    """The boxes of a label file; ValueError for a line that is none."""
    boxes = []
    with open(path, encoding="ascii", errors="replace") as file:
        for number, line in enumerate(file, 1):
            try:
                numbers = [float(word) * side for word in line.split()]
            except ValueError:
                numbers = []
            if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
                raise ValueError(f"line {number} is not \"x y w h\": {line.strip()!r}")
            x, y, w, h = numbers
            boxes.append((x - w / 2, y - h / 2, x + w / 2, y + h / 2))
    return boxes
