# SPDX-License-Identifier: MIT
"""What the trainings share: the same numbers in each run, and a few images."""
import hashlib
import os

import numpy as np
import torch

torch.manual_seed(0)
torch.set_num_threads(1)
torch.use_deterministic_algorithms(True)


def make_images(count, edge, folder="images"):
    from PIL import Image
    if os.path.isdir(folder):
        return
    os.makedirs(folder + ".part", exist_ok=True)
    random = np.random.RandomState(0)
    for i in range(count):
        small = random.randint(0, 256, (edge // 8, edge // 8, 3), dtype=np.uint8)
        Image.fromarray(small).resize((edge, edge)).save(f"{folder}.part/{i:04d}.jpg", quality=90)
    os.rename(folder + ".part", folder)


def load_image(path, edge):
    from PIL import Image
    with Image.open(path) as image:
        return torch.from_numpy(np.array(image.convert("RGB").resize((edge, edge)))).permute(2, 0, 1).float() / 255


def hash_of(model):
    digest = hashlib.sha256()
    for _, value in sorted(model.state_dict().items()):
        digest.update(value.detach().numpy().tobytes())
    return digest.hexdigest()[:16]
