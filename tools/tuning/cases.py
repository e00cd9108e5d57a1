"""The cases that are run: each experiment is a list of cases, and a case that several experiments share is run once."""
import math
from dataclasses import asdict, dataclass, replace

STRATEGIES = ("annealing", "genetic", "evolutionary", "grid", "random")
NETWORKS = ("resnet18", "mobilenet_v2", "squeezenet1_1", "bert_base_128")
PAIRS = (("resnet50", "resnet18"), ("mobilenet_v2", "efficientnet_b0"))  # first, second
DEPLOYED = ("resnet50", "resnet18", "mobilenet_v2", "efficientnet_b0", "ssd_mobilenet_v2", "bert_base_128")
DEPLOYED_THREADS = (1, 2)
SEEDS = 3
COMPARED, COMPARED_SEEDS = ("annealing", "random"), 7  # the page says whether one of these strategies is better
TRIALS, DEPLOYED_TRIALS = 400, 3000
SEARCH_FLAGS = ("--no-defaults", "--batch", 8, "--candidate-seconds", 0.1)
LONG_NETWORK, LONG_TRIALS = "resnet50", 50000  # more trials than the time allows
LONG_TIME = "2h"
COLD_TIME, TAUGHT_TIME = "10m", "3m"  # runs with less time that should have most of its gain

SHORT_NETWORKS = ("mobilenet_v2", "efficientnet_b0")
SHORT_TRIALS = 200
SHORT_TIME = "120s"  # of a run: 22 runs take less than an hour
SHORT_SOON_TIME = "60s"


@dataclass(frozen=True)
class TuneCase:
    """One run of the tuner, in a database of its own."""
    network: str
    trials: int
    strategy: str = "annealing"
    seed: int = 0
    threads: int = 1
    # The cost model at the start: "none"; "pretrained" on other networks; "shipped" with the program.
    cost_model: str = "none"
    transfer: bool = True  # from similar tasks, and from earlier records
    after: str = ""  # an earlier network, tuned in the same way, whose records this run has
    time: str = ""  # the longest time that it may take
    layouts: bool = False  # whether layouts are chosen again in the end
    searches: bool = False  # whether only the search counts: without the analytic defaults
    patient: bool = False  # whether it continues when no more gain is expected

    @property
    def key(self):
        """Such as resnet18-1t-annealing-500-s0-after-resnet50: its name in the results and of its database."""
        parts = [self.network, f"{self.threads}t", self.strategy, str(self.trials), f"s{self.seed}"]
        parts += [self.cost_model] if self.cost_model != "none" else []
        parts += ["no-transfer"] if not self.transfer else []
        parts += [f"after-{self.after}"] if self.after else []
        parts += ["search"] if self.searches else []
        parts += ["patient"] if self.patient else []
        return "-".join([*parts, self.time] if self.time else parts)

    @property
    def longest(self):
        """The most seconds that it may take."""
        return int(self.time[:-1]) * {"s": 1, "m": 60, "h": 3600}[self.time[-1]] if self.time else math.inf

    @property
    def first(self):
        """The run whose records this one starts with."""
        return replace(self, network=self.after, after="")

    @property
    def flags(self):
        """The tuner's flags, except for files."""
        flags = ["--threads", self.threads, "--strategy", self.strategy, "--trials", self.trials, "--seed", self.seed]
        if not self.transfer:
            flags += ["--no-transfer-runs", "--no-transfer-tasks"]
        if not self.layouts:
            flags.append("--no-layouts")
        if self.searches:
            flags += SEARCH_FLAGS
        if self.patient:
            flags += ["--patience", 0]
        return [*flags, "--time", self.time] if self.time else flags

    @property
    def title(self):
        parts = [self.network, self.strategy, f"seed {self.seed}", f"threads: {self.threads}"]
        parts += [f"cost model: {self.cost_model}"] if self.cost_model != "none" else []
        parts += ["nothing transferred"] if not self.transfer else []
        return ", ".join([*parts, f"after {self.after}"] if self.after else parts)


@dataclass(frozen=True)
class ComparedCase:
    """The result of a run of the tuner, measured interleaved with the untuned network."""
    tune: TuneCase
    baseline: str = ""  # the digest of another program, whose artifact takes turns too

    @property
    def suffix(self):
        return f"-baseline-{self.baseline}" if self.baseline else ""

    @property
    def network(self):
        return self.tune.network

    @property
    def threads(self):
        return self.tune.threads


