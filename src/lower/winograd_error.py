"""Prints the error of Winograd's convolution for several tiles and points: the figures of docs/decisions/winograd.md, and of
docs/decisions/bf16.md where what is multiplied is rounded to bf16.

For random images of 256 channels and random filters, against f64, as a root mean square relative to the outputs'.
Run with any Python that has numpy.
"""
import numpy

CHANNELS, FILTERS, TILES = 256, 16, 64


def transforms(pairs):
    """Aᵀ, G and Bᵀ of F(m, 3) for the points 0, ± each of `pairs`, and infinity."""
    points = [0.0] + [sign * p for p in pairs for sign in (1, -1)]
    n = len(points) + 1
    m = n - 2
    output, weights, image = numpy.zeros((m, n)), numpy.zeros((n, 3)), numpy.zeros((n, n))
    for row, point in enumerate(points):
        others = [p for p in points if p != point]
        polynomial = numpy.poly(others)[::-1]
        image[row, :len(polynomial)] = polynomial
        weights[row] = numpy.array([1, point, point**2]) / numpy.prod([point - p for p in others])
        output[:, row] = [point**power for power in range(m)]
    image[-1] = numpy.poly(points)[::-1]
    weights[-1] = [0, 0, 1]
    output[-1, -1] = 1
    return output, weights, image


def relative_error(actual, expected):
    return numpy.sqrt(((actual - expected) ** 2).mean() / (expected**2).mean())


def to_bf16(x):
    """The nearest bf16, ties to even, as f32."""
    bits = x.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(numpy.uint32).view(numpy.float32)


def to_f32(x):
    return x.astype(numpy.float32)


def error_by_tiles(pairs, rounded=to_f32):
    """Filters are transformed in f64, all else happens in f32, with sums over the channels in order.

    `rounded` gives what is multiplied its type.
    """
    output, weights, image = transforms(pairs)
    m = len(output)
    random = numpy.random.default_rng(0)
    d = random.standard_normal((TILES, CHANNELS, m + 2, m + 2))
    g = random.standard_normal((FILTERS, CHANNELS, 3, 3))
    expected = numpy.stack([[numpy.einsum("tcab,kcab->tk", d[:, :, i:i + 3, j:j + 3], g) for j in range(m)]
                            for i in range(m)])
    f32 = numpy.float32
    u = rounded(numpy.einsum("xa,kcab,yb->cxyk", weights, g, weights))
    columns = numpy.einsum("xi,tcij->tcxj", image.astype(f32), d.astype(f32))
    v = rounded(numpy.einsum("tcxj,yj->cxyt", columns, image.astype(f32)))
    product = numpy.zeros((m + 2, m + 2, TILES, FILTERS), f32)
    for channel in range(CHANNELS):
        product += v[channel][..., None] * u[channel][:, :, None]
    rows = numpy.einsum("ax,xytk->aytk", output.astype(f32), product)
    return relative_error(numpy.einsum("aytk,by->abtk", rows, output.astype(f32)), expected)


def error_of_direct_sum():
    random = numpy.random.default_rng(0)
    d, g = random.standard_normal((TILES, CHANNELS * 9)), random.standard_normal((FILTERS, CHANNELS * 9))
    total = numpy.zeros((TILES, FILTERS), numpy.float32)
    for term in range(CHANNELS * 9):
        total += d[:, term, None].astype(numpy.float32) * g[None, :, term].astype(numpy.float32)
    return relative_error(total, d @ g.T)


def main():
    print(f"direct: {error_of_direct_sum():.1e}")
    for name, pairs in {"0, ±1": [1], "0, ±1, ±2": [1, 2], "0, ±√½, ±√2": [0.5**0.5, 2**0.5],
                        "0, ±½, ±1, ±2": [0.5, 1, 2]}.items():
        print(f"tile {2 * len(pairs)}, {name}, ∞: {error_by_tiles(pairs):.1e}, "
              f"products of bf16: {error_by_tiles(pairs, to_bf16):.1e}")


main()
