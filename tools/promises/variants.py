"""Variants of the zoo's networks: other widths, and other sizes of their pictures."""
import random
import tempfile

from common.program import attune, model_file

# Networks that take any size, with the shares of the published width.
NETWORKS = {"resnet18": [1], "mobilenet_v1": [1], "mobilenet_v2": [1], "mobilenet_v3_small": [1],
            "mobilenet_v3_large": [1], "regnet_x_400mf": [1], "regnet_y_400mf": [1],
            "squeezenet1_1": [1], "efficientnet_b0": [1], "resnet50": [0.25, 0.5], "resnet50_v2": [0.25, 0.5]}
SIZES = [128, 160, 192, 224, 256, 288, 320]
PUBLISHED = 224


def dimension(size):
    """A dimension of a tensor's shape as an ONNX file has it: the tag and the number (protobuf's varint)."""
    number = bytes([0x80 | size & 0x7F, size >> 7])
    return bytes([0x0A, len(number) + 1, 0x08]) + number


def with_size(content, size):
    """The model for square pictures of another size: height and width of its input are changed in the file."""
    changed = content.replace(2 * dimension(PUBLISHED), 2 * dimension(size))
    if size != PUBLISHED and changed == content:
        raise ValueError("the model has no input of the published size")
    return changed


def all_variants(seed):
    """Names of variants, "resnet50 0.25 192", in random order."""
    variants = [f"{network} {width} {size}" for network, widths in NETWORKS.items() for width in widths
                for size in SIZES]
    random.Random(seed).shuffle(variants)
    return variants


def model_of(variant):
    """The bytes of a variant's model."""
    network, width, size = variant.split()
    with tempfile.TemporaryDirectory() as folder:
        if float(width) == 1:
            content = model_file(network, folder).read_bytes()
        else:
            path = f"{folder}/network.onnx"
            attune("zoo", network, "--width", width, "-o", path)
            with open(path, "rb") as file:
                content = file.read()
    return with_size(content, int(size))
