"""The wide set. Dimensions are cut down where a network would take long: its kernels stay those that it has."""
from bench.wide.networks import WideNetwork


def classifier(name, pixels=224, dynamo=False, **options):
    """A classifier of torchvision by its name there."""
    return WideNetwork(name, "classifiers.classifier", {"constructor": name, "pixels": pixels, **options}, dynamo)


def clip(name, **options):
    return WideNetwork(name, "classifiers.clip", {"constructor": name, **options})


CLASSIFIERS = (
    classifier("alexnet"),
    classifier("squeezenet1_0"),
    classifier("resnet34"),
    classifier("wide_resnet50_2", pixels=128),
    classifier("resnext50_32x4d"),
    classifier("densenet169", pixels=160),
    classifier("googlenet", init_weights=False),
    classifier("inception_v3", pixels=299, init_weights=False),
    classifier("mobilenet_v2"),
    classifier("mobilenet_v3_small"),
    classifier("mobilenet_v3_large"),
    classifier("mnasnet0_5"),
    classifier("mnasnet1_0"),
    classifier("shufflenet_v2_x0_5"),
    classifier("shufflenet_v2_x1_0"),
    classifier("efficientnet_b1", pixels=240),
    classifier("efficientnet_v2_s"),
    classifier("regnet_x_400mf"),
    classifier("regnet_x_1_6gf"),
    classifier("regnet_y_400mf"),
    classifier("regnet_y_1_6gf"),
    classifier("vgg11_bn", pixels=128),
    classifier("convnext_tiny"),
    classifier("vit_b_32"),
    classifier("swin_t"),
    classifier("swin_v2_t", pixels=256),
    classifier("maxvit_t"),
    clip("r3d_18"),
    clip("mc3_18"),
    clip("r2plus1d_18"),
    clip("s3d", frames=16, pixels=224),
    clip("swin3d_t", pixels=112),
    clip("mvit_v2_s", frames=16, pixels=224),
)

NETWORKS = [*CLASSIFIERS]
