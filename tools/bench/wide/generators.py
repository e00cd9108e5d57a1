"""Networks that make images from images or from noise, written by hand after their papers."""
import torch
from torch import nn


def double_convolution(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU(),
                         nn.Conv2d(outputs, outputs, 3, padding=1), nn.BatchNorm2d(outputs), nn.ReLU())


class UNet(nn.Module):
    """Ronneberger et al. 2015, with padding."""

    def __init__(self, channels=32, depth=4, classes=2):
        super().__init__()
        widths = [channels * 2**level for level in range(depth + 1)]
        self.first = double_convolution(3, channels)
        self.down = nn.ModuleList(double_convolution(a, b) for a, b in zip(widths, widths[1:]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(b, a, 2, stride=2) for a, b in zip(widths, widths[1:]))
        self.merge = nn.ModuleList(double_convolution(2 * a, a) for a in widths[:-1])
        self.last = nn.Conv2d(channels, classes, 1)

    def forward(self, x):
        skips = [self.first(x)]
        for down in self.down:
            skips.append(down(nn.functional.max_pool2d(skips[-1], 2)))
        x = skips.pop()
        for up, merge in zip(reversed(self.up), reversed(self.merge)):
            x = merge(torch.cat([skips.pop(), up(x)], dim=1))
        return self.last(x)


def unet(pixels=128):
    return UNet(), (torch.randn(1, 3, pixels, pixels),)


class DiffusionBlock(nn.Module):
    """A residual block of a diffusion U-Net (Ho et al. 2020), and attention over all pixels where `heads` says so."""

    def __init__(self, channels, steps=0, heads=0):
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(8, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.second = nn.Sequential(nn.GroupNorm(8, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.time = nn.Linear(steps, channels) if steps else None
        self.norm = nn.GroupNorm(8, channels)
        self.attention = nn.MultiheadAttention(channels, heads, batch_first=True) if heads else None

    def forward(self, x, time=None):
        hidden = self.first(x)
        if self.time is not None:
            hidden = hidden + self.time(nn.functional.silu(time))[:, :, None, None]
        x = x + self.second(hidden)
        if self.attention is not None:
            tokens = self.norm(x).flatten(2).transpose(1, 2)
            attended = self.attention(tokens, tokens, tokens, need_weights=False)[0]
            x = x + attended.transpose(1, 2).reshape(x.shape)
        return x


class ConvolutionNormSilu(nn.Sequential):
    def __init__(self, channels):
        super().__init__(*(layer for _ in range(2) for layer in (
            nn.Conv2d(channels, channels, 3, padding=1), nn.GroupNorm(8, channels), nn.SiLU())))


def diffusion_convolutions(channels=64, pixels=64):
    return ConvolutionNormSilu(channels), (torch.randn(1, channels, pixels, pixels),)


def diffusion_attention(channels=128, pixels=32):
    return DiffusionBlock(channels, 256, 4), (torch.randn(1, channels, pixels, pixels), torch.randn(1, 256))


def espcn(pixels=96, scale=3):
    """Shi et al. 2016."""
    module = nn.Sequential(nn.Conv2d(1, 64, 5, padding=2), nn.Tanh(), nn.Conv2d(64, 32, 3, padding=1), nn.Tanh(),
                           nn.Conv2d(32, scale**2, 3, padding=1), nn.PixelShuffle(scale))
    return module, (torch.rand(1, 1, pixels, pixels),)


class Residual(nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.body = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.body(x)


def edsr(pixels=64, channels=64, blocks=6):
    """Lim et al. 2017."""
    def block():
        return Residual(nn.Conv2d(channels, channels, 3, padding=1), nn.ReLU(),
                        nn.Conv2d(channels, channels, 3, padding=1))
    body = Residual(*(block() for _ in range(blocks)), nn.Conv2d(channels, channels, 3, padding=1))
    return nn.Sequential(nn.Conv2d(3, channels, 3, padding=1), body, nn.Conv2d(channels, 4 * channels, 3, padding=1),
                         nn.PixelShuffle(2), nn.Conv2d(channels, 3, 3, padding=1)), (torch.rand(1, 3, pixels, pixels),)


def srgan(pixels=48, channels=64, blocks=5):
    """The generator of Ledig et al. 2017: kernels of 9 × 9 at both ends, PReLU, and two pixel shuffles."""
    def block():
        return Residual(nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.PReLU(),
                        nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels))

    def larger():
        return [nn.Conv2d(channels, 4 * channels, 3, padding=1), nn.PixelShuffle(2), nn.PReLU()]
    module = nn.Sequential(nn.Conv2d(3, channels, 9, padding=4), nn.PReLU(), *(block() for _ in range(blocks)),
                           *larger(), *larger(), nn.Conv2d(channels, 3, 9, padding=4), nn.Tanh())
    return module, (torch.rand(1, 3, pixels, pixels),)


def dcgan(channels=64):
    """The generator of Radford et al. 2016, for images of 64 × 64."""
    widths = [8 * channels, 4 * channels, 2 * channels, channels]
    layers = [nn.ConvTranspose2d(100, widths[0], 4, bias=False), nn.BatchNorm2d(widths[0]), nn.ReLU()]
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.ConvTranspose2d(inputs, outputs, 4, stride=2, padding=1, bias=False), nn.BatchNorm2d(outputs),
                   nn.ReLU()]
    layers += [nn.ConvTranspose2d(channels, 3, 4, stride=2, padding=1, bias=False), nn.Tanh()]
    return nn.Sequential(*layers), (torch.randn(1, 100, 1, 1),)


class StyledLayer(nn.Module):
    """Like a layer of StyleGAN (Karras et al. 2019): twice the size, convolution, scale and shift by the style."""

    def __init__(self, inputs, outputs, style):
        super().__init__()
        self.convolution = nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm = nn.InstanceNorm2d(outputs)
        self.style = nn.Linear(style, 2 * outputs)

    def forward(self, x, style):
        x = nn.functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
        scale, shift = self.style(style)[:, :, None, None].chunk(2, dim=1)
        x = nn.functional.leaky_relu(self.convolution(x), 0.2)
        return self.norm(x) * (1 + scale) + shift


class StyleGan(nn.Module):
    def __init__(self, style=256, widths=(256, 128, 64, 32, 16)):
        super().__init__()
        self.mapping = nn.Sequential(*(layer for _ in range(4)
                                       for layer in (nn.Linear(style, style), nn.LeakyReLU(0.2))))
        self.first = nn.Parameter(torch.randn(1, widths[0], 4, 4))
        self.layers = nn.ModuleList(StyledLayer(a, b, style) for a, b in zip(widths, widths[1:]))
        self.last = nn.Conv2d(widths[-1], 3, 1)

    def forward(self, noise):
        style, x = self.mapping(noise), self.first
        for layer in self.layers:
            x = layer(x, style)
        return self.last(x)


def stylegan():
    return StyleGan(), (torch.randn(1, 256),)


def style_transfer(pixels=128, channels=32):
    """Johnson et al. 2016 with instance norm: reflected edges, strides, residual blocks, enlarging by repetition."""
    def layer(inputs, outputs, kernel, stride=1):
        return [nn.ReflectionPad2d(kernel // 2), nn.Conv2d(inputs, outputs, kernel, stride),
                nn.InstanceNorm2d(outputs, affine=True)]
    wide = 4 * channels
    blocks = [Residual(*layer(wide, wide, 3), nn.ReLU(), *layer(wide, wide, 3)) for _ in range(3)]
    up = [[nn.Upsample(scale_factor=2), *layer(inputs, inputs // 2, 3), nn.ReLU()] for inputs in (wide, 2 * channels)]
    module = nn.Sequential(*layer(3, channels, 9), nn.ReLU(), *layer(channels, 2 * channels, 3, 2), nn.ReLU(),
                           *layer(2 * channels, wide, 3, 2), nn.ReLU(), *blocks, *up[0], *up[1],
                           nn.ReflectionPad2d(4), nn.Conv2d(channels, 3, 9))
    return module, (torch.rand(1, 3, pixels, pixels),)
