"""Pictures for networks: crops of the photos that lie beside the trained networks.

There are 54 photos and a measurement needs a thousand pictures, so each photo gives many crops: of another place,
another size, some of them mirrored, which to a network are different pictures. They are drawn by a seed and are the
same on every machine. A network is calibrated on crops of other photos than it is judged by: what it was calibrated on
it must not meet again.
"""
import functools
import random
from dataclasses import dataclass

import numpy

from common.models.files import TRAINED

CALIBRATION, JUDGING = "calibration", "judging"  # the parts of all data

# Photos to calibrate on; all others judge. Several photos of one scene are on one side.
CALIBRATION_PHOTOS = (
    "37ca2a3d-IMG_0520.jpg", "3d3382d3-IMG_0514.jpg", "Welsh_Springer_Spaniel.jpg", "astronaut.png", "burger.jpg",
    "cats_and_dogs.jpg", "chelsea.png", "coffee.png", "d1c65813-IMG_0546.jpg", "d86b20e0-IMG_0509.jpg",
    "early_color_photo_face_128_224_3.jpeg", "early_color_photo_faces_320_320_3.jpeg", "flowers_192_192_3.jpeg",
    "multi_objects.jpg", "owl.jpg", "single_face_128_224_3.jpeg", "single_face_320_320_3.jpeg", "street_192_192_3.jpeg")

# For what looks for faces: most of these have some, and a few have what looks like one.
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
    """Those photos that calibrate, or those that judge, in their order."""
    return [name for name in names if (name in CALIBRATION_PHOTOS) == (part == CALIBRATION)]


def crops(sizes, count, aspect, least, seed):
    """`count` crops, all different, of the photos in turns. `sizes` has each photo's (width, height); `aspect` is width
    by height of a crop, and `least` its least size, of the largest that the photo has of this aspect."""
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
    """What a network takes: pictures of this size, black and white as `low` and `high`; and what they are made of."""
    width: int
    height: int
    low: float
    high: float
    channels_first: bool = False  # [1, 3, height, width] and not [1, height, width, 3]
    is_bgr: bool = False
    photos: tuple[str, ...] = ()  # none are all
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
        """The crop as the network takes it."""
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
