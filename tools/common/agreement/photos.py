"""Pictures for networks: crops of the photos that lie beside the trained networks.

There are 54 photos and a measurement needs a thousand pictures, so each photo gives many crops with different offsets
and sizes, some of them mirrored: to a network, these are different pictures. A seed draws them, and they are the same
on every machine. Calibration and judging use crops of different photos: a network must not be judged by what it was
calibrated on.
"""
import functools
import random
from dataclasses import dataclass

import numpy

from common.models.files import TRAINED

CALIBRATION, JUDGING = "calibration", "judging"  # the parts of all data

# Photos for calibration; all others are for judging. Photos of the same scene are on the same side.
CALIBRATION_PHOTOS = (
    "37ca2a3d-IMG_0520.jpg", "3d3382d3-IMG_0514.jpg", "Welsh_Springer_Spaniel.jpg", "astronaut.png", "burger.jpg",
    "cats_and_dogs.jpg", "chelsea.png", "coffee.png", "d1c65813-IMG_0546.jpg", "d86b20e0-IMG_0509.jpg",
    "early_color_photo_face_128_224_3.jpeg", "early_color_photo_faces_320_320_3.jpeg", "flowers_192_192_3.jpeg",
    "multi_objects.jpg", "owl.jpg", "single_face_128_224_3.jpeg", "single_face_320_320_3.jpeg", "street_192_192_3.jpeg")

# For networks that look for faces: most of these have some, and a few have something that looks like one.
FACES = (
    "astronaut.png", "camera.png", "early_color_photo_face_128_224_3.jpeg", "early_color_photo_faces_320_320_3.jpeg",
    "face.jpg", "face_in_painting_128_224_3.jpeg", "face_in_snow_128_224_3.jpeg", "faces_in_painting_320_320_3.jpeg",
    "faces_in_snow_320_320_3.jpeg", "grace_hopper.bmp", "multi_objects.jpg", "person_192_192_3.jpeg",
    "single_face_128_224_3.jpeg", "single_face_320_320_3.jpeg", "snowman_128_224_3.jpeg", "snowman_320_320_3.jpeg")


@dataclass(frozen=True)
class Crop:
    photo: str
    box: tuple[int, int, int, int]  # left, top, right, bottom, in pixels of the photo
    is_mirrored: bool


def part_of(names, part):
    """The photos for calibration, or those for judging, in their order."""
    return [name for name in names if (name in CALIBRATION_PHOTOS) == (part == CALIBRATION)]


def crops(sizes, count, aspect, least, seed):
    """`count` different crops of photos, which take turns. `sizes`: each photo's (width, height); `aspect`: width by
    height of a crop; `least`: the least size of a crop, as a share of the largest with this aspect in the photo."""
    draw, seen, names = random.Random(seed), {}, list(sizes)
    while len(seen) < count:
        name = names[len(seen) % len(names)]
        width, height = sizes[name]
        largest = min(width, height * aspect)
        scale = least + (1 - least) * draw.random()
        w, h = max(1, int(scale * largest)), max(1, int(scale * largest / aspect))
        left, top = int(draw.random() * (width - w + 1)), int(draw.random() * (height - h + 1))
        seen[Crop(name, (left, top, left + w, top + h), draw.random() < 0.5)] = None
    return list(seen)


@functools.cache
def load(name):
    import PIL.Image

    with PIL.Image.open(TRAINED / "images" / name) as image:
        return image.convert("RGB")


@dataclass(frozen=True)
class Pictures:
    """The input pictures of a network: their size, the numbers for black and white (`low` and `high`), and the photos
    that they come from."""
    width: int
    height: int
    low: float
    high: float
    channels_first: bool = False  # [1, 3, height, width] and not [1, height, width, 3]
    is_bgr: bool = False
    photos: tuple[str, ...] = ()  # empty: all
    least: float = 0.4  # size of a crop, see crops()

    def names(self, part):
        """The photos of a part."""
        names = self.photos or sorted(path.name for path in (TRAINED / "images").iterdir())
        return part_of(names, part)

    def samples(self, part, count):
        """Yields the part's inputs."""
        sizes = {name: load(name).size for name in self.names(part)}
        for crop in crops(sizes, count, self.width / self.height, self.least, f"{part} {self.width} x {self.height}"):
            yield self.array(crop)

    def array(self, crop):
        """The crop as the network's input."""
        import PIL.Image

        picture = load(crop.photo).resize((self.width, self.height), PIL.Image.Resampling.BILINEAR, box=crop.box)
        values = numpy.asarray(picture, dtype=numpy.float32)
        if crop.is_mirrored:
            values = values[:, ::-1]
        if self.is_bgr:
            values = values[:, :, ::-1]
        if self.channels_first:
            values = values.transpose(2, 0, 1)
        values = numpy.float32(self.low) + numpy.float32((self.high - self.low) / 255) * values
        return numpy.ascontiguousarray(values[None])
