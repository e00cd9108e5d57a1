#!/usr/bin/env python3
"""Tests of the records that tools/tuning collects for pretrained models, and of what those models learn from."""
import pathlib
import signal
import tempfile
import threading
import unittest
from unittest import mock

from common.models import zoo
from common.waiting import await_true
from tuning import pretrain


class Pretrain(unittest.TestCase):
    RECORD = {"model": "net.onnx", "threads": 1, "state": "finished", "start_ms": 0, "end_ms": 12_000,
              "options": {"search": "random", "trials_per_task": 24, "trials": 0, "seconds": 0.0, "cost_model": "none",
                          "transfer_from_runs": False, "transfer_from_tasks": False}}

    def test_which_run_was_made(self):
        self.assertTrue(pretrain.Run("net", 1, 24, 5).is_same_work(self.RECORD))
        for other in (pretrain.Run("other", 1, 24, 5), pretrain.Run("net", 2, 24, 5), pretrain.Run("net", 1, 25, 5)):
            self.assertFalse(other.is_same_work(self.RECORD))
        changed = {**self.RECORD, "options": {**self.RECORD["options"], "transfer_from_tasks": True}}
        self.assertFalse(pretrain.Run("net", 1, 24, 5).is_same_work(changed))

    def test_seconds_of_a_trial(self):
        runs = [pretrain.Run("net", 1, 24, 5), pretrain.Run("other", 1, 24, 5)]
        self.assertAlmostEqual(pretrain.seconds_of_trial(runs, [self.RECORD]), 0.1)
        self.assertEqual(pretrain.seconds_of_trial(runs, []), pretrain.SECONDS_OF_TRIAL)

    def test_tasks_are_counted(self):
        space = """66daf6112225  conv f32[1,3,2,2] -> f32[1,64,1,1], used 1×, 721 configs
conv_direct: tile_w 30 × tile_c 3 = 90
loops: one config

598c42cbe2ba  max_pool f32[1] -> f32[1], used 12×, 1 configs
loops: one config

"""
        self.assertEqual(pretrain.count_tasks(space), 2)

    def collect(self, finished, tuned):
        with (mock.patch.object(pretrain, "finished_runs", return_value=finished),
              mock.patch.object(pretrain, "tune", lambda run, records: tuned.append((run.network, run.threads))),
              mock.patch.object(pretrain, "attune", return_value="a, used 1×, 9 configs\n"),
              mock.patch.object(zoo, "zoo_model"), mock.patch.object(pretrain, "progress") as progress,
              tempfile.TemporaryDirectory() as folder):
            pretrain.collect(pretrain.Collection(("net", "other"), (1, 2), 24),
                             pathlib.Path(folder) / "new/pretrain.db")
        return progress

    def test_complete_runs_are_not_made_again(self):
        tuned = []
        progress = self.collect([self.RECORD], tuned)
        self.assertEqual(tuned, [("net", 2), ("other", 1), ("other", 2)])
        self.assertIn("4 runs, 1 of them complete; at most 72 trials", progress.call_args_list[0].args[0])

    def test_what_records_teach(self):
        fewer = {**self.RECORD, "threads": 2, "options": {**self.RECORD["options"], "trials_per_task": 8}}
        with mock.patch.object(pretrain, "finished_runs", return_value=[self.RECORD, fewer]):
            self.assertEqual(pretrain.lesson("records"), {"networks": 1, "threads": [1, 2], "trials_per_task": 8})
        search = {**self.RECORD, "options": {**self.RECORD["options"], "search": "annealing", "trials_per_task": 0}}
        for runs in ([], [search]):
            with mock.patch.object(pretrain, "finished_runs", return_value=runs):
                self.assertIsNone(pretrain.lesson("records"))

    def test_an_interrupted_tuner_is_killed(self):
        with tempfile.TemporaryDirectory() as folder:
            program, mark = pathlib.Path(folder) / "attune", pathlib.Path(folder) / "mark"
            # A program that ignores requests to end.
            program.write_text(f"#!/bin/sh\ntrap '' INT TERM\necho $$ > {mark}.new\nmv {mark}.new {mark}\nexec sleep 1000000\n")
            program.chmod(0o755)

            def interrupt(*_):
                raise KeyboardInterrupt
            old = signal.signal(signal.SIGALRM, interrupt)
            self.addCleanup(signal.signal, signal.SIGALRM, old)

            def interrupt_once_it_runs():
                await_true("the program runs", mark.exists, 0.01)
                signal.pthread_kill(threading.main_thread().ident, signal.SIGALRM)
            threading.Thread(target=interrupt_once_it_runs).start()
            with (mock.patch.object(pretrain, "INTERRUPTS", {signal.SIGALRM}),
                  mock.patch.object(pretrain, "PROGRAM", program), mock.patch.object(zoo, "zoo_model"),
                  self.assertRaises(KeyboardInterrupt)):
                pretrain.tune(pretrain.Run("net", 1, 24, 5), pathlib.Path(folder) / "db")
            self.assertFalse(pathlib.Path(f"/proc/{mark.read_text().strip()}").exists())


if __name__ == "__main__":
    unittest.main()
