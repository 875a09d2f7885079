# SPDX-License-Identifier: MIT
"""The example pipeline's stages by hand, untraced: every result, the cached second fetch, and one clear line for each mistake."""
import contextlib
import functools
import importlib.util
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "example"
DRIVER, STAGES = EXAMPLE / "run-pipeline", EXAMPLE / "pipeline"
NEEDED = ("torch", "numpy", "PIL")

# A shell that starts tests in the background has them ignore Ctrl-C, and so would every program that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def setUpModule():
    missing = [name for name in NEEDED if not importlib.util.find_spec(name)]
    if missing:
        raise unittest.SkipTest(f"not installed: {', '.join(missing)}")


def environment(**more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("PROFTRACE_") and k not in ("PIPELINE_CONFIG", "LD_PRELOAD")}
    return dict(clean, PATH=f"{STAGES}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1", **more)


def read_json(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


class ExampleCase(unittest.TestCase):
    """A work folder that run-pipeline made, and its server for as long as the class lasts."""

    @staticmethod
    @functools.cache
    def origin():
        """What the server offers, drawn once for all classes."""
        work = pathlib.Path(tempfile.mkdtemp(prefix="example-origin-"))
        unittest.addModuleCleanup(shutil.rmtree, work)
        subprocess.run([DRIVER, "--work", work, "--prepare-only"], env=environment(), stdout=subprocess.DEVNULL, check=True)
        return work / "origin"

    @classmethod
    def setUpClass(cls):
        cls.work = pathlib.Path(tempfile.mkdtemp(prefix="example-"))
        cls.addClassCleanup(shutil.rmtree, cls.work)
        shutil.copytree(cls.origin(), cls.work / "origin")
        cls.server = subprocess.Popen([DRIVER, "--work", cls.work, "--serve"], env=environment(), stdout=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.stop_server)
        cls.first_line = cls.server.stdout.readline()
        cls.configure(run={"dataset": "coco32"}, train={"epochs": 1})

    @classmethod
    def stop_server(cls):
        cls.server.send_signal(signal.SIGINT)
        cls.server.communicate(timeout=10)

    @classmethod
    def configure(cls, **sections):
        """Change keys of config.json as a user would with an editor."""
        config = read_json(cls.work / "config.json")
        for section, keys in sections.items():
            config[section].update(keys)
        (cls.work / "config.json").write_text(json.dumps(config), encoding="utf-8")

    def stage(self, name, *arguments, **variables):
        return subprocess.run([STAGES / name, *arguments], cwd=self.work, env=environment(**variables), capture_output=True,
                              text=True, timeout=240, check=False)

    def succeed(self, name, *arguments, **variables):
        done = self.stage(name, *arguments, **variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def fail_with(self, code, name, *arguments, **variables):
        """One line on stderr, which begins with the stage's name; returns it."""
        done = self.stage(name, *arguments, **variables)
        self.assertEqual(done.returncode, code, done.stderr + done.stdout)
        lines = done.stderr.splitlines()
        self.assertTrue(lines and lines[-1].startswith(f"{name}: "), done.stderr)
        return lines

    def complain(self, code, name, *arguments, **variables):
        lines = self.fail_with(code, name, *arguments, **variables)
        self.assertEqual(len(lines), 1, lines)
        return lines[0]

    @contextlib.contextmanager
    def changed(self, path, content):
        """A file of the work folder with other bytes, or absent (None), for a while."""
        path = self.work / path
        kept = path.read_bytes()
        path.unlink()
        if content is not None:
            path.write_bytes(content)
        try:
            yield
        finally:
            path.write_bytes(kept)

    def changed_config(self, change):
        config = read_json(self.work / "config.json")
        change(config)
        return self.changed("config.json", json.dumps(config).encode())


class Stages(ExampleCase):
    """One pass over all seven, and then the mistakes that can be made with their results."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        names = ("dataset-fetcher", "dinov3-fetcher", "dataset-generator", "augment-checker", "detector-train", "detector-infer",
                 "detector-grader")
        case, cls.output = cls(), {}
        for name in names:
            cls.output[name] = case.succeed(name, "--config", "config.json")

    def test_fetched(self):
        self.assertIn(read_json(self.work / "config.json")["fetch"]["url"], self.first_line)
        annotations = read_json(self.work / "dataset/coco32/annotations.json")
        self.assertEqual(len(annotations["images"]), 32)
        for image in annotations["images"]:
            self.assertGreater((self.work / "dataset/coco32/images" / image["file_name"]).stat().st_size, 10000)
        for annotation in annotations["annotations"]:
            left, top, width, height = annotation["bbox"]
            self.assertTrue(0 <= left and left + width <= 640 and 0 <= top and top + height <= 480, annotation)
        self.assertIn("32 images", self.output["dataset-fetcher"])

    def test_second_fetch_is_cached(self):
        weights = self.work / "models/dinov3-tiny.npz"
        before = weights.stat().st_mtime_ns
        self.assertNotIn("cached", self.output["dinov3-fetcher"])
        self.assertIn("is cached", self.succeed("dinov3-fetcher"))
        self.assertEqual(weights.stat().st_mtime_ns, before)

    def test_damaged_cache_is_fetched_again(self):
        right = (self.work / "models/dinov3-tiny.npz").read_bytes()
        with self.changed("models/dinov3-tiny.npz", right[:-1]):
            self.assertNotIn("cached", self.succeed("dinov3-fetcher"))
            self.assertEqual((self.work / "models/dinov3-tiny.npz").read_bytes(), right)

    def test_generated(self):
        folder = self.work / "generated/coco32"
        self.assertEqual(read_json(folder / "index.json"), {"dataset": "coco32", "side": 192, "images": {"train": 576, "val": 32}})
        for part, count in (("train", 576), ("val", 32)):
            images = {path.stem for path in (folder / part / "images").iterdir()}
            self.assertEqual(len(images), count)
            self.assertEqual(images, {path.stem for path in (folder / part / "labels").iterdir()})
        self.assertFalse({p.stem[:12] for p in (folder / "train/images").iterdir()} &
                         {p.stem[:12] for p in (folder / "val/images").iterdir()})
        self.assertEqual(self.output["augment-checker"].count(" 0 problems"), 2)

    def test_generating_again_gives_the_same(self):
        files = []
        for name in ("once", "again"):
            def change(config):
                config["paths"]["generated"] = name  # noqa: B023  (called in this turn)
                config["generate"].update(variants=2, workers=len(files) + 1)
            with self.changed_config(change):
                self.succeed("dataset-generator")
            folder = self.work / name
            files.append({path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()})
        self.assertEqual(files[0], files[1])

    def test_stopped_in_the_middle(self):
        """Ctrl-C twice to all processes, and SIGTERM to the first alone: one line each, and no worker stays behind."""
        for numbers, to_all in (((signal.SIGINT, signal.SIGINT), True), ((signal.SIGTERM,), False)):
            with self.subTest(numbers=numbers), self.changed_config(lambda c: c["paths"].update(generated="stopped")):
                process = subprocess.Popen([STAGES / "dataset-generator"], cwd=self.work, env=environment(), text=True,
                                           start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                while not any((self.work / "stopped").glob("coco32.partial/*/labels/*")):
                    self.assertIsNone(process.poll())
                    time.sleep(0.01)
                for number in numbers:
                    os.kill(-process.pid if to_all else process.pid, number)
                    time.sleep(0.005)
                stderr = process.communicate(timeout=60)[1]  # ends when the last worker has closed it
                self.assertEqual(process.returncode, 128 + numbers[0])
                self.assertEqual(stderr, f"dataset-generator: stopped by {numbers[0].name}\n")
                with self.assertRaises(ProcessLookupError):
                    os.killpg(process.pid, 0)
                shutil.rmtree(self.work / "stopped")

    def test_trained(self):
        lines = (self.work / "runs/coco32/losses.csv").read_text(encoding="ascii").splitlines()
        self.assertEqual(lines[0], "epoch,train_loss,val_loss,seconds")
        self.assertEqual(len(lines), 2)
        self.assertIn("wandb is off", self.output["detector-train"])
        self.assertGreater((self.work / "runs/coco32/detector.pt").stat().st_size, 100000)

    def test_graded(self):
        predictions = read_json(self.work / "runs/coco32/predictions.json")
        self.assertEqual(len(predictions["images"]), 32)
        grade = read_json(self.work / "runs/grade.json")
        self.assertEqual(grade["dataset"], "coco32")
        self.assertEqual(grade["predictions"], sum(map(len, predictions["images"].values())))
        self.assertGreater(grade["run_grade_0_100"], 20)  # config.json's floor, which a trial must not break
        self.assertAlmostEqual(grade["precision_proxy"], grade["right"] / grade["predictions"], places=4)
        self.assertAlmostEqual(grade["recall_proxy"], grade["right"] / grade["objects"], places=4)
        self.assertAlmostEqual(grade["miss_rate_proxy"], 1 - grade["recall_proxy"], places=3)

    def test_inferring_again_gives_the_same_grade(self):
        before = read_json(self.work / "runs/grade.json")
        self.succeed("detector-infer")
        self.succeed("detector-grader")
        self.assertEqual(read_json(self.work / "runs/grade.json"), before)

    def test_no_prediction_has_no_precision(self):
        predictions = read_json(self.work / "runs/coco32/predictions.json")
        nothing = {**predictions, "images": {name: [] for name in predictions["images"]}}
        with self.changed("runs/grade.json", b""), self.changed("runs/coco32/predictions.json", json.dumps(nothing).encode()):
            self.succeed("detector-grader")
            grade = read_json(self.work / "runs/grade.json")
        self.assertEqual((grade["run_grade_0_100"], grade["precision_proxy"], grade["recall_proxy"], grade["miss_rate_proxy"]),
                         (0, None, 0, 1))

    def test_broken_data_is_found(self):
        labels, images = (sorted((self.work / "generated/coco32/train" / kind).iterdir()) for kind in ("labels", "images"))
        broken = ((labels[0], b"0.9 0.5 0.4 0.2\n", "line 1: the box leaves the image"),
                  (labels[1], b"0.5 0.5 0.1 0.1\n0.5 0.5 0 0.2\n", "line 2: the box has no area"),
                  (labels[2], b"0.5 0.5 nan 0.2\n", "line 1 is not \"x y w h\""),
                  (labels[3], b"0.5 0.5 many 0.2\n", "line 1 is not \"x y w h\""),
                  (labels[4], b"\xff\n", "line 1 is not \"x y w h\""),
                  (labels[5], None, "does not exist, but its image does"),
                  (images[6], b"no picture", "cannot be decoded"),
                  (images[7], images[7].read_bytes()[:2000], "cannot be decoded"),
                  (images[9], images[8].read_bytes(), f"has the same pixels as {images[8].relative_to(self.work)}"))
        with contextlib.ExitStack() as stack:
            for path, content, _ in broken:
                stack.enter_context(self.changed(path, content))
            lines = self.fail_with(1, "augment-checker")
        for path, _, said in broken:
            self.assertTrue(any(line.startswith(f"{path.relative_to(self.work)} {said}") for line in lines), (path, said, lines))
        self.assertEqual(lines[-1], "augment-checker: 9 problems in generated/coco32; run dataset-generator again")
        with self.changed(images[0], None):
            lines = self.fail_with(1, "augment-checker")
        self.assertIn("575 images, expected 576", lines[0])
        self.assertIn(f"{labels[0].relative_to(self.work)} has no image", lines[1])

    def test_many_problems_are_counted(self):
        shutil.copytree(self.work / "generated/coco32", self.work / "generated/broken")
        self.addCleanup(shutil.rmtree, self.work / "generated/broken")
        for label in (self.work / "generated/broken/val/labels").iterdir():
            label.write_text("2 2 2 2\n", encoding="ascii")
        with self.changed_config(lambda config: config["run"].update(dataset="broken")):
            lines = self.fail_with(1, "augment-checker")
        self.assertEqual(len(lines), 11)
        self.assertIn("32 problems in", lines[-1])

    def test_damaged_results(self):
        for path, content, stage, said in (
                ("models/dinov3-tiny.npz", None, "detector-train", "run dinov3-fetcher first"),
                ("models/dinov3-tiny.npz", b"x", "detector-train", "run dinov3-fetcher again"),
                ("runs/coco32/detector.pt", None, "detector-infer", "run detector-train first"),
                ("runs/coco32/detector.pt", b"x", "detector-infer", "run detector-train again"),
                ("runs/coco32/predictions.json", None, "detector-grader", "run detector-infer first"),
                ("runs/coco32/predictions.json", b"{", "detector-grader", "run detector-infer again"),
                ("dataset/coco32/images/000000000003.jpg", None, "dataset-generator", "run dataset-fetcher again")):
            with self.subTest(path=path, content=content), self.changed(path, content):
                self.assertIn(said, self.complain(1, stage))


class Mistakes(ExampleCase):
    """What goes wrong before there is any result."""

    def test_configuration_is_found(self):
        self.assertIn("cannot read the configuration absent.json", self.complain(2, "dataset-generator", "--config", "absent.json"))
        self.assertIn("absent2.json", self.complain(2, "dataset-generator", PROFTRACE_PIPELINE_CONFIG="absent2.json",
                                                    PIPELINE_CONFIG="absent3.json"))
        self.assertIn("absent3.json", self.complain(2, "dataset-generator", PIPELINE_CONFIG="absent3.json"))
        with self.changed("config.json", None):
            self.assertIn("config.json", self.complain(2, "dataset-generator"))
        with self.changed("config.json", b"{,"):
            self.assertIn("is not JSON", self.complain(2, "augment-checker"))

    def test_configuration_mistakes_name_the_json_path(self):
        for stage, section, key, value, said in (
                ("detector-train", "train", "epochs", None, "train.epochs is missing; expected a whole number above 0"),
                ("dataset-generator", "generate", "side", "3", 'generate.side is "3"; expected a whole number above 0'),
                ("dataset-generator", "generate", "variants", 0, "generate.variants is 0; expected a whole number above 0"),
                ("detector-train", "train", "wandb_enabled", 0, "train.wandb_enabled is 0; expected true or false"),
                ("detector-grader", "paths", "generated", None, "paths.generated is missing; expected a text"),
                ("dataset-generator", "run", "dataset", "../x", 'run.dataset is "../x"; expected a name'),
                ("dataset-generator", "generate", "side", None, "generate.side is missing"),
                ("dataset-fetcher", "fetch", "url", "ftp://host", "expected http://HOST:PORT"),
                ("dataset-fetcher", "fetch", "url", "http://host:port", "fetch.url is"),
                ("dinov3-fetcher", "fetch", "backbone_sha256", None, "fetch.backbone_sha256 is missing")):
            def change(config):
                config[section][key] = value  # noqa: B023  (called in this turn)
                if value is None:  # noqa: B023
                    del config[section][key]  # noqa: B023
            with self.subTest(key=key, value=value), self.changed_config(change):
                self.assertIn(said, self.complain(2, stage))

    def test_missing_results_name_the_stage_to_run(self):
        for stage, first in (("dataset-generator", "dataset-fetcher"), ("augment-checker", "dataset-generator"),
                             ("detector-train", "dataset-generator"), ("detector-infer", "dataset-generator"),
                             ("detector-grader", "dataset-generator")):
            with self.subTest(stage=stage):
                self.assertIn(f"run {first} first", self.complain(1, stage))

    def test_server_says_no(self):
        with self.changed_config(lambda config: config["run"].update(dataset="coco512")):
            self.assertIn("datasets/coco512.json: the server says 404", self.complain(1, "dataset-fetcher"))
        with self.changed_config(lambda config: config["fetch"].update(url="http://127.0.0.1:1")):
            self.assertIn("is the server running?", self.complain(1, "dataset-fetcher"))

    def test_checksums_are_compared(self):
        with self.changed("origin/models/dinov3-tiny.npz", b"x"):
            self.assertIn("is damaged: its SHA-256 is", self.complain(1, "dinov3-fetcher"))
        self.assertFalse((self.work / "models/dinov3-tiny.npz").exists())
        with self.changed("origin/images/000000000003.jpg", b"x"):
            self.assertIn("000000000003.jpg is damaged", self.complain(1, "dataset-fetcher"))
        self.assertIn("run dataset-fetcher first", self.complain(1, "dataset-generator"))

    def test_results_cannot_be_written(self):
        (self.work / "in-the-way").touch()
        with self.changed_config(lambda config: config["paths"].update(models="in-the-way")):
            self.assertIn("in-the-way", self.complain(1, "dinov3-fetcher"))


class Driver(ExampleCase):
    """run-pipeline: with a stand-in for proftrace, which says how it was called."""

    def drive(self, *arguments):
        return subprocess.run([DRIVER, "--work", self.work, *arguments], env=environment(), capture_output=True, text=True,
                              timeout=240, check=False)

    def test_calls_proftrace(self):
        stand_in = self.work / "stand-in"
        stand_in.write_text("#!/bin/sh\necho \"$PWD $*\"\ncommand -v dataset-fetcher\ndinov3-fetcher && rm -r models && exit 7\n",
                            encoding="ascii")
        stand_in.chmod(0o755)
        done = self.drive("--proftrace", stand_in, "--dataset", "coco32")
        self.assertEqual(done.returncode, 7, done.stderr)  # its exit code is handed on, and the server answered
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], f"{self.work} pipeline --config config.json --dataset coco32")
        self.assertEqual(lines[1], str(STAGES / "dataset-fetcher"))
        self.assertIn("is the server running?", self.complain(1, "dinov3-fetcher"))  # it ended with the driver
        self.configure(fetch={"url": self.first_line.split()[2]})

    def test_stages_alone(self):
        stages = [{"stage": "fetch-dinov3", "cmd": ["dinov3-fetcher"]}, {"stage": "review", "skip": "requires GUI"},
                  {"stage": "infer", "cmd": ["detector-infer"]}, {"stage": "eval", "cmd": ["detector-grader"]}]
        with self.changed_config(lambda config: config["profile"].update(stages=stages)):
            done = self.drive("--untraced", "--dataset", "coco32")
        self.assertEqual(done.returncode, 1)
        self.assertIn("review: skipped, requires GUI", done.stdout)
        self.assertNotIn("eval", done.stdout)
        self.assertIn("infer failed with exit code 1", done.stderr)

    def test_changes_of_the_configuration_are_kept(self):
        with self.changed_config(lambda config: config["train"].update(batch=5)):
            self.assertEqual(self.drive("--prepare-only").returncode, 0)
            self.assertEqual(read_json(self.work / "config.json")["train"]["batch"], 5)

    def test_unusable_configuration(self):
        for content in (b"{", b"[]", b"{}"):
            with self.subTest(content=content), self.changed("config.json", content):
                done = self.drive("--prepare-only")
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, r"^run-pipeline: .*config.json is not usable .*\n$")


if __name__ == "__main__":
    unittest.main()
