"""Networks that locate things in an image: torchvision's segmentation, and its detectors up to their heads.

The choice of boxes, which follows the heads, takes little time and has other shapes for each image.
"""
import torch
import torchvision.models


def segmentation(constructor, pixels=160, **options):
    module = getattr(torchvision.models.segmentation, constructor)(
        weights=None, weights_backbone=None, num_classes=21, **options)
    return module, (torch.randn(1, 3, pixels, pixels),)


class Heads(torch.nn.Module):
    """A detector's backbone, its pyramid of features, and its heads."""

    def __init__(self, detector):
        super().__init__()
        self.backbone, self.head = detector.backbone, detector.head

    def forward(self, image):
        return self.head(list(self.backbone(image).values()))


class Proposals(torch.nn.Module):
    """The first stage of a detector of two stages: backbone, pyramid, and what each place may hold."""

    def __init__(self, detector):
        super().__init__()
        self.backbone, self.head = detector.backbone, detector.rpn.head

    def forward(self, image):
        return self.head(list(self.backbone(image).values()))


def detector(constructor, pixels=256, stage=Heads, **options):
    module = getattr(torchvision.models.detection, constructor)(weights=None, weights_backbone=None, **options)
    return stage(module), (torch.randn(1, 3, pixels, pixels),)


def proposals(constructor, pixels=256):
    return detector(constructor, pixels, Proposals)
