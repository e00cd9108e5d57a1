#!/usr/bin/env python3
"""Tests of what tools/tuning runs: its cases, their databases, and how it continues after an interruption."""
import contextlib
import json
import math
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

from common.models import zoo
from common.program import Failed
from common.results import write
from sample import entry_of, report_of, sample
from tuning import cases, experiments, lab, options, pretrain
from tuning import results as ask
from tuning.cases import DeployCase, Plan, RecallCase, TuneCase


class Cases(unittest.TestCase):
    def test_keys_tell_cases_apart(self):
        for plan in (Plan(), Plan(time="10s"), Plan(baseline="1234abcd")):
            _, everything = cases.all_cases(cases.EXPERIMENTS, plan)
            self.assertEqual(len({case.key for case in everything}), len(set(everything)))

    def test_what_experiments_share_is_run_once(self):
        chosen, everything = cases.all_cases([1, 2, 3, 4, 5], Plan())
        self.assertEqual(len(chosen[1]), 5 * 4 * 3)
        self.assertEqual(chosen[3], chosen[4])
        # In addition to the strategies: for transfer, four runs of each pair (two of them are among the strategies'
        # runs), and the pretrained models.
        self.assertEqual(len(everything), 60 + 3 * (2 * 4 - 2) + 3 * 4)

    def test_a_first_network_comes_before_the_second(self):
        chosen, everything = cases.all_cases([2, 1], Plan(seeds=2))
        for case in (case for case in chosen[2] if case.after):
            self.assertLess(everything.index(case.first), everything.index(case))
            self.assertEqual((case.first.network, case.first.seed), (case.after, case.seed))

    def test_short_is_as_many_runs_as_it_says(self):
        plan = options.plan(options.parser().parse_args(["--short"]))
        self.assertEqual(len(cases.all_cases(cases.EXPERIMENTS, plan)[1]), 22)
        self.assertEqual((plan.time, plan.trials, plan.deployed_trials), (cases.SHORT_TIME, 200, 200))
        fewer = options.plan(options.parser().parse_args(["--short", "--trials", "50"]))
        self.assertEqual((fewer.networks, fewer.trials, fewer.deployed_trials), (cases.SHORT_NETWORKS, 50, 50))

    def test_flags(self):
        case = TuneCase("net", 100, seed=2, transfer=False, time="9s")
        self.assertEqual(" ".join(map(str, case.flags)),
                         "--threads 1 --strategy annealing --trials 100 --seed 2 --no-transfer-runs "
                         "--no-transfer-tasks --no-layouts --time 9s")
        self.assertEqual(DeployCase(case, "1234abcd").key, f"deployed-{case.key}-baseline-1234abcd")
        self.assertEqual([TuneCase("net", 1, time=time).longest for time in ("9s", "10m", "2h", "")],
                         [9, 600, 7200, math.inf])


