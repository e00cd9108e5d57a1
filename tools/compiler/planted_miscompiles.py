"""Plants faults in the compiler and shows that random graphs find them.

    python3 -m compiler.planted_miscompiles [--seconds 180] [--only NAME ...] [--list]

Each fault is a line of a pass, of planning, lowering or code generation that is changed as a slip would change
it. The sources are those of HEAD, in a work tree of their own below build/, where each fault is built, hunted by
graph_fuzz for as long as --seconds says, and taken back. First the sources as they are must pass. Exit code 1
where a fault is not found.
"""

import argparse
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TREE = ROOT / "build" / "planted"


@dataclass
class Fault:
    name: str
    file: str
    right: str  # occurs once in the file
    wrong: str


FAULTS = [
    # Passes.
    Fault("swapped_difference", "src/opt/algebra.cc",
          '"sub(x, c) => add(x, neg(c)) if float(x)"', '"sub(x, c) => add(neg(x), c) if float(x)"'),
    Fault("lost_zero_point", "src/opt/fold_zero_points.cc",
          "offset *= -static_cast<double>(*zero);", "offset *= 0;"),
    Fault("lost_bias", "src/opt/fold_affine.cc",
          "offsets[m] += old->input(2)->constant()->ToDouble(static_cast<int64_t>(m));",
          "offsets[m] += 0 * old->input(2)->constant()->ToDouble(static_cast<int64_t>(m));"),
    Fault("slice_of_slice_step", "src/opt/eliminate.cc",
          "starts[i] += node->attrs().IntList(\"starts\")[i] * steps[i];",
          "starts[i] += node->attrs().IntList(\"starts\")[i];"),
    Fault("slice_of_concat_start", "src/opt/eliminate.cc", "starts[axis] -= begin;", "starts[axis] -= begin / 2;"),
    Fault("moved_axis", "src/opt/sink_transposes.cc",
          'attributes.Set("axis", perm[node.attrs().Int("axis")]);',
          'attributes.Set("axis", node.attrs().Int("axis"));'),
    Fault("merged_branches_slice", "src/opt/fuse_horizontal.cc", "starts[axis] += sizes[axis];",
          "starts[axis] += sizes[axis] - 1;"),
    Fault("pool_hoisted_over_padding", "src/opt/hoist_pools.cc",
          'return AllAre(attrs.IntList("pads", {}), 0) && !attrs.Bool("ceil_mode") &&', "return"),
    # Plan.
    Fault("lifetime_one_short", "src/base/memory_plan.h",
          "ends_after = other.last >= buffer.first,", "ends_after = other.last > buffer.first,"),
    Fault("overwritten_in_place", "src/plan/program.cc", "source.last != step ||", "source.last < step ||"),
    Fault("part_at_wrong_offset", "src/plan/concat.cc",
          "part.offset += operand->type().num_physical_bytes();",
          "part.offset += operand->type().num_physical_bytes() / 2;"),
    # Lowering.
    Fault("padding_at_the_end", "src/lower/contraction.cc",
          "return i[2 + d] * Expr(window.strides[d]) + r[1 + d] * Expr(window.dilations[d]) - Expr(window.pads[d]);",
          "return i[2 + d] * Expr(window.strides[d]) + r[1 + d] * Expr(window.dilations[d]) -"
          " Expr(window.pads[spatial + d]);"),
    Fault("lost_epsilon", "src/lower/normalization.cc",
          "return FloatConst(1, dtype) / Apply(MathOp::kSqrt, variance + epsilon);",
          "return FloatConst(1, dtype) / Apply(MathOp::kSqrt, variance + epsilon * epsilon);"),
    Fault("mean_over_padding", "src/lower/window.cc",
          'const bool include_pad = node.attrs().Bool("count_include_pad");',
          'const bool include_pad = !node.attrs().Has("count_include_pad");'),
    Fault("reflection_one_off", "src/lower/movement.cc",
          "return Min(Max(at, -at), Expr(2 * (size - 1)) - at);", "return Min(Max(at, -at), Expr(2 * size - 1) - at);"),
    Fault("packed_tail", "src/tensor/schedule/pack.cc",
          "const Expr here = from.back() < size.expr();", "const Expr here = from.back() < size.expr() - Expr(1);"),
    # Code generation.
    Fault("last_iteration_lost", "src/codegen/nest_emitter.cc",
          "Value* end = bound(ir_.CreateAdd(part, ir_.getInt32(1)));",
          "Value* end = ir_.CreateSub(bound(ir_.CreateAdd(part, ir_.getInt32(1))), ir_.CreateZExt("
          "ir_.CreateICmpSGT(parts, ir_.getInt64(2)), ir_.getInt64Ty()));"),
    Fault("wrong_lane", "src/codegen/memory.cc",
          "Value* element = ir_.CreateExtractElement(value, static_cast<uint64_t>(lane));",
          "Value* element = ir_.CreateExtractElement(value, static_cast<uint64_t>(lane == 0 ? 0 : 1));"),
    Fault("bf16_never_rounds_up", "src/codegen/values_convert.cc",
          "ir_.CreateAdd(ir_.CreateAdd(bits, constant(0x7FFF)), odd), 16);",
          "ir_.CreateAdd(ir_.CreateAdd(bits, constant(0x6FFF)), odd), 16);"),
    Fault("masked_lanes_are_stored", "src/codegen/memory.cc",
          "Tag(buffer, ir_.CreateMaskedStore(value, access.pointer, align, mask));",
          "Tag(buffer, ir_.CreateAlignedStore(value, access.pointer, align));"),
]


