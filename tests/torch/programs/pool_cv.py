# SPDX-License-Identifier: MIT
"""A pool that resizes and stores images with OpenCV and Pillow; the main process only waits for it."""
import hashlib
import io
import multiprocessing

import common
import cv2
import numpy as np
from PIL import Image


def work(index):
    image = cv2.imread(f"images/{index:04d}.jpg")
    image = cv2.GaussianBlur(cv2.resize(image, (512, 512)), (7, 7), 0)
    out = io.BytesIO()
    Image.fromarray(image[:, :, ::-1]).save(out, "PNG", optimize=True)
    return hashlib.sha256(np.asarray(Image.open(out)).tobytes()).hexdigest()[:8]


if __name__ == "__main__":
    cv2.setNumThreads(1)
    common.make_images(40, 256)
    with multiprocessing.Pool(2) as pool:
        print(pool.map(work, range(40), chunksize=1))
