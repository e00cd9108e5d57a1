"""Pictures: crops of photos if there are photos, otherwise pictures drawn by a seed.

A network is quantized with some pictures and judged by others that have nothing to do with them: `attune quantize`
makes choices by the samples that it holds back, so these cannot judge. The drawn pictures are smooth noise, the sum of
blurred noise of several sizes: as in photos, neighbours are alike.
"""
import os

import numpy

from common.agreement import photos
from common.agreement.photos import CALIBRATION, JUDGING, Pictures
from common.program import ROOT

FOLDER = ROOT / "build/study/samples"
QUANTIZING, JUDGED = 64, 128  # pictures of each kind
HELD_BACK_PERIOD = 4  # attune quantize compares by every fourth picture; auto by every second one, of batches by others
CELLS = (3, 7, 15, 31)  # per side, of the noise that is blurred


def source():
    """The source of pictures: photos or generated."""
    return "photos" if (photos.TRAINED / "images").is_dir() else "generated"


def pictures(network, part, count):
    """Yields `count` inputs of one picture each, black -1 and white 1. `part`: CALIBRATION or JUDGING."""
    if source() == "photos":
        yield from Pictures(network.pixels, network.pixels, -1, 1, channels_first=network.is_zoo).samples(part, count)
        return
    for index in range(count):
        picture = smooth_noise(network.pixels, [(CALIBRATION, JUDGING).index(part), index])
        yield numpy.ascontiguousarray(picture.transpose(2, 0, 1) if network.is_zoo else picture)[None]


def smooth_noise(pixels, seed):
    """[pixels, pixels, 3] from -1 to 1, each channel over the whole range."""
    random = numpy.random.default_rng(seed)
    picture = numpy.zeros((pixels, pixels, 3))
    for cells in CELLS:
        spread = spreading(pixels, cells)
        noise = random.standard_normal((cells, cells, 3)) / cells  # larger shapes are stronger
        picture += numpy.einsum("yi,ijc,xj->yxc", spread, noise, spread, optimize=True)
    low, high = picture.min(axis=(0, 1)), picture.max(axis=(0, 1))
    return (2 * (picture - low) / (high - low) - 1).astype(numpy.float32)


def spreading(pixels, cells):
    """[pixels, cells]: the weight of each cell in each pixel, by linear interpolation."""
    places = numpy.linspace(0, cells - 1, pixels)
    return numpy.maximum(0, 1 - abs(places[:, None] - numpy.arange(cells)))


def stacked(samples, batch):
    """The samples in batches, ordered so that attune quantize holds back the same samples as it does without batches.
    So a network with batches is quantized with the same pictures. Their number is a multiple of the batch and of the
    period."""
    held = samples[HELD_BACK_PERIOD - 1::HELD_BACK_PERIOD]
    others = [sample for index, sample in enumerate(samples) if (index + 1) % HELD_BACK_PERIOD]
    held, others = ([numpy.concatenate(part[i:i + batch]) for i in range(0, len(part), batch)]
                    for part in (held, others))
    between = HELD_BACK_PERIOD - 1
    return [one for index, last in enumerate(held) for one in (*others[between * index:between * (index + 1)], last)]


def folder(network, batch):
    """The folder that attune quantize reads, with one file per batch; written if it is missing."""
    path = FOLDER / source() / f"{network.name}-b{batch}"
    if not path.exists():
        unfinished = path.with_name(f"{path.name}.unfinished")
        unfinished.mkdir(parents=True, exist_ok=True)
        for index, sample in enumerate(stacked(list(pictures(network, CALIBRATION, QUANTIZING)), batch)):
            numpy.save(unfinished / f"{index:03}.npy", sample)
        os.replace(unfinished, path)
    return path


def example(network, batch):
    """The file of an input for timed runs."""
    return folder(network, batch) / "000.npy"
