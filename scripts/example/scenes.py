# SPDX-License-Identifier: MIT
"""What the example's server offers: pictures of coloured shapes with their boxes (COCO's layout), and a backbone's weights.

All of it is drawn or computed here, from fixed seeds; nothing comes from a network.
"""
import hashlib
import json
import os
import random

import numpy as np
from PIL import Image, ImageDraw

DATASETS = {"coco32": 32, "coco128": 128}  # the smaller one is the beginning of the larger one
WIDTH, HEIGHT = 640, 480
CATEGORIES = ("circle", "square", "triangle")
BACKBONE = "dinov3-tiny.npz"


def draw_shape(pen, category, box, colour):
    left, top, right, bottom = box
    if category == "circle":
        pen.ellipse(box, fill=colour)
    elif category == "square":
        pen.rectangle(box, fill=colour)
    else:
        pen.polygon([((left + right) // 2, top), (left, bottom), (right, bottom)], fill=colour)


def free_place(rng, boxes):
    """A box that keeps its distance from the others."""
    while True:
        edge = rng.randrange(60, 140)
        left, top = rng.randrange(4, WIDTH - edge - 4), rng.randrange(4, HEIGHT - edge - 4)
        box = (left, top, left + edge, top + edge)
        if all(box[2] + 8 < b[0] or b[2] + 8 < box[0] or box[3] + 8 < b[1] or b[3] + 8 < box[1] for b in boxes):
            return box


def draw_scene(seed):
    """A noisy picture of one to four shapes on dull ground with thin lines, which are no objects; and its (category, box) pairs."""
    rng = random.Random(seed)
    image = Image.new("RGB", (WIDTH, HEIGHT), tuple(rng.randrange(50, 120) for _ in range(3)))
    pen = ImageDraw.Draw(image)
    for _ in range(6):
        ends = [rng.randrange(WIDTH), rng.randrange(HEIGHT), rng.randrange(WIDTH), rng.randrange(HEIGHT)]
        pen.line(ends, fill=tuple(rng.randrange(80, 180) for _ in range(3)), width=rng.randrange(1, 4))
    objects = []
    for _ in range(rng.randint(1, 4)):
        category, box = rng.randrange(len(CATEGORIES)), free_place(rng, [box for _, box in objects])
        draw_shape(pen, CATEGORIES[category], box, tuple(rng.randrange(130, 256) for _ in range(3)))
        objects.append((category, box))
    noise = np.random.RandomState(seed).randn(HEIGHT, WIDTH, 3) * 16
    return Image.fromarray(np.clip(np.asarray(image) + noise, 0, 255).astype(np.uint8)), objects


def file_sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def draw_datasets(folder):
    """images/*.jpg, and datasets/NAME.json, which lists a data set's images, their checksums and the boxes in them."""
    for name in ("images", "datasets"):
        os.makedirs(os.path.join(folder, name), exist_ok=True)
    images, annotations = [], []
    for number in range(1, max(DATASETS.values()) + 1):
        scene, objects = draw_scene(number)
        path = os.path.join(folder, "images", f"{number:012d}.jpg")
        scene.save(path, quality=88)
        images.append({"id": number, "file_name": os.path.basename(path), "width": WIDTH, "height": HEIGHT,
                       "sha256": file_sha256(path)})
        for category, (left, top, right, bottom) in objects:
            annotations.append({"id": len(annotations) + 1, "image_id": number, "category_id": category,
                                "bbox": [left, top, right - left, bottom - top]})
    for name, count in DATASETS.items():
        document = {"images": images[:count], "annotations": [a for a in annotations if a["image_id"] <= count],
                    "categories": [{"id": number, "name": category} for number, category in enumerate(CATEGORIES)]}
        with open(os.path.join(folder, "datasets", name + ".json"), "w", encoding="utf-8") as file:
            json.dump(document, file)


def edge_filters():
    """Sixteen 7x7 filters over three colours: edges in eight directions, in brightness and in single colours."""
    y, x = np.mgrid[-3:4, -3:4] / 2.0
    window = np.exp(-(x * x + y * y) / 2)
    filters = []
    for number in range(16):
        angle = np.pi * (number % 8) / 8
        wave = np.sin(1.6 * (x * np.cos(angle) + y * np.sin(angle))) if number < 8 else np.cos(
            0.9 * (x * np.cos(angle) + y * np.sin(angle)))
        colour = np.ones(3) if number % 2 else np.eye(3)[number // 2 % 3]
        filters.append(colour[:, None, None] * (wave * window))
    filters = np.array(filters)
    return (filters / np.abs(filters).sum(axis=(1, 2, 3), keepdims=True)).astype(np.float32)


def make_backbone(folder):
    """models/dinov3-tiny.npz: the weights of the detector's first two layers."""
    os.makedirs(os.path.join(folder, "models"), exist_ok=True)
    mix = np.random.RandomState(0).randn(32, 16, 3, 3).astype(np.float32) * (2 / (16 * 9)) ** 0.5
    np.savez(os.path.join(folder, "models", BACKBONE), stem=edge_filters(), mix=mix)


def prepare(folder):
    """Everything that the server offers, unless it is there already."""
    complete = os.path.join(folder, "complete")
    if not os.path.exists(complete):
        draw_datasets(folder)
        make_backbone(folder)
        with open(complete, "w", encoding="ascii"):
            pass
