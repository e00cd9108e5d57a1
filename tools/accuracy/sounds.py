"""Sound for networks: windows of a few recordings, and their features for MLPerf Tiny's networks.

Eight seconds of sound are little, so windows differ in their offset, their speed, their loudness and the noise added to
them. A seed draws these. Calibration and judging share no sample of a recording: they use different words, and longer
recordings are cut in two.

The features are those of https://github.com/mlcommons/tiny, benchmark/training, in numpy.
"""
import functools
import wave
from dataclasses import dataclass

import numpy

from common.agreement.photos import CALIBRATION, JUDGING
from common.models.files import TRAINED

RATE = 16000  # samples per second, of all recordings and networks

SLOWEST, FASTEST = 0.85, 1.15
LEAST_LOUDNESS = 0.1
NOISE = (1e-4, 3e-2)  # the least and the greatest standard deviation of the added noise


@dataclass(frozen=True)
class Source:
    """The part of a recording from `begin` to `end`, as shares of it. Windows begin anywhere; those of a word begin
    near its start."""
    file: str
    begin: float = 0.0
    end: float = 1.0
    is_word: bool = False


# Words and speech occur more often than the rest.
SOURCES = {
    CALIBRATION: (Source("no_1000ms.wav", is_word=True), Source("speech.wav", end=0.5),
                  Source("no_1000ms.wav", is_word=True), Source("noise_1000ms.wav", end=0.5),
                  Source("speech.wav", end=0.5), Source("silence_1000ms.wav", end=0.5)),
    JUDGING: (Source("yes_1000ms.wav", is_word=True), Source("speech.wav", begin=0.5),
              Source("yes_1000ms.wav", is_word=True), Source("noise_1000ms.wav", begin=0.5),
              Source("speech.wav", begin=0.5), Source("silence_1000ms.wav", begin=0.5)),
}
SEEDS = {CALIBRATION: 1, JUDGING: 2}
WORD_SHIFT = RATE // 5  # how far from a word's start its window may begin


@functools.cache
def read(file):
    """The recording's samples, from -1 to 1."""
    with wave.open(str(TRAINED / "audio" / file)) as recording:
        frames = recording.readframes(recording.getnframes())
    return numpy.frombuffer(frames, dtype=numpy.int16) / 32768


def window(recording, start, speed, length):
    """`length` samples from `start` on, at a speed; the recording repeats when it ends."""
    places = start + speed * numpy.arange(length)
    low = numpy.floor(places).astype(int)
    share = places - low
    return (1 - share) * recording[low % len(recording)] + share * recording[(low + 1) % len(recording)]


def windows(part, count, length):
    """Yields `count` windows of the part's sources, which take turns."""
    draw = numpy.random.default_rng(SEEDS[part])
    sources = SOURCES[part]
    for index in range(count):
        source = sources[index % len(sources)]
        whole = read(source.file)
        recording = whole[int(source.begin * len(whole)):int(source.end * len(whole))]
        place, pace, loud, noise = draw.random(4)
        start = WORD_SHIFT * (2 * place - 1) if source.is_word else place * len(recording)
        sound = window(recording, start, SLOWEST + (FASTEST - SLOWEST) * pace, length)
        added = NOISE[0] * (NOISE[1] / NOISE[0]) ** noise * draw.standard_normal(length)
        yield numpy.clip(LEAST_LOUDNESS ** loud * sound + added, -1, 1)


def spectra(sound, frame, step, size):
    """Magnitudes [frames, size / 2 + 1] of the Fourier transforms of frames under a Hann window."""
    count = 1 + (len(sound) - frame) // step
    frames = numpy.stack([sound[i * step:i * step + frame] for i in range(count)])
    hann = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(frame) / frame)
    return numpy.abs(numpy.fft.rfft(frames * hann, size))


def triangles(edges, frequencies):
    """[frequencies, bands]: each band rises from its edge to the next one and falls to the one after that. `edges` and
    `frequencies` are on the same scale."""
    low, middle, high = edges[:-2], edges[1:-1], edges[2:]
    rising = (frequencies[:, None] - low) / (middle - low)
    falling = (high - frequencies[:, None]) / (high - middle)
    return numpy.maximum(0, numpy.minimum(rising, falling))


def mel_htk(hertz):
    return 1127 * numpy.log1p(numpy.asarray(hertz) / 700)


@functools.cache
def word_bands():
    """40 bands from 20 to 4000 Hz for spectra of 512 samples, like those of tf.signal.linear_to_mel_weight_matrix."""
    edges = numpy.linspace(mel_htk(20), mel_htk(4000), 42)
    bands = triangles(edges, mel_htk(numpy.linspace(0, RATE / 2, 257)))
    bands[0] = 0  # a constant is not a sound
    return bands


@functools.cache
def machine_bands():
    """128 bands over all frequencies for spectra of 1024 samples, like librosa's: Slaney's scale, linear to 1 kHz and
    logarithmic above, each band with the same area."""
    mels = numpy.linspace(0, 15 + 27 * numpy.log(RATE / 2 / 1000) / numpy.log(6.4), 130)
    edges = numpy.where(mels < 15, mels * 200 / 3, 1000 * numpy.exp((mels - 15) * numpy.log(6.4) / 27))
    return triangles(edges, numpy.linspace(0, RATE / 2, 513)) * 2 / (edges[2:] - edges[:-2])


def word_features(sound):
    """The input of the keyword network for one second: 10 cepstral coefficients of 49 frames of 30 ms, as [1, 49, 10,
    1]."""
    loudest = sound.max()
    sound = sound / loudest if loudest > 0 else sound
    logarithms = numpy.log(spectra(sound, 480, 320, 512) @ word_bands() + 1e-6)
    bands = logarithms.shape[1]
    angles = numpy.pi / bands * (numpy.arange(bands)[:, None] + 0.5) * numpy.arange(10)
    coefficients = logarithms @ (2 * numpy.cos(angles)) / numpy.sqrt(2 * bands)
    return coefficients.astype(numpy.float32)[None, :, :, None]


def machine_features(sound):
    """The input of the anomaly network: the logarithms of the energy in 128 bands of 5 frames of 64 ms, as [1, 640]."""
    energy = spectra(sound, 1024, 512, 1024) ** 2 @ machine_bands()
    return (10 * numpy.log10(energy + numpy.finfo(float).eps)).astype(numpy.float32).reshape(1, -1)


def words(part, count):
    """Yields inputs of the keyword network."""
    return map(word_features, windows(part, count, RATE))


def machines(part, count):
    """Yields inputs of the anomaly network."""
    return map(machine_features, windows(part, count, 1024 + 4 * 512))
