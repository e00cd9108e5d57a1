"""Image networks as transformers defines them."""
import torch
import transformers

PYRAMID = {"depths": [2, 2, 2, 2]}


class Pixels(torch.nn.Module):
    """An image to the first output that the model has, or to those that are named."""

    def __init__(self, model, outputs, **options):
        super().__init__()
        self.model, self.outputs, self.options = model, outputs, options

    def forward(self, pixels):
        values = self.model(pixel_values=pixels, **self.options)
        return [values[name] for name in self.outputs] if self.outputs else values[0]


def build(model, config, **options):
    settings = getattr(transformers, config)(**options)
    settings._attn_implementation = "eager"
    return getattr(transformers, model)(settings)


def image(model, config, pixels=224, outputs=(), **options):
    return Pixels(build(model, config, **options), outputs), (torch.randn(1, 3, pixels, pixels),)


def detr(pixels=256):
    """With a backbone of ResNet 50, from transformers' own definition."""
    backbone = transformers.ResNetConfig(out_features=["stage4"])
    config = transformers.DetrConfig(use_timm_backbone=False, use_pretrained_backbone=False, backbone=None,
                                     backbone_config=backbone, encoder_layers=3, decoder_layers=3, num_queries=100)
    config._attn_implementation = "eager"
    model = transformers.DetrForObjectDetection(config)
    return Pixels(model, ("logits", "pred_boxes")), (torch.randn(1, 3, pixels, pixels),)


def dpt(pixels=224):
    """Depth of each pixel by a vision transformer, whose tokens become a pyramid."""
    model = build("DPTForDepthEstimation", "DPTConfig", hidden_size=192, num_attention_heads=3, intermediate_size=768,
                  image_size=pixels, fusion_hidden_size=64, neck_hidden_sizes=[24, 48, 96, 192])
    model.head.head[-2].bias.fill_(1)  # depths that are below zero become zero
    return Pixels(model, ()), (torch.randn(1, 3, pixels, pixels),)


class TextTower(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids):
        return self.model(input_ids=ids)[0]


def clip_text(tokens=77, layers=4):
    model = build("CLIPTextModel", "CLIPTextConfig", num_hidden_layers=layers, vocab_size=2000, eos_token_id=2)
    return TextTower(model), (torch.randint(3, 2000, (1, tokens)),)
