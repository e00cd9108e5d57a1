"""Code that is made once for all sizes."""
import numpy
import pytest

import attune
from onnx_writer import Model


@pytest.fixture
def windows(tmp_path):
    """A model of an input v1[batch,1,length] with a convolution whose kernel covers five elements."""
    model = Model()
    given = model.input("batch", 1, "length")
    convolved = model.node("Conv", given, model.constant(numpy.ones((1, 1, 5), numpy.float32)))
    model.write(tmp_path / "windows.onnx", convolved, shape=("batch", 1, "places"))
    return attune.load(tmp_path / "windows.onnx")


@pytest.mark.parametrize("batch, length", [(1, 5), (2, 6), (1, 400)])
def test_any_size_with_a_window_is_taken(windows, batch, length):
    (sums,) = windows.run({"v1": numpy.ones((batch, 1, length), numpy.float32)}).values()
    numpy.testing.assert_array_equal(sums, numpy.full((batch, 1, length - 4), 5, numpy.float32))


def test_a_size_that_the_network_rules_out_names_the_operator(windows):
    windows.run({"v1": numpy.ones((1, 1, 9), numpy.float32)})
    with pytest.raises(attune.InvalidError, match=r"Conv.*the window covers 5 elements"):
        windows.run({"v1": numpy.ones((1, 1, 4), numpy.float32)})
