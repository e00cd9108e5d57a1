"""Measures the cost and gain of a fleet on this machine.

    python3 -m figures.fleet_figures FIGURE [--write FILE]

replay [--trials N] NETWORK...  a recorded run is replayed here, and on this machine's agent: whether both try the same
                                candidates, how their times differ, and their trials a second
devices [--trials N]            one job on one mock device, and on two
processors [--trials N]         the same on processors of this machine
lost                            how soon work of a device that stands still is on another one
load [--agents N] [--minutes M] so many agents with mock devices: the server's share of a core and its memory, and how
                                soon all are back after it was killed

Leave the machine alone meanwhile. --write FILE keeps the figures.
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

from common.fleet_members import KEY, Fleet, Member
from common.program import PROGRAM, Failed, cpu_name, model_file
from figures.replay_tuning import tune

ITEM_S = 0.1  # that a mock device takes for an item where devices are compared
LEASE_S = 15


def ratios(events):
    """{(task, candidate): its measured ratio to the baseline} of a run."""
    found = {}
    for line in events.read_text().splitlines():
        event = json.loads(line)
        if event["event"] == "measurement" and event.get("measured_ratio", 0) > 0:
            found.setdefault((event["task"], event["candidate"]), event["measured_ratio"])
    return found


def replay(options, folder):
    """Replays a run of each network here and on an agent."""
    figures = {}
    with Fleet(folder, PROGRAM, LEASE_S) as fleet:
        fleet.add_agent("agent", "here")
        for network in options.networks:
            model = model_file(network, folder)
            _, _, recording = tune(PROGRAM, model, folder, "recorded", options.trials)
            here, tried_here, own = tune(PROGRAM, model, folder, "here", options.trials, recording)
            there, tried_there, others = tune(PROGRAM, model, folder, "there", options.trials, recording,
                                              ("--on", "here"))
            ratios_here, ratios_there = ratios(own), ratios(others)
            differences = [ratios_there[key] / ratios_here[key] for key in ratios_here if key in ratios_there]
            rates = [report["trials"] / report["seconds"] for report in (here, there)]
            figures[network] = {"candidates": len(tried_here), "are_same": tried_here == tried_there,
                                "median_difference": statistics.median(abs(ratio - 1) for ratio in differences),
                                "median_ratio": statistics.median(differences), "trials_per_second": rates}
            print(f"{network}: {len(tried_here)} candidates, {'the same' if tried_here == tried_there else 'others'}; "
                  f"ratios to the baseline differ by {100 * statistics.median(abs(r - 1) for r in differences):.2f} % in "
                  f"the median, {100 * (statistics.median(differences) - 1):+.2f} % on the whole; trials a second "
                  f"{rates[0]:.2f} here, {rates[1]:.2f} there ({rates[1] / rates[0]:.2f} times)", flush=True)
    return figures


def on_one_and_two(options, folder, add_device):
    """Measures the same job on one device and on two. `add_device(fleet, number)` adds the device of this number."""
    model, seconds = model_file("squeezenet1_1", folder), []
    with Fleet(folder, PROGRAM, LEASE_S) as fleet:
        for number in (1, 2):
            add_device(fleet, number)
            report, _, _ = tune(PROGRAM, model, folder, f"on{number}", options.trials, None, ("--on", KEY))
            measuring = sum(value for stage, value in report["stage_seconds"].items() if stage in ("check", "time"))
            seconds.append(measuring)
    print(f"measuring {options.trials} trials takes {seconds[0]:.1f} s on one device and {seconds[1]:.1f} s on two: "
          f"{seconds[0] / seconds[1]:.2f} times sooner")
    return {"trials": options.trials, "measuring_seconds": seconds}


def devices(options, folder):
    """On mock devices."""
    return on_one_and_two(options, folder,
                          lambda fleet, number: fleet.add_mocks(f"agent{number}", options.mocks, ITEM_S))


def processors(options, folder):
    """On two processors of this machine, each of which is a device."""
    own = sorted(os.sched_getaffinity(0))
    if len(own) < 2:
        raise Failed("this machine has one processor")
    return on_one_and_two(options, folder,
                          lambda fleet, number: fleet.add_agent(f"agent{number}", KEY, own[number - 1]))


def held(fleet, agent):
    """Returns whether a client holds the device of this agent, by its id."""
    return any(device["held_by"] for device in fleet.devices() if device["id"].startswith(agent + "/"))


def await_that(condition):
    """Waits until the condition holds; returns after how many seconds it does."""
    began = time.monotonic()
    while not condition():
        time.sleep(0.05)
    return time.monotonic() - began


def lost(options, folder):
    """Stops the one agent that has work, and waits until another one has it."""
    model = model_file("squeezenet1_1", folder)
    with Fleet(folder, PROGRAM, LEASE_S) as fleet:
        fleet.add_mocks("first", options.mocks, ITEM_S)
        first = fleet.devices()[0]["id"].split("/")[0]
        fleet.members["client"] = Member([PROGRAM, "tune", model, "--on", KEY, "--records", folder / "lost.db",
                                          "--trials", options.trials], folder / "client.log")
        await_that(lambda: held(fleet, first))
        fleet.add_mocks("second", options.mocks, ITEM_S)
        second = next(id for device in fleet.devices() if (id := device["id"].split("/")[0]) != first)
        seconds = None
        while seconds is None:
            await_that(lambda: held(fleet, first))
            with fleet.members["first"].stopped():
                began = time.monotonic()
                time.sleep(1)
                # Its last result may have been on the way.
                if held(fleet, first):
                    await_that(lambda: not held(fleet, first))
                    await_that(lambda: held(fleet, second))
                    seconds = time.monotonic() - began
    print(f"work of a device that stands still is on another one after {seconds:.1f} s, with leases of {LEASE_S} s")
    return {"lease_seconds": LEASE_S, "seconds": seconds}


def processor_seconds(pid):
    """The processor time that a process has used."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib(pid):
    """The most resident memory that a process has had."""
    line = next(line for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


def load(options, folder):
    """Lets many agents be there for a while, and kills the server in the end."""
    with Fleet(folder, PROGRAM, LEASE_S) as fleet:
        fleet.add_mocks("agents", options.mocks, ITEM_S, options.agents)
        server = fleet.members["server"]
        used, began = processor_seconds(server.pid()), time.monotonic()
        time.sleep(60 * options.minutes)
        share = (processor_seconds(server.pid()) - used) / (time.monotonic() - began)
        memory = peak_mib(server.pid())
        server.kill()
        server.start()
        began = time.monotonic()
        while True:
            try:
                if len(fleet.devices()) == options.agents:
                    break
            except Failed:
                pass
            time.sleep(0.2)
        back = time.monotonic() - began
    print(f"{options.agents} agents for {options.minutes:g} minutes: the server uses {100 * share:.1f} % of a core and "
          f"{memory:.0f} MiB; after it was killed all are back within {back:.1f} s")
    return {"agents": options.agents, "minutes": options.minutes, "core_share": share, "mib": memory, "back_seconds": back}


FIGURES = {"replay": replay, "devices": devices, "processors": processors, "lost": lost, "load": load}


def parse():
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--agents", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--mocks", type=pathlib.Path, default=PROGRAM.parent / "mock_agents",
                        help="the program of agents with mock devices")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE")
    return parser.parse_args()


def main():
    options = parse()
    with tempfile.TemporaryDirectory() as name:
        figures = FIGURES[options.figure](options, pathlib.Path(name))
    if options.write:
        kept = json.loads(options.write.read_text()) if options.write.exists() else {}
        kept[options.figure] = {"cpu": cpu_name(), "date": datetime.date.today().isoformat(), **figures}
        options.write.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except Failed as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {error}")
