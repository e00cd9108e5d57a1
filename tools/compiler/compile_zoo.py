"""Compiles networks of the zoo for processors that need not be at hand.

Every verifier runs: of the graph after each pass, of the memory plan, of loop nests and of LLVM's code. By default all
networks at full size for all processors that `attune compile --cpu` knows; in bf16 too where the processor has it.
"""
import argparse
import pathlib
import re
import sys
import tempfile

from common.program import Failed, attune, attune_json

# One processor for each set of instructions: AVX2, AVX-VNNI, AVX-512, and then also VNNI, BF16 and AMX.
LEVELS = ["x86-64-v3", "arrowlake", "x86-64-v4", "cascadelake", "cooperlake", "sapphirerapids"]

# Networks with more weights than this are large; a small one has a quarter of the width.
LARGE_BYTES, SMALL_WIDTH = 50e6, 0.25


def processors():
    """The names that --cpu takes."""
    return re.search(r"--cpu TEXT .*: ((?:[\w-]+, )+[\w-]+) \(", attune("compile", "--help"))[1].split(", ")


def zoo():
    return {entry["name"]: entry for entry in attune_json("zoo")["networks"]}


def write_network(name, folder, small=False):
    """Writes the network into the folder; a large network gets a smaller width if `small`."""
    large = 4 * zoo()[name]["parameters"] > LARGE_BYTES
    model = pathlib.Path(folder) / f"{name}.onnx"
    attune("zoo", name, "-o", model, *(["--width", SMALL_WIDTH] if small and large else []))
    return model


def compile_network(model, cpu):
    """Compiles for a processor, in each precision that the processor has and that needs no data, and yields one line
    for each. Raises Failed unless a failure is a known refusal."""
    for precision in ["fp32", "bf16"]:
        artifact = model.with_suffix(".atn")
        try:
            attune("compile", model, "--cpu", cpu, "--precision", precision, "-o", artifact)
        except Failed as error:
            if precision == "fp32" or "has no avx512_bf16" not in str(error):
                raise
            continue
        yield f"{model.stem} {cpu} {precision}: {artifact.stat().st_size / 1e6:.1f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help="(default: all)")
    parser.add_argument("--cpu", nargs="+", help="(default: all names)")
    parser.add_argument("--small", action="store_true", help=f"networks over {LARGE_BYTES / 1e6:.0f} MB at "
                        f"{SMALL_WIDTH:g} of their width")
    arguments = parser.parse_args()
    failures = 0
    for network in arguments.networks or zoo():
        with tempfile.TemporaryDirectory() as folder:
            model = write_network(network, folder, arguments.small)
            for cpu in arguments.cpu or processors():
                try:
                    for line in compile_network(model, cpu):
                        print(line, flush=True)
                except Failed as error:
                    failures += 1
                    print(f"{network} {cpu}: FAILED: {error}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