def run(command, **options):
    return subprocess.run(command, cwd=TREE, **options)


def build():
    # The configuration includes the tests, but only the target graph_fuzz is built.
    result = run(["cmake", "--build", "--preset", "release", "--target", "graph_fuzz"],
                 capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit("it does not build:\n" + (result.stdout + result.stderr)[-3000:])


def prepare():
    """Checks out HEAD in a separate work tree and builds it."""
    if not TREE.exists():
        subprocess.run(["git", "worktree", "add", "--detach", str(TREE), "HEAD"], cwd=ROOT, check=True)
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, check=True, capture_output=True, text=True)
    run(["git", "checkout", "--quiet", "--force", "--detach", head.stdout.strip()], check=True)
    run(["cmake", "--preset", "release", "-Wno-dev", "-DATTUNE_TESTS=ON"], check=True, stdout=subprocess.DEVNULL)
    build()


def hunt(seconds):
    """The first failure that random graphs find, or None, and the seconds that it took."""
    start = time.monotonic()
    result = run(["build/release/bin/graph_fuzz", "--seconds", str(seconds), "--most-failures", "1"],
                 capture_output=True, text=True)
    found = next((line for line in result.stdout.splitlines() if line.startswith("seed ")), "it failed")
    return (None if result.returncode == 0 else found), time.monotonic() - start


def plant(fault):
    path = TREE / fault.file
    text = path.read_text()
    if text.count(fault.right) != 1:
        sys.exit(f"{fault.name}: {fault.file} has its line {text.count(fault.right)} times; correct the script")
    path.write_text(text.replace(fault.right, fault.wrong))
    return lambda: path.write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=180, help="how long each fault is hunted")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="these faults alone")
    parser.add_argument("--list", action="store_true", help="print the faults' names")
    options = parser.parse_args()
    faults = [f for f in FAULTS if options.only is None or f.name in options.only]
    if options.list:
        print("\n".join(f"{f.name}: {f.file}" for f in faults))
        return
    prepare()
    found, seconds = hunt(min(options.seconds, 60))
    if found is not None:
        sys.exit(f"without any fault: {found}")
    missed = []
    for fault in faults:
        take_back = plant(fault)
        try:
            build()
            found, seconds = hunt(options.seconds)
        finally:
            take_back()
        print(f"{fault.name}: {'missed' if found is None else found[:150]}, {seconds:.0f} s", flush=True)
        if found is None:
            missed.append(fault.name)
    print(f"{len(faults) - len(missed)} of {len(faults)} found")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
