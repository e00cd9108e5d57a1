"""Says which of ten words a recording of one second has, by the keyword network of MLPerf Tiny.

python hear_words.py kws_ref_model_float32.tflite RECORDING.wav...
"""
import sys
import wave

import attune
import numpy

WORDS = ["down", "go", "left", "no", "off", "on", "right", "stop", "up", "yes", "(silence)", "(another word)"]
RATE = 16000
FRAME, STEP, FFT = 480, 320, 512
BANDS, LOWEST_HZ, HIGHEST_HZ = 40, 20, 4000
COEFFICIENTS = 10


def mel(hertz):
    return 1127 * numpy.log1p(numpy.asarray(hertz) / 700)


def filters():
    """Returns [257,40]: triangles over the frequencies, as far apart as an ear tells tones."""
    edges = numpy.linspace(mel(LOWEST_HZ), mel(HIGHEST_HZ), BANDS + 2)
    tones = mel(numpy.fft.rfftfreq(FFT, 1 / RATE))[:, None]
    rising = (tones - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - tones) / (edges[2:] - edges[1:-1])
    return numpy.minimum(rising, falling).clip(min=0)


def features(path):
    """Returns the mel-frequency cepstral coefficients of the recording's first second, f32[1,49,10,1]."""
    with wave.open(path) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (RATE, 1, 2):
            sys.exit(f"{path}: has another form than 16 bits, one channel, {RATE} samples a second")
        samples = numpy.frombuffer(file.readframes(RATE), "<i2").astype(numpy.float64)
    sound = numpy.zeros(RATE)
    sound[:len(samples)] = samples / max(1, abs(samples).max())
    frames = numpy.lib.stride_tricks.sliding_window_view(sound, FRAME)[::STEP]
    window = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(FRAME) / FRAME)
    spectrum = abs(numpy.fft.rfft(frames * window, FFT))
    loudness = numpy.log(spectrum @ filters() + 1e-6)
    waves = numpy.cos(numpy.pi / BANDS * numpy.outer(numpy.arange(BANDS) + 0.5, numpy.arange(COEFFICIENTS)))
    return (loudness @ waves * (2 / BANDS) ** 0.5).astype(numpy.float32)[None, :, :, None]


if __name__ == "__main__":
    model, *recordings = sys.argv[1:]
    network = attune.load(model)
    for path in recordings:
        scores, = network.run({name: features(path) for name in network.inputs}).values()
        print(f"{path}: {WORDS[scores.argmax()]} ({scores.max():.2f})")
