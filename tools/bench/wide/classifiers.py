"""Networks that classify an image or a clip, as torchvision defines them."""
import torch
import torchvision.models
from torchvision.models.video import mvit as vision


def classifier(constructor, pixels=224, **options):
    module = getattr(torchvision.models, constructor)(weights=None, **options)
    return module, (torch.randn(1, 3, pixels, pixels),)


def clip(constructor, frames=8, pixels=112, **options):
    module = getattr(torchvision.models.video, constructor)(weights=None, **options)
    return module, (torch.randn(1, 3, frames, pixels, pixels),)


def mvit(frames=8, pixels=112):
    """Fewer blocks of the second version of the multiscale vision transformer."""
    heads, inputs, outputs = (1, 2, 2, 4, 4), (96, 96, 192, 192, 384), (96, 192, 192, 384, 384)
    strides, key_strides = (1, 2, 1, 2, 1), (8, 4, 4, 2, 2)
    blocks = [vision.MSBlockConfig(num_heads=count, input_channels=before, output_channels=after, kernel_q=[3, 3, 3],
                                   kernel_kv=[3, 3, 3], stride_q=[1, stride, stride],
                                   stride_kv=[1, key_stride, key_stride])
              for count, before, after, stride, key_stride in zip(heads, inputs, outputs, strides, key_strides)]
    module = vision.MViT(spatial_size=(pixels, pixels), temporal_size=frames, block_setting=blocks, residual_pool=True,
                         residual_with_cls_embed=False, rel_pos_embed=True, proj_after_attn=True)
    return module, (torch.randn(1, 3, frames, pixels, pixels),)
