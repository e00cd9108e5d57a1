"""Networks that say what an image or a clip shows, as torchvision defines them."""
import torch
import torchvision.models


def classifier(constructor, pixels=224, **options):
    module = getattr(torchvision.models, constructor)(weights=None, **options)
    return module, (torch.randn(1, 3, pixels, pixels),)


def clip(constructor, frames=8, pixels=112, **options):
    module = getattr(torchvision.models.video, constructor)(weights=None, **options)
    return module, (torch.randn(1, 3, frames, pixels, pixels),)
