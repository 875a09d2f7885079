#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Train a small CNN to tell four shapes apart, on images that it draws itself.

An ordinary PyTorch script: nothing in it knows about proftrace. Two DataLoader workers (forked) decode JPEG and PNG files
while the main process trains.

    train.py --prepare --data DIR     draw the images
    train.py --data DIR               train (draws them first when they are missing)
"""
import argparse
import os
import random
import time

SHAPES = ("circle", "square", "triangle", "cross")
SIDE = 128


def draw(shape, rng):
    """One noisy picture of `shape` somewhere on a coloured ground."""
    import numpy as np
    from PIL import Image, ImageDraw

    image = Image.new("RGB", (SIDE, SIDE), tuple(rng.randrange(60, 120) for _ in range(3)))
    pen = ImageDraw.Draw(image)
    r = rng.randrange(18, 34)
    x, y = rng.randrange(r, SIDE - r), rng.randrange(r, SIDE - r)
    colour = tuple(rng.randrange(150, 250) for _ in range(3))
    box = (x - r, y - r, x + r, y + r)
    if shape == "circle":
        pen.ellipse(box, fill=colour)
    elif shape == "square":
        pen.rectangle(box, fill=colour)
    elif shape == "triangle":
        pen.polygon([(x, y - r), (x - r, y + r), (x + r, y + r)], fill=colour)
    else:
        pen.line((x - r, y, x + r, y), fill=colour, width=r // 2)
        pen.line((x, y - r, x, y + r), fill=colour, width=r // 2)
    noise = np.random.RandomState(rng.randrange(1 << 30)).randn(SIDE, SIDE, 3) * 18
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8))


def prepare(folder, count):
    done = os.path.join(folder, ".done")
    if os.path.exists(done):
        return
    rng = random.Random(0)
    for shape in SHAPES:
        os.makedirs(os.path.join(folder, shape), exist_ok=True)
    for i in range(count):
        shape = SHAPES[i % len(SHAPES)]
        draw(shape, rng).save(os.path.join(folder, shape, f"{i:04d}.{'jpg' if i % 3 else 'png'}"))
    open(done, "w").close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default="example-images")
    parser.add_argument("--images", type=int, default=800)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--prepare", action="store_true", help="only draw the images")
    args = parser.parse_args()
    prepare(args.data, args.images)
    if not args.prepare:
        train(args)


def train(args):
    import torch
    from torch import nn
    from torch.utils.data import DataLoader

    from shapes import Shapes  # beside this file

    torch.manual_seed(0)
    torch.set_num_threads(1)
    data = Shapes(args.data, SHAPES)
    loader = DataLoader(data, batch_size=32, shuffle=True, num_workers=args.workers)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2, padding=1), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2, padding=1), nn.BatchNorm2d(32), nn.ReLU(),
        nn.Conv2d(32, 64, 3, stride=2, padding=1), nn.BatchNorm2d(64), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(64 * 16, len(SHAPES)))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(args.epochs):
        began, total, right = time.perf_counter(), 0.0, 0
        for images, labels in loader:
            optimizer.zero_grad()
            output = model(images)
            loss = loss_function(output, labels)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(labels)
            right += int((output.argmax(1) == labels).sum())
        print(f"epoch {epoch + 1}/{args.epochs}  loss {total / len(data):.3f}  accuracy {100 * right / len(data):.0f} %  "
              f"{time.perf_counter() - began:.1f} s", flush=True)
    torch.save(model.state_dict(), os.path.join(args.data, "model.pt"))


if __name__ == "__main__":
    main()
