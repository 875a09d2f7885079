# SPDX-License-Identifier: MIT
"""The detector: a small convolutional net that looks at a grid of cells, each of which may hold the centre of one object.

Per cell it says: is there an object, where in the cell is its centre, how large is it (as a share of the image).
"""
import os

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

from boxes import iou, read_label
from stage import StageError

CELL = 16  # pixels; the net halves the image four times


def settle():
    """Same numbers in every run: one seed, one compute thread (a sum's order of additions is part of its result)."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


class Generated(Dataset):
    """The images of one part (train or val) and their targets; decoded in the DataLoader's workers."""

    def __init__(self, folder, side):
        if side % CELL:
            raise StageError(f"the images in {folder} are {side} pixels wide, which is no multiple of {CELL}; change generate.side "
                             "and run dataset-generator again")
        self.folder, self.side = folder, side
        try:
            self.names = sorted(os.path.splitext(name)[0] for name in os.listdir(os.path.join(folder, "images")))
        except FileNotFoundError as error:
            raise StageError(f"{folder} does not exist; run dataset-generator first") from error

    def __len__(self):
        return len(self.names)

    def boxes(self, index):
        return read_label(os.path.join(self.folder, "labels", self.names[index] + ".txt"), self.side)

    def __getitem__(self, index):
        with Image.open(os.path.join(self.folder, "images", self.names[index] + ".jpg")) as image:
            pixels = np.asarray(image, dtype=np.float32) / 255
        return torch.from_numpy(pixels.transpose(2, 0, 1).copy()), self.target(index)

    def target(self, index):
        """Five planes of cells: object or not, centre within the cell (x, y), size (width, height)."""
        cells = self.side // CELL
        target = torch.zeros(5, cells, cells)
        for left, top, right, bottom in self.boxes(index):
            x, y = (left + right) / 2 / CELL, (top + bottom) / 2 / CELL
            column, row = min(int(x), cells - 1), min(int(y), cells - 1)
            target[:, row, column] = torch.tensor(
                (1, x - column, y - row, (right - left) / self.side, (bottom - top) / self.side))
        return target


class Detector(nn.Module):
    def __init__(self):
        super().__init__()

        def halve(inputs, outputs, kernel=3):
            return (nn.Conv2d(inputs, outputs, kernel, stride=2, padding=kernel // 2, bias=False),
                    nn.BatchNorm2d(outputs), nn.ReLU())

        self.layers = nn.Sequential(
            *halve(3, 16, kernel=7), *halve(16, 32), *halve(32, 64), *halve(64, 96),
            nn.Conv2d(96, 96, 3, padding=1, bias=False), nn.BatchNorm2d(96), nn.ReLU(),
            nn.Conv2d(96, 5, 1))

    def forward(self, images):
        return self.layers(images)

    def load_backbone(self, path):
        """Start from the downloaded filters instead of random ones."""
        try:
            with np.load(path) as weights:
                for layer, name in ((self.layers[0], "stem"), (self.layers[3], "mix")):
                    layer.weight.data.copy_(torch.from_numpy(weights[name]))
        except FileNotFoundError as error:
            raise StageError(f"{path} does not exist; run dinov3-fetcher first") from error
        except (KeyError, RuntimeError, ValueError) as error:
            raise StageError(f"{path} does not hold this net's weights ({error}); run dinov3-fetcher again") from error


def loss_function(output, target):
    """Object or not in every cell; place and size only where there is an object."""
    present = target[:, 0] > 0
    objectness = functional.binary_cross_entropy_with_logits(output[:, 0], target[:, 0], pos_weight=torch.tensor(4.0))
    place = torch.sigmoid(output[:, 1:]) - target[:, 1:]
    scale = torch.tensor((1.0, 1.0, 4.0, 4.0)).view(1, 4, 1, 1)  # sizes are small numbers: a share of the image, not of a cell
    boxes = ((place * scale) ** 2).sum(1)[present].mean() if present.any() else output.sum() * 0
    return 5 * objectness + 2 * boxes


def decode(output, side, threshold):
    """One image's output as boxes with scores, best first, without those that another box already explains."""
    found = []
    scores, places = torch.sigmoid(output[0]), torch.sigmoid(output[1:])
    for row, column in (scores > threshold).nonzero().tolist():
        x, y, width, height = places[:, row, column].tolist()
        x, y, width, height = (column + x) * CELL, (row + y) * CELL, width * side, height * side
        found.append((float(scores[row, column]), (x - width / 2, y - height / 2, x + width / 2, y + height / 2)))
    kept = []
    for score, box in sorted(found, reverse=True):
        if all(iou(box, other) < 0.45 for _, other in kept):
            kept.append((score, box))
    return kept
