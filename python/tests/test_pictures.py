"""Pictures for a network's inputs: which numbers they become, and who says it."""
import struct
import warnings

import numpy
import pytest
from onnx_writer import Model

import attune

PIXELS = numpy.array([[[10, 20, 30], [40, 50, 60]], [[255, 0, 128], [1, 2, 3]]], dtype=numpy.uint8)
TF = "mean=127.5 std=127.5 order=rgb resize=stretch"


@pytest.fixture
def picture(tmp_path):
    """A bitmap of PIXELS."""
    rows = b"".join(row[:, ::-1].tobytes() + b"\0\0" for row in PIXELS[::-1])
    head = struct.pack("<IIIIiiHH", 54 + len(rows), 0, 54, 40, 2, 2, 1, 24)
    (tmp_path / "small.bmp").write_bytes(b"BM" + head + bytes(24) + rows)
    return tmp_path / "small.bmp"


@pytest.fixture
def write(tmp_path):
    """Writes a model whose input v1 takes pictures, of these sizes and with these metadata."""
    def written(*shape, metadata=None):
        model = Model()
        model.write(tmp_path / "net.onnx", model.node("Relu", model.input(*shape)), shape=shape, metadata=metadata)
        return tmp_path / "net.onnx"
    return written


def chw(pixels):
    return numpy.float32(pixels).transpose(2, 0, 1)[None]


def test_options_say_the_numbers(write, picture):
    network = attune.load(write(1, 3, 2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numpy.testing.assert_array_equal(network.picture(picture, preprocess="none"), chw(PIXELS))
        numpy.testing.assert_allclose(network.picture(picture, preprocess="tf"), chw(PIXELS) / 127.5 - 1, atol=1e-6)
        numpy.testing.assert_allclose(network.picture(picture, "v1", preprocess="caffe"),
                                      chw(PIXELS[..., ::-1] - numpy.array([103.939, 116.779, 123.68])), atol=1e-4)
        numpy.testing.assert_allclose(network.picture(picture, mean=(1, 2, 3), std=4),
                                      chw((PIXELS - numpy.array([1, 2, 3])) / 4), atol=1e-5)
    outputs = network.run({"v1": network.picture(picture, preprocess="none")})
    numpy.testing.assert_array_equal(outputs["v2"], chw(PIXELS))


def test_warns_if_nothing_says_them(write, picture):
    network = attune.load(write(1, 3, 2, 2))
    with pytest.warns(UserWarning, match="as numbers of 0 to 255.*give preprocess"):
        numpy.testing.assert_array_equal(network.picture(picture), chw(PIXELS))


def test_the_model_and_the_artifact_say_them(write, picture, tmp_path):
    attune.load(write(1, 3, 2, 2, metadata={"attune.picture.v1": TF})).compile().save(tmp_path / "net.atn")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for path in ("net.onnx", "net.atn"):
            read = attune.load(tmp_path / path).picture(picture)
            numpy.testing.assert_allclose(read, chw(PIXELS) / 127.5 - 1, atol=1e-6)


def test_open_batches_are_one(write, picture):
    network = attune.load(write("batch", 3, 2, 2, metadata={"attune.picture.v1": TF}))
    numpy.testing.assert_allclose(network.picture(picture), chw(PIXELS) / 127.5 - 1, atol=1e-6)
    with pytest.raises(attune.InvalidError, match="picture\\(\\) needs one set of shapes"):
        attune.load(write(1, 3, "height", "width")).picture(picture)


def test_errors_name_what_is_wrong(write, picture, tmp_path):
    network = attune.load(write(1, 3, 2, 2))
    for options, message in (({"preprocess": "keras"}, "\"keras\" is none of none, torch"),
                             ({"mean": (1, 2)}, "mean: takes a number, or one for each of three channels, and has 2"),
                             ({"std": 0}, "must not be 0"), ({"input": "v9"}, "no input has that name; give one of v1 f32")):
        with pytest.raises(attune.InvalidError, match=message):
            network.picture(picture, **options)
    with pytest.raises(attune.NotFoundError, match="none.jpg"):
        network.picture(tmp_path / "none.jpg")
    (tmp_path / "text.jpg").write_text("no picture")
    with pytest.raises(attune.InvalidError, match="text.jpg"):
        network.picture(tmp_path / "text.jpg")