class Resuming(unittest.TestCase):
    class Lab:
        def __init__(self, broken=()):
            self.ran, self.broken = [], broken

        def run(self, case):
            self.ran.append(case.key)
            if case.network in self.broken:
                raise Failed("tired")
            if case.network == "interrupted":
                raise KeyboardInterrupt
            return entry_of(case, 8.0)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "new/results.json"
        output = mock.patch.object(experiments, "progress")
        self.progress = output.start()
        self.addCleanup(output.stop)

    def run_cases(self, names, results, **options):
        fake = self.Lab(**options)
        failures = experiments.run_cases([TuneCase(name, 40) for name in names], results, self.path, fake)
        return fake.ran, failures

    def test_what_is_complete_is_not_run_again(self):
        results = ask.document()
        with self.assertRaises(KeyboardInterrupt):
            self.run_cases(["a", "b", "interrupted", "c"], results)
        written = ask.read(self.path, self.path.parent)
        self.assertEqual(written, json.loads(json.dumps(results)))
        ran, failures = self.run_cases(["a", "b", "c"], written)
        self.assertEqual((ran, failures), ([TuneCase("c", 40).key], {}))

    def test_what_fails_is_tried_again(self):
        results = ask.document()
        ran, failures = self.run_cases(["a", "b", "c"], results, broken=("b",))
        self.assertEqual((len(ran), list(failures.values())), (3, ["tired"]))
        self.assertEqual(self.run_cases(["a", "b", "c"], results)[0], [TuneCase("b", 40).key])

    def test_records_are_collected_where_a_run_to_be_made_needs_them(self):
        plain, needing = TuneCase("net", 40), TuneCase("net", 40, cost_model="pretrained")
        args = mock.Mock(collection=pretrain.SHORT, database="records")
        given = mock.Mock(collection=None)
        complete = {**ask.document(), "cases": {needing.key: {}}}
        with mock.patch.object(pretrain, "collect") as collect:
            for arguments in ((args, [plain], ask.document()), (args, [plain, needing], complete),
                              (given, [needing], ask.document())):
                self.assertEqual(experiments.collect_records(*arguments), {})
            collect.assert_not_called()
            self.assertEqual(experiments.collect_records(args, [plain, needing], ask.document()), {})
            collect.assert_called_once_with(pretrain.SHORT, "records")
            collect.side_effect = Failed("tired")
            self.assertEqual(list(experiments.collect_records(args, [needing], ask.document()).values()), ["tired"])

    def test_time_left_is_that_of_like_cases(self):
        results = {"cases": {}}
        guess = experiments.seconds_of(TuneCase("a", 100), results)
        self.assertAlmostEqual(guess, experiments.SECONDS_OF_CASE + 100 * experiments.SECONDS_OF_TRIAL)
        results["cases"] = {name: {**entry_of(TuneCase(name, 40), 8.0), "wall_s": seconds}
                            for name, seconds in (("a", 40), ("b", 80))}
        self.assertEqual([experiments.seconds_of(TuneCase(name, 20), results) for name in "abc"], [20, 40, 30])
        self.assertEqual(experiments.seconds_of(TuneCase("a", 20, time="5s"), results), 5)

    def test_results_of_another_machine_are_refused(self):
        results = ask.document()
        results["machine"]["cpu_model"] += 1
        write(self.path, results)
        with self.assertRaisesRegex(ValueError, "of another machine"):
            ask.read(self.path, self.path.parent)
        self.path.write_text("{")
        with self.assertRaisesRegex(ValueError, "is damaged"):
            ask.read(self.path, self.path.parent)

    def test_what_this_machine_has_published_is_where_work_goes_on(self):
        here, elsewhere = ask.document(), ask.document()
        elsewhere["machine"]["cpu_model"] += 1
        folder = self.path.parent / "published"
        for number, results, name in ((1, here, "a"), (2, elsewhere, "b")):
            results["experiments"] = {str(number): {"command": "", "cases": [name]}}
            results["cases"] = {name: entry_of(TuneCase(name, 40), 8.0)}
            ask.publish(ask.split(results), folder)
        self.assertEqual(sorted(ask.published(folder)), [1, 2])
        self.assertEqual(list(ask.read(self.path, folder)["cases"]), ["a"])

    def publish(self, folder, number, date, ms):
        """Publishes a run of this date with one case of an experiment."""
        results = {**ask.document(), "experiments": {number: {"command": "", "cases": ["a"]}},
                   "cases": {"a": {**entry_of(TuneCase("a", 40), ms), "date": date}}}
        ask.publish(ask.split(results), folder)

    def test_a_run_is_published_in_parts(self):
        folder = self.path.parent / "published"
        for number in ("1", "5"):
            self.publish(folder, number, "2020-01-02", 8.0)
        self.assertNotIn("stage_seconds", ask.published(folder)[1]["cases"]["a"])
        self.assertNotIn("curve", ask.published(folder)[5]["cases"]["a"])
        found = ask.read(self.path, folder)
        self.assertTrue(ask.is_complete(found, "a"))
        self.assertEqual(ask.split(found), ask.published(folder))

    def test_parts_of_two_runs_are_not_taken_for_one(self):
        folder = self.path.parent / "published"
        self.publish(folder, "1", "2020-01-02", 8.0)
        self.publish(folder, "5", "2020-01-03", 7.0)
        found = ask.read(self.path, folder)
        self.assertEqual(found["cases"]["a"]["date"], "2020-01-03")
        self.assertFalse(ask.is_complete(found, "a"))
        self.assertEqual((ask.missing(found, 1), ask.missing(found, 5)), (1, 0))