@dataclass(frozen=True)
class DeployCase(ComparedCase):
    """A network tuned as users would tune it."""

    @property
    def key(self):
        return f"deployed-{self.tune.key}{self.suffix}"

    @property
    def title(self):
        return f"{self.tune.title}, deployed"

    @property
    def trials(self):
        return self.tune.trials


@dataclass(frozen=True)
class RecallCase(ComparedCase):
    """A network compiled with the records of a run, interleaved with networks from the records of shorter runs."""
    sooner: tuple[TuneCase, ...] = ()
    trials = 0

    @property
    def key(self):
        compared = "".join(f"-{case.cost_model}-{case.time}" for case in self.sooner)
        return f"recalled-{self.tune.key}{compared}{self.suffix}"

    @property
    def title(self):
        return f"{self.tune.title}, its records recalled"


def tuning_of(case):
    """The tuner run that the case is, or whose result it measures."""
    return case if isinstance(case, TuneCase) else case.tune


def tunings_of(case):
    """All tuner runs whose results the case measures."""
    return [tuning_of(case), *(case.sooner if isinstance(case, RecallCase) else [])]


def networks_of(case):
    """The networks whose models the case needs."""
    own = tuning_of(case)
    return [own.network, own.after] if own.after else [own.network]


def needs_pretraining(case):
    """Whether the case needs a cost model that has learned from other networks."""
    return any(run.cost_model == "pretrained" for run in tunings_of(case))


def described(case):
    """The case's fields for the results."""
    return asdict(tuning_of(case))


@dataclass(frozen=True)
class Plan:
    """The size of the experiments."""
    networks: tuple[str, ...] = NETWORKS
    deployed: tuple[str, ...] = DEPLOYED
    pairs: tuple[tuple[str, str], ...] = PAIRS
    seeds: int = SEEDS
    compared_seeds: int = 0  # for COMPARED, if larger
    trials: int = TRIALS
    deployed_trials: int = DEPLOYED_TRIALS
    time: str = ""
    baseline: str = ""  # the digest of a program
    long_network: str = LONG_NETWORK
    long_time: str = LONG_TIME
    cold_time: str = COLD_TIME
    taught_time: str = TAUGHT_TIME

    def _search(self, network, seed, **fields):
        return TuneCase(network, self.trials, seed=seed, time=self.time, searches=True, **fields)

    # The outer loop is over seeds, and compared runs follow each other: if the machine changes its speed over hours,
    # all are affected alike.
    def strategies(self):
        return [self._search(network, seed, strategy=strategy)
                for seed in range(max(self.seeds, self.compared_seeds)) for network in self.networks
                for strategy in (STRATEGIES if seed < self.seeds else COMPARED)]

    def transfer(self):
        cases = []
        for seed in range(self.seeds):
            for first, second in self.pairs:
                cold = self._search(second, seed)
                after = replace(cold, after=first)
                cases += [after.first, replace(cold, transfer=False), cold, after]
        return cases

    def pretrained(self):
        return [self._search(network, seed, cost_model=model)
                for seed in range(self.seeds) for network in self.networks for model in ("none", "pretrained")]

    def deployment(self):
        tuned = [TuneCase(network, self.deployed_trials, threads=threads, cost_model="shipped", time=self.time,
                          layouts=True)
                 for network in self.deployed for threads in DEPLOYED_THREADS]
        return [DeployCase(case, self.baseline) for case in tuned]

    def soon(self):
        long = TuneCase(self.long_network, LONG_TRIALS, time=self.long_time, patient=True)
        sooner = (replace(long, time=self.cold_time), replace(long, cost_model="pretrained", time=self.taught_time))
        return [long, *sooner, RecallCase(long, self.baseline, sooner)]


@dataclass(frozen=True)
class Experiment:
    title: str
    cases: object  # function from a Plan


EXPERIMENTS = {
    1: Experiment("Search strategies", Plan.strategies),
    2: Experiment("A second network after a first", Plan.transfer),
    3: Experiment("A cost model that has learned before", Plan.pretrained),
    4: Experiment("What the cost model predicts", Plan.pretrained),
    5: Experiment("Where the time goes", Plan.strategies),
    6: Experiment("Tuned and untuned", Plan.deployment),
    7: Experiment("How soon most of it is there", Plan.soon),
}


def all_cases(numbers, plan):
    """{number: its cases}, and all cases in the order in which they are run, each once."""
    chosen = {number: EXPERIMENTS[number].cases(plan) for number in numbers}
    return chosen, list({case.key: case for cases in chosen.values() for case in cases}.values())
