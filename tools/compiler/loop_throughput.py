"""Prints llvm-mca's view of the loops that multiply: how many products they start in a cycle, and what they wait for.

    python3 -m compiler.loop_throughput [--cpu CPU] [--precision PRECISION] NETWORK ...

NETWORK is a name of the zoo or a model file. It is compiled for CPU (default: sapphirerapids), which need not be this
machine's. For each innermost loop with products (fused multiply-adds, dot products, products of tiles) there is a line with
the products in one round, the cycles that a round takes by LLVM's model of the processor if all operands are in L1, the
cycles that the products alone would take, the share of the second in the first, and the loop's kernel. Cycles of loads that
miss L1 are not in it: `attune profile` has them."""
import argparse
import json
import pathlib
import re
import subprocess
import tempfile

from common.program import Failed, attune, model_file

PRODUCT = re.compile(r"\s(vfn?m(?:add|sub)\d{3}ps|vpdp\w+|vdpbf16ps|vpmaddwd|tdp\w+)\s")
LABEL = re.compile(r"^(\.LBB\w+):")
JUMP = re.compile(r"^\sj\w+\s+(\.LBB\w+)")
ITERATIONS = 200
MCA = "llvm-mca-19"


def loops(assembly):
    """(label, lines) for each loop without a label inside: an innermost loop with a single block."""
    label, lines = None, []
    for line in assembly.splitlines():
        if found := LABEL.match(line):
            label, lines = found[1], []
        elif label:
            lines.append(line)
            jump = JUMP.match(line)
            if jump and jump[1] == label:
                yield label, lines
            if jump and line.lstrip().startswith("jmp"):
                label = None


def cycles(lines, cpu):
    """The cycles of one round, by llvm-mca."""
    command = [MCA, f"-mcpu={cpu}", f"--iterations={ITERATIONS}", "--json", "--skip-unsupported-instructions=parse-failure"]
    result = subprocess.run(command, input="\n".join(lines), capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise Failed(f"{MCA}: {result.stderr.strip().splitlines()[0]}")
    summary = json.loads(result.stdout)["CodeRegions"][0]["SummaryView"]
    return summary["TotalCycles"] / ITERATIONS


def judge(assembly, cpu):
    """(products, cycles, cycles of the products alone, label) for each loop with at least two products."""
    for label, lines in loops(assembly):
        products = [line for line in lines if PRODUCT.search(line + " ")]
        if len(products) < 2:
            continue
        # As many products, on registers without dependencies.
        operation = PRODUCT.search(products[0] + " ")[1]
        register = "tmm" if operation.startswith("tdp") else "zmm" if "zmm" in products[0] else "ymm"
        sums = 4 if register == "tmm" else 12
        alone = [f"\t{operation}\t%{register}{sums + 1}, %{register}{sums + 2}, %{register}{i % sums}"
                 for i in range(len(products) * sums)]
        yield len(products), cycles(lines, cpu), cycles(alone, cpu) / sums, label


def judge_network(network, cpu, precision):
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        attune("compile", model_file(network, folder), "-o", folder / "network.atn", "--cpu", cpu,
               "--precision", precision, "--dump", folder / "dump")
        for path in sorted((folder / "dump").glob("*.s")):
            for products, taken, bound, label in judge(path.read_text(), cpu):
                yield bound / taken, products, taken, bound, f"{path.stem} {label}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu", default="sapphirerapids")
    parser.add_argument("--precision", default="fp32", help="as attune compile has it")
    parser.add_argument("networks", nargs="+", metavar="NETWORK")
    arguments = parser.parse_args()
    for network in arguments.networks:
        print(f"{network}\nproducts  cycles  products alone   share  loop")
        for share, products, taken, bound, loop in sorted(judge_network(network, arguments.cpu, arguments.precision)):
            print(f"{products:8}  {taken:6.1f}  {bound:14.1f}  {share:6.1%}  {loop}")


if __name__ == "__main__":
    try:
        main()
    except (Failed, FileNotFoundError) as error:
        raise SystemExit(f"loop_throughput: {error}") from error
