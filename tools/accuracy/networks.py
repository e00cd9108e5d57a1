"""The networks that are compared: trained networks in floats, the data that they are for, and how far two outputs
agree.

If a form quantized for LiteRT exists, the network names it; such forms have different origins, which are noted.
"""
from dataclasses import dataclass
from typing import Callable

from accuracy import models, sounds, texts
from common.agreement import boxes
from common.agreement.metrics import Cosine, MeanOverlap, SameBoxes, TopOne, mean_of_tokens
from common.agreement.photos import FACES, Pictures

TINY = "MLPerf Tiny's own int8 model, calibrated by its authors on the data that it was trained for"


@dataclass(frozen=True)
class Network:
    """`samples` is a function of a part and a count that yields the part's inputs."""
    name: str  # on the command line and in results
    title: str  # for people
    model: Callable  # the model file; raises Failed
    samples: Callable
    metric: Callable  # makes a new one
    data: str  # a description of the samples
    litert: str = ""  # LiteRT's quantized form of the network, below ../shared/models
    litert_note: str = ""  # its origin, or why there is none


def trained(name):
    return lambda: models.trained(name)


def pictures(*arguments, **options):
    """(samples, a description of them) from photos.Pictures with these arguments."""
    made = Pictures(*arguments, **options)
    return {"samples": made.samples, "data": "crops of photos of faces" if made.photos else "crops of photos"}


NETWORKS = {network.name: network for network in (
    Network("mobilenet_v1", "MobileNet v1 0.25", trained("tflite/mobilenet_v1_0.25_224_1_default_1.tflite"),
            metric=TopOne, litert="tflite/mobilenet_v1_0.25_224_quant.tflite",
            litert_note="trained with quantization, so its weights are other ones than the float network's",
            **pictures(224, 224, -1, 1)),
    Network("deeplab_v3", "DeepLab v3", trained("tflite/deeplabv3_257_mv_gpu.tflite"), metric=MeanOverlap,
            litert_note="the quantized DeepLab that is published takes pictures of another size, 513 × 513",
            **pictures(257, 257, -1, 1)),
    Network("yolox_nano", "YOLOX-nano", trained("onnx/yolox_nano.onnx"), metric=lambda: SameBoxes(boxes.in_yolox),
            litert="tflite/yolox_nano_int8_quantize.tflite",
            litert_note="by the publisher of the ONNX model; what it was calibrated on is not known",
            **pictures(416, 416, 0, 255, channels_first=True, is_bgr=True)),
    Network("ultraface", "UltraFace RFB-320", trained("onnx/version-RFB-320.onnx"),
            metric=lambda: SameBoxes(boxes.in_ultraface),
            litert_note="no quantized form of it is among the trained networks",
            **pictures(320, 240, -127 / 128, 1, channels_first=True, photos=FACES, least=0.6)),
    Network("tiny_resnet", "ResNet-8 (MLPerf Tiny)", trained("tflite/pretrainedResnet.tflite"), metric=TopOne,
            litert="tflite/pretrainedResnet_quant.tflite", litert_note=TINY, **pictures(32, 32, 0, 255)),
    Network("tiny_keywords", "DS-CNN (MLPerf Tiny)", trained("tflite/kws_ref_model_float32.tflite"), sounds.words,
            TopOne, "windows of recordings", "tflite/kws_ref_model.tflite", TINY),
    Network("tiny_persons", "MobileNet v1 0.25 for persons (MLPerf Tiny)", trained("tflite/vww_96_float.tflite"),
            metric=TopOne, litert="tflite/vww_96_int8.tflite", litert_note=TINY, **pictures(96, 96, 0, 1)),
    Network("tiny_anomalies", "autoencoder (MLPerf Tiny)", trained("tflite/ad01_fp32.tflite"), sounds.machines,
            Cosine, "windows of recordings", "tflite/ad01_int8.tflite", TINY),
    Network("minilm", "all-MiniLM-L6-v2", models.minilm, texts.tokens, lambda: Cosine(mean_of_tokens),
            f"texts of {texts.TOKENS} tokens",
            litert_note="no TensorFlow Lite model of it is among the trained networks"),
)}


def named(text):
    """The networks of a list such as mobilenet_v1,minilm, in the order of the table. Raises ValueError with a sentence
    for the user."""
    names = text.split(",")
    for name in names:
        if name not in NETWORKS:
            raise ValueError(f"there is no network {name}; there are {', '.join(NETWORKS)}")
    return [name for name in NETWORKS if name in names]