class TheLab(unittest.TestCase):
    """A lab with a tuner that writes the number of its call into its database."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.calls = []
        self.is_stopped = False
        for patch in (mock.patch.object(lab, "attune_json", self.tune),
                      mock.patch.object(zoo, "model", lambda network: f"{network}.onnx")):
            patch.start()
            self.addCleanup(patch.stop)
        self.lab = lab.Lab(self.folder, None, None)

    def tune(self, *arguments):
        self.calls.append(arguments)
        with contextlib.closing(sqlite3.connect(arguments[-1])) as database:
            database.execute("create table if not exists records (n)")
            database.execute("insert into records values (?)", (len(self.calls),))
            database.commit()
        return {**report_of(8.0), "stopped": self.is_stopped}

    def records(self, case):
        with contextlib.closing(sqlite3.connect(self.folder / f"records/{case.key}.db")) as database:
            return [row[0] for row in database.execute("select n from records")]

    def test_a_run_begins_with_nothing(self):
        case = TuneCase("net", 40)
        self.lab.run(case)
        entry = self.lab.run(case)
        self.assertEqual(self.records(case), [2])
        self.assertEqual((entry["case"]["network"], entry["tasks"], entry["known_tasks"], entry["kernels_untuned_ms"]),
                         ("net", 2, 1, 8.0))
        self.assertEqual(self.calls[0][:2], ("tune", "net.onnx"))
        self.assertIn("--cost-model", self.calls[0])

    def test_a_run_that_was_told_to_end_is_no_result(self):
        self.is_stopped = True
        with self.assertRaisesRegex(Failed, "told to end"):
            self.lab.run(TuneCase("net", 40))
        self.assertFalse((self.folder / f"records/{TuneCase('net', 40).key}.db").exists())

    def test_what_is_forgotten_has_left_nothing(self):
        case = TuneCase("net", 40)
        results = {"cases": {case.key: self.lab.run(case), "another": {}}}
        experiments.forget([case, TuneCase("never", 40)], results, self.lab)
        self.assertEqual(results["cases"], {"another": {}})
        self.assertEqual(list((self.folder / "records").iterdir()), [])

    def test_a_second_network_begins_with_a_copy_of_the_first_ones_records(self):
        case = TuneCase("second", 40, after="first")
        self.lab.run(case)
        self.lab.run(case)
        self.assertEqual([call[1] for call in self.calls], ["first.onnx", "second.onnx", "second.onnx"])
        self.assertEqual((self.records(case.first), self.records(case)), ([1], [1, 3]))

    def deploy(self, baseline_cpu):
        """Runs a case with a baseline that compiles only for another processor. Returns the entry and the flags of its
        compilations."""
        flags = []

        def compile_network(*arguments, program):
            if program == "old":
                flags.append(arguments[arguments.index("--threads") + 2:-2])
                if not flags[-1]:
                    raise Failed("cannot")
        with (mock.patch.object(lab, "attune", compile_network),
              mock.patch.object(lab, "attune_json", self.tune),
              mock.patch.object(lab, "compare_in_turns", lambda contestants, *_: (
                  {name: [[0.5 if name == "rooflines" else 1.0]] * 15 for name in contestants}, 30))):
            return lab.Lab(self.folder, None, "old", baseline_cpu).run(DeployCase(TuneCase("net", 40), "1234abcd")), flags

    def test_a_baseline_that_fails_for_this_processor_is_compiled_for_another(self):
        (self.folder / "artifacts").mkdir()
        entry, flags = self.deploy("znver4")
        self.assertEqual(flags, [(), ("--cpu", "znver4")])
        self.assertEqual((entry["baseline_cpu"], entry["gap"], entry["trials"]), ("znver4", 0.5, 40))
        self.assertEqual(set(entry["speedups"]), {"untuned", "baseline"})
        self.assertEqual((entry["rounds"], entry["rounds_counted"]), (30, 15))
        with self.assertRaisesRegex(Failed, "cannot"):
            self.deploy(None)

    def test_what_each_run_has_left_takes_its_turns(self):
        case = RecallCase(TuneCase("net", 40, time="2h"), sooner=(TuneCase("net", 40, time="10m"),))
        (self.folder / "artifacts").mkdir()
        records = {}

        def compile_network(*arguments, program):
            flags = dict(zip(arguments[2::2], arguments[3::2]))
            records[flags["-o"].stem] = flags.get("--records")
        with (mock.patch.object(lab, "attune", compile_network),
              mock.patch.object(lab, "compare_in_turns", lambda contestants, *_: (
                  {name: [[{"untuned": 2.0, "tuned": 1.0}.get(name, 1.25)]] * 15 for name in contestants}, 30))):
            entry = self.lab.run(case)
        sooner = case.sooner[0].key
        self.assertEqual({name: path and path.stem for name, path in records.items()},
                         {"untuned": None, "tuned": case.tune.key, sooner: sooner})
        self.assertEqual((set(entry["speedups"]), set(entry["sooner"])), ({"untuned"}, {sooner}))
        self.assertEqual(entry["sooner"][sooner]["shares"]["untuned"], (0.75, 0.75, 0.75))


class CommandLines(unittest.TestCase):
    def test_what_is_compared_has_more_seeds_unless_their_number_is_given(self):
        def seeds(*arguments):
            plan = options.plan(options.parser().parse_args(arguments))
            return [sum(case.strategy == strategy and case.network == "mobilenet_v2" for case in plan.strategies())
                    for strategy in ("annealing", "genetic")]
        self.assertEqual(seeds(), [cases.COMPARED_SEEDS, cases.SEEDS])
        self.assertEqual(seeds("--seeds", "4"), [4, 4])
        self.assertEqual(seeds("--short"), [1, 1])

    def test_the_recorded_command_is_of_one_experiment(self):
        args = options.parser().parse_args(
            ["--only", "1,2,6", "--output=/x", "--trials", "30", "--write-docs", "--pairs", "a:b,c:d", "--networks=a,b",
             "--baseline", "/old/attune", "--baseline-cpu", "znver4", "--seeds", "2"])
        self.assertEqual([experiments.command_of(args, number) for number in (1, 2, 6)],
                         ["./do experiments --only 1 --trials 30 --seeds 2 --networks a,b",
                          "./do experiments --only 2 --trials 30 --seeds 2 --pairs a:b,c:d",
                          "./do experiments --only 6 --trials 30 --networks a,b --baseline attune --baseline-cpu "
                          "znver4"])
        short = options.parser().parse_args(["--short"])
        self.assertEqual(experiments.command_of(short, 3), "./do experiments --only 3 --short")
        given = options.parser().parse_args(["--records", "/some/quick.db"])
        self.assertEqual([experiments.command_of(given, number) for number in (1, 7)],
                         ["./do experiments --only 1", "./do experiments --only 7 --records quick.db"])

    def run_tool(self, name, *arguments):
        return subprocess.run([sys.executable, "-m", f"tuning.{name}", *arguments], capture_output=True, text=True,
                              check=False)

    def test_bad_usage_is_one_sentence(self):
        wrong = {"experiments": ("--only 8", "--only 1 --seeds 0", "--what", "--only 1 --networks resnet51",
                                 "--pairs resnet50", "--records /none", "--baseline /none",
                                 "--baseline-cpu znver4"),
                 "pretrain": ("--networks resnet51", "--threads 0", "--without x", "--learn-only --records /none")}
        for name, texts in wrong.items():
            for text in texts:
                result = self.run_tool(name, *text.split())
                self.assertEqual(result.returncode, 2, (name, text))
                self.assertRegex(result.stderr, rf"\A{name}: .+\n\Z", (name, text))

    def test_the_report_is_made_of_complete_results_again(self):
        plan = Plan(networks=("mobilenet_v2", "resnet18"), seeds=2, trials=40)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            results = {**ask.document(), "cases": sample(plan)["cases"]}
            write(folder / "results.json", results)
            result = self.run_tool("experiments", "--only", "1,5", "--networks", "mobilenet_v2,resnet18", "--seeds",
                                   "2", "--trials", "40", "--output", name)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("20 runs, 20 of them complete", result.stderr)
            text = (folder / "tuning.md").read_text()
            self.assertIn("## Search strategies", text)
            self.assertNotIn("## Tuned and untuned", text)
            self.assertEqual({path.name for path in (folder / "tuning").iterdir()}, {"strategies.svg", "stages.svg"})


if __name__ == "__main__":
    unittest.main()
