"""Which kernels of networks a change of the compiler changes.

    python3 -m compiler.kernel_digests list --cpu CPU [NETWORK...] [> LIST]
        a line a kernel: network, kernel, digest of its code
    python3 -m compiler.kernel_digests compare BEFORE AFTER
        what two such lists differ in

NETWORK is a name of the zoo or a model file; by default, all of the zoo. The compiler is $ATTUNE, or the one of the
release build. A kernel is named after what it computes and for which processor, so that the same one has the same name
before and after. compare prints a line for each kernel that is other code, new or gone, then a summary, and ends with
exit code 1 where there is one."""
import pathlib
import tempfile

from common.program import attune, attune_json, model_file
from compiler.digest_lists import main


def kernels(network, arguments):
    """(name, digest) for each kernel of a network."""
    with tempfile.TemporaryDirectory() as place:
        artifact = pathlib.Path(place) / "network.atn"
        attune("compile", model_file(network, place), "-o", artifact, "--cpu", arguments.cpu)
        return [(kernel["name"], kernel["digest"]) for kernel in attune_json("inspect", artifact)["kernels"]]


if __name__ == "__main__":
    main("kernel_digests", __doc__, ("network", "kernel", "digest"), "kernels",
         lambda parser: parser.add_argument("--cpu", required=True), kernels)
