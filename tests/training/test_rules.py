#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What phases of a training are complained of, with what could be gained, and what looks alike and is fine."""
import unittest

from loops import World

# Of the same seconds; which of them is there is not what these stories are about.
GENERAL = {"one_thread_computes", "time_not_measured"}


class Rules(unittest.TestCase):
    def setUp(self):
        self.world = World()
        self.p = self.world.process()

    def rules(self):
        report = self.world.report()
        self.findings = {f["rule"]: f for f in report["findings"] if f["rule"] not in GENERAL}
        return set(self.findings)

    def fires(self, rule, gain_s, evidence=()):
        self.assertIn(rule, self.rules())
        finding = self.findings[rule]
        self.assertGreaterEqual(finding["gain_upper_s"], gain_s - 1e-6)
        self.assertLess(finding["gain_upper_s"], 1.2 * gain_s)
        for key, value in dict(evidence).items():
            self.assertEqual(finding["evidence"][key], value, key)

    def is_silent(self):
        self.assertEqual(self.rules(), set())

    def epochs(self, n=3, batches=20, wait_ms=1, first_ms=None, workers=2, samples=16, scale=10, after=lambda: None, start_ms=3, name="Images"):
        loader = self.p.loader(name, batches=batches, workers=workers, samples=samples, start_ms=start_ms, place="41:30:train:/app/train.py")
        for _ in range(n):
            for _ in loader.iterate(wait_ms, first_ms):
                self.p.forward(2 * scale)
                self.p.backward(4 * scale)
                self.p.step("sgd", scale)
            after()

    def test_nothing_is_wrong(self):
        self.epochs()
        self.is_silent()

    def test_each_step_waits_for_its_data(self):
        self.epochs(wait_ms=50)
        self.fires("steps_wait_for_data", 60 * 0.05, {"data_set": "Images", "workers": 2})

    def test_the_process_that_trains_loads_its_data_itself(self):
        self.epochs(wait_ms=50, workers=0)
        self.assertIn("steps_wait_for_data", self.rules())
        self.assertIn("same process", self.findings["steps_wait_for_data"]["title"])

    def test_each_epoch_begins_late(self):
        self.epochs(n=5, first_ms=800)
        self.fires("slow_first_batches", 4 * 0.8, {"trained_epochs": 5, "workers": 2, "where": "train.py:41 train"})
        self.assertNotIn("steps_wait_for_data", self.findings)

    def test_who_loads_is_not_known(self):
        self.epochs(wait_ms=50, workers=2**32 - 1)  # tf.data
        self.assertIn("steps_wait_for_data", self.rules())
        finding = self.findings["steps_wait_for_data"]
        self.assertNotIn("same process", finding["title"])
        self.assertIsNone(finding["evidence"]["workers"])

    def test_who_loads_for_keras_on_pytorch_is_not_known(self):
        self.epochs(wait_ms=50, workers=0, name="ConverterIterableDataset")  # a PyDataset with workers, tf.data, or a generator
        self.assertIn("steps_wait_for_data", self.rules())
        self.assertNotIn("same process", self.findings["steps_wait_for_data"]["title"])

    def test_a_pool_beside_tf_data_is_no_loader(self):
        def wait():
            start = self.p.ns
            self.p.rest(1000)
            self.p.lines.append((self.p.ns, f"{start // 10**9}.{start % 10**9:09d} +1.000000000 {self.p.pid}/{self.p.pid} lock_sem result=0 addr=0x7f0000003000"))
        for _ in range(2):
            self.world.worker(self.p, self.p.ns + 1_000_000)
        self.epochs(workers=2**32 - 1, after=wait)
        self.assertNotIn("dataloader_cpu_bound", self.rules())

    def remedy_with_workers(self, training, validation):
        """Which of both loaders keep theirs."""
        def start(keeps, lasts_ms):
            for _ in range(2):
                if not keeps or not self.p.times.get(lasts_ms):
                    self.world.worker(self.p, self.p.ns + 1_000_000, None if keeps else self.p.ns + lasts_ms * 1_000_000)
            self.p.times[lasts_ms] = 1

        def validate():
            start(validation, 250)
            self.validate(1, batches=3)
        validate()
        for _ in range(5):
            start(training, 2201)
            self.epochs(n=1, first_ms=800)
            validate()
        self.assertIn("slow_first_batches", self.rules())
        return self.findings["slow_first_batches"]["remedy"]

    def test_a_loader_that_keeps_its_workers_is_not_told_to(self):
        self.assertIn("endless sampler", self.remedy_with_workers(training=True, validation=False))

    def test_workers_of_a_forkserver_are_kept(self):
        self.world.forkserver = 900  # the default of Python 3.14
        self.assertIn("endless sampler", self.remedy_with_workers(training=True, validation=False))

    def test_a_loader_beside_one_that_keeps_its_workers(self):
        self.assertIn("persistent_workers=True", self.remedy_with_workers(training=False, validation=True))

    def test_only_the_first_epoch_begins_late(self):
        self.epochs(n=1, first_ms=800, batches=60)
        self.is_silent()

    def validate(self, n, batches=20):
        loader = self.p.loader("Validation", batches=batches, workers=2, place="61:60:validate:/app/train.py")
        for _ in range(n):
            for _ in loader.iterate():
                self.p.forward(60)

    def test_validation_takes_as_long_as_training(self):
        self.epochs(after=lambda: self.validate(1))
        self.fires("costly_validation", 2 * 20 * 0.061, {"validation_passes": 3, "where": "train.py:61 validate"})

    def test_a_short_validation_after_each_epoch(self):
        self.epochs(after=lambda: self.validate(1, batches=4))
        self.is_silent()

    def test_one_long_validation_at_the_end(self):
        self.epochs()
        self.validate(1, batches=100)
        self.is_silent()

    def test_checkpoints_after_each_epoch_take_long(self):
        self.epochs(after=lambda: self.p.phase("checkpoint", 600, "save", place="51:30:train:/app/train.py"))
        self.fires("costly_checkpoints", 2 * 0.6, {"checkpoints": 3, "where": "train.py:51 train"})

    def save(self, made_in_ms=0):
        with self.p.within("checkpoint", "save", place="51:30:train:/app/train.py"):
            self.p.takes(made_in_ms, 'stdio_open fd=4 result=0 path="/data/model.part"')
            self.p.rest(600 - made_in_ms)

    def test_a_checkpoint_waits_until_its_file_is_made(self):
        """It is named for what it is, not as calls about files that should be fewer."""
        self.epochs(after=lambda: self.save(made_in_ms=590))
        self.fires("costly_checkpoints", 2 * 0.6)
        self.assertEqual(set(self.findings), {"costly_checkpoints"})

    def test_beside_costly_checkpoints_other_files_are_opened(self):
        """What a checkpoint computes is no reason to leave these unnamed."""
        def after():
            self.save(made_in_ms=10)
            self.p.takes(500, 'stdio_open fd=4 result=0 path="/data/log"')
        self.epochs(after=after)
        self.fires("costly_checkpoints", 2 * 0.6)
        self.fires("file_bookkeeping", 3 * 0.5)

    def test_one_long_export_after_short_checkpoints(self):
        """That it cannot be left out is no reason to leave it unnamed that it opens files for so long."""
        self.epochs(after=lambda: self.save(made_in_ms=10))
        with self.p.within("checkpoint", "save", place="51:30:train:/app/train.py"):
            self.p.takes(5000, 'stdio_open fd=4 result=0 path="/data/model.part"')
        self.fires("costly_checkpoints", 2 * 0.6)  # what is saved without a step in between is one
        self.assertIn("file_bookkeeping", self.findings)

    def test_checkpoints_beside_many_lookups(self):
        """Each is told by its own rule: nothing is left for the general one."""
        def after():
            self.save(made_in_ms=590)
            self.p.takes(600, 'meta_stat result=0 path="/data/a"')
        self.epochs(after=after)
        self.assertEqual(self.rules(), {"costly_checkpoints", "metadata_storm"})

    def test_checkpoints_that_another_rule_tells_of(self):
        """What both tell of is taken off once: the other files are still the program's own."""
        def after():
            with self.p.within("checkpoint", "save", place="51:30:train:/app/train.py"):
                self.p.takes(600, 'io_open fd=4 result=4 path="/data/model.part" flags=O_WRONLY|O_CREAT|O_TRUNC')
            self.p.takes(700, 'stdio_open fd=4 result=0 path="/data/log"')
        self.epochs(after=after)
        self.assertEqual(self.rules(), {"costly_checkpoints", "rewritten_files", "file_bookkeeping"})

    def test_short_checkpoints(self):
        self.epochs(after=lambda: self.p.phase("checkpoint", 30, "save"))
        self.is_silent()

    def test_a_long_checkpoint_is_loaded(self):
        self.p.phase("checkpoint", 3000, "load")
        self.epochs()
        self.is_silent()

    def test_batches_of_one_sample(self):
        self.epochs(n=2, batches=400, samples=1, scale=0.4)
        self.fires("batches_of_one", 800 * 7 * 0.4e-3)

    def test_one_sample_is_work_enough(self):
        self.epochs(n=2, batches=40, samples=1, scale=10)
        self.is_silent()

    def test_the_collector_runs_between_steps(self):
        loader = self.p.loader(batches=100)
        for _ in loader.iterate():
            self.p.train()
            self.p.phase("garbage_collection", 3)
        self.fires("collector_in_the_way", 0.3, {"collections": 100})

    def test_a_few_collections(self):
        loader = self.p.loader(batches=200)
        for i in loader.iterate():
            self.p.train()
            if i % 50 == 0:
                self.p.phase("garbage_collection", 3)
        self.is_silent()

    def test_one_long_collection_at_the_end(self):
        self.epochs(n=1)
        self.p.phase("garbage_collection", 800)
        self.is_silent()

    def imports(self, collecting_ms):
        with self.p.within("import", "torch"):
            self.p.rest(3000)
            for _ in range(10):
                self.p.phase("garbage_collection", collecting_ms / 10)
        self.epochs(n=1)

    def test_imports_with_little_collecting(self):
        self.imports(500)
        self.is_silent()

    def test_imports_with_much_collecting(self):
        self.imports(1500)
        self.fires("collector_in_the_way", 1.5, {"in_imports_s": 1.5})

    def scale(self, skipped):
        for i in self.p.loader(batches=100).iterate():
            self.p.forward(10)
            self.p.backward(20)
            with self.p.within("grad_scaling", object=1, amount=skipped(i)):
                if not skipped(i):
                    self.p.step()

    def test_the_scaler_skips_every_fifth_step(self):
        self.scale(lambda i: i % 5 == 0)
        self.fires("skipped_steps", 0.2 * (80 * 0.032 + 20 * 0.031), {"skipped_steps": 20, "optimizer_steps": 80})

    def test_the_scaler_finds_its_scale_at_the_start(self):
        self.scale(lambda i: i <= 2)
        self.is_silent()

    def compile(self, at):
        for i in self.p.loader(batches=60).iterate():
            if i in at:
                with self.p.within("forward", "Net", object=1):
                    self.p.phase("compile", 300, "dynamo")
            self.p.train()

    def test_shapes_change_and_code_is_compiled_again(self):
        self.compile({1, 20, 30, 40})
        self.fires("recompiles", 0.9, {"recompiles": 3})

    def compile_with_inductor(self, cached):
        for i in self.p.loader(batches=60).iterate():
            if i == 1:
                with self.p.within("forward", "Net", object=1), self.p.within("compile", "dynamo"):
                    self.p.rest(200)
                    self.p.phase("compile", 1000, "inductor", amount=cached)
            self.p.train()

    def test_compiled_code_is_in_no_cache(self):
        self.compile_with_inductor(0)
        self.fires("compiling", 1.2, {"compile_s": 1.2, "compiles": 1})

    def test_compiled_code_is_in_the_cache(self):
        self.compile_with_inductor(1)
        self.is_silent()

    def test_code_is_compiled_in_the_first_steps(self):
        self.compile({1, 2})
        self.is_silent()

    def test_code_for_validation_is_compiled_after_the_first_epoch(self):
        self.compile({1})
        for i in self.p.loader("Validation", batches=3).iterate():
            self.p.phase("forward", 5, "Net", object=1)
            self.p.phase("compile", 300, "dynamo")
        self.is_silent()


if __name__ == "__main__":
    unittest.main()
