"""Sound networks: transformers' encoders, and separators and generators written by hand after their papers."""
import torch
import transformers
from torch import nn


class FirstOutput(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, samples):
        return self.model(samples)[0]


def build(model, config, **options):
    settings = getattr(transformers, config)(**options)
    settings._attn_implementation = "eager"
    return getattr(transformers, model)(settings)


def whisper(frames=3000, layers=4):
    config = transformers.WhisperConfig(encoder_layers=layers, d_model=384, encoder_attention_heads=6,
                                        encoder_ffn_dim=1536)
    config._attn_implementation = "eager"
    encoder = transformers.models.whisper.modeling_whisper.WhisperEncoder(config)
    return FirstOutput(encoder), (torch.randn(1, config.num_mel_bins, frames),)


def speech(model, config, samples=16000, layers=4):
    module = build(model, config, num_hidden_layers=layers, hidden_size=384, num_attention_heads=6,
                   intermediate_size=1536)
    return FirstOutput(module), (torch.randn(1, samples),)


def spectrogram(frames=256, layers=4):
    """The Audio Spectrogram Transformer."""
    module = build("ASTModel", "ASTConfig", num_hidden_layers=layers, hidden_size=384, num_attention_heads=6,
                   intermediate_size=1536, max_length=frames)
    return FirstOutput(module), (torch.randn(1, frames, 128),)


class GatedLayer(nn.Module):
    """A layer of WaveNet (van den Oord et al. 2016): a causal dilated convolution, gated, a residual and a skip."""

    def __init__(self, channels, dilation):
        super().__init__()
        self.pad = nn.ConstantPad1d((dilation, 0), 0.0)
        self.filter = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.gate = nn.Conv1d(channels, channels, 2, dilation=dilation)
        self.skip = nn.Conv1d(channels, 2 * channels, 1)
        self.residual = nn.Conv1d(channels, channels, 1)

    def forward(self, x):
        padded = self.pad(x)
        gated = torch.tanh(self.filter(padded)) * torch.sigmoid(self.gate(padded))
        return x + self.residual(gated), self.skip(gated)


class WaveNet(nn.Module):
    def __init__(self, channels, dilations):
        super().__init__()
        self.first = nn.Conv1d(1, channels, 1)
        self.layers = nn.ModuleList(GatedLayer(channels, dilation) for dilation in dilations)
        self.last = nn.Sequential(nn.ReLU(), nn.Conv1d(2 * channels, 128, 1), nn.ReLU(), nn.Conv1d(128, 256, 1))

    def forward(self, samples):
        x, total = self.first(samples), 0
        for layer in self.layers:
            x, skip = layer(x)
            total = total + skip
        return self.last(total)


def wavenet(samples=4000, channels=32):
    return WaveNet(channels, [2**i for i in range(9)]), (torch.randn(1, 1, samples),)


class TemporalBlock(nn.Module):
    """A block of a temporal convolutional network (Bai et al. 2018)."""

    def __init__(self, inputs, outputs, dilation):
        super().__init__()
        self.body = nn.Sequential(
            nn.ConstantPad1d((2 * dilation, 0), 0.0), nn.Conv1d(inputs, outputs, 3, dilation=dilation), nn.ReLU(),
            nn.ConstantPad1d((2 * dilation, 0), 0.0), nn.Conv1d(outputs, outputs, 3, dilation=dilation), nn.ReLU())
        self.shortcut = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.shortcut(x))


def tcn(steps=1000, channels=64):
    blocks = [TemporalBlock(16 if i == 0 else channels, channels, 2**i) for i in range(6)]
    return nn.Sequential(*blocks, nn.Conv1d(channels, 10, 1)), (torch.randn(1, 16, steps),)


class SeparatorBlock(nn.Module):
    """A block of Conv-TasNet (Luo and Mesgarani 2019): 1 × 1, PReLU, norm over everything, depthwise, the same, 1 ×
    1."""

    def __init__(self, channels, hidden, dilation):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv1d(channels, hidden, 1), nn.PReLU(), nn.GroupNorm(1, hidden, eps=1e-8),
            nn.Conv1d(hidden, hidden, 3, padding=dilation, dilation=dilation, groups=hidden), nn.PReLU(),
            nn.GroupNorm(1, hidden, eps=1e-8), nn.Conv1d(hidden, channels, 1))

    def forward(self, x):
        return x + self.body(x)


class ConvTasNet(nn.Module):
    def __init__(self, filters=256, channels=64, hidden=128, sources=2):
        super().__init__()
        self.filters, self.sources = filters, sources
        self.encoder = nn.Conv1d(1, filters, 16, stride=8, bias=False)
        self.separator = nn.Sequential(
            nn.GroupNorm(1, filters, eps=1e-8), nn.Conv1d(filters, channels, 1),
            *(SeparatorBlock(channels, hidden, 2**i) for _ in range(2) for i in range(6)), nn.PReLU(),
            nn.Conv1d(channels, sources * filters, 1), nn.Sigmoid())
        self.decoder = nn.ConvTranspose1d(filters, 1, 16, stride=8, bias=False)

    def forward(self, samples):
        encoded = torch.relu(self.encoder(samples))
        masks = self.separator(encoded).view(1, self.sources, self.filters, -1)
        masked = masks * encoded.unsqueeze(1)
        return self.decoder(masked.view(self.sources, self.filters, -1))


def conv_tasnet(samples=8000):
    return ConvTasNet(), (torch.randn(1, 1, samples),)


class Demucs(nn.Module):
    """Like Demucs (Défossez et al. 2019) without its LSTM: strided convolutions, and transposed ones back."""

    def __init__(self, channels=32, depth=4):
        super().__init__()
        self.down, self.up = nn.ModuleList(), nn.ModuleList()
        inputs = 2
        for level in range(depth):
            outputs = channels * 2**level
            self.down.append(nn.Sequential(nn.Conv1d(inputs, outputs, 8, stride=4, padding=2), nn.ReLU(),
                                           nn.Conv1d(outputs, 2 * outputs, 1), nn.GLU(dim=1)))
            self.up.insert(0, nn.Sequential(nn.Conv1d(outputs, 2 * outputs, 3, padding=1), nn.GLU(dim=1),
                                            nn.ConvTranspose1d(outputs, inputs, 8, stride=4, padding=2),
                                            nn.ReLU() if level else nn.Identity()))
            inputs = outputs

    def forward(self, x):
        skips = []
        for layer in self.down:
            x = layer(x)
            skips.append(x)
        for layer in self.up:
            x = layer(x + skips.pop())
        return x


def demucs(samples=16384):
    return Demucs(), (torch.randn(1, 2, samples),)
