# SPDX-License-Identifier: MIT
"""Copies files and takes their checksums by a command for each; the fixed one does both itself."""
import hashlib
import os
import shutil
import subprocess

import planted

FILES = 600


def names():
    return [f"{number:04}.bin" for number in range(FILES)]


def copy_by_command(source, target):
    subprocess.run(["cp", source, target], check=True)


def checksum_by_command(path):
    return subprocess.run(["md5sum", path], check=True, capture_output=True, text=True).stdout.split()[0]


def checksum(path):
    with open(path, "rb") as file:
        return hashlib.md5(file.read()).hexdigest()


def stage(copy, check):
    os.makedirs("copies", exist_ok=True)
    for name in names():
        copy(f"files/{name}", f"copies/{name}")
        check(f"copies/{name}")


def prepare():
    os.makedirs("files")
    for name in names():
        with open(f"files/{name}", "wb") as file:
            file.write(os.urandom(8192))


planted.main(lambda: stage(copy_by_command, checksum_by_command), lambda: stage(shutil.copyfile, checksum), prepare)
