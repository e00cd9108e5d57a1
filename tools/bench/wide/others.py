"""Networks for tables, sequences, graphs, points and volumes, and single layers with unusual shapes."""
import torch
from torch import nn


def perceptron(*widths, activation=nn.ReLU):
    layers = []
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers[:-1])


class Dlrm(nn.Module):
    """Naumov et al. 2019: bags of categories and dense features, all pairs' products, and a perceptron."""

    def __init__(self, tables=16, rows=5000, width=32, dense=13):
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(rows, width) for _ in range(tables))
        self.bottom = perceptron(dense, 256, 128, width)
        self.top = perceptron(width + tables * (tables + 1) // 2, 256, 128, 1)
        self.register_buffer("pairs", torch.tril_indices(tables + 1, tables + 1, -1))

    def forward(self, dense, categories):
        bottom = self.bottom(dense)
        sparse = [table(categories[:, index]).sum(dim=1) for index, table in enumerate(self.tables)]
        features = torch.stack([bottom, *sparse], dim=1)
        products = torch.matmul(features, features.transpose(1, 2))
        pairs = products[:, self.pairs[0], self.pairs[1]]
        return torch.sigmoid(self.top(torch.cat([bottom, pairs], dim=1)))


def dlrm(batch=64, bag=4):
    return Dlrm(), (torch.randn(batch, 13), torch.randint(0, 5000, (batch, 16, bag)))


def tabular(batch=256, features=100):
    module = nn.Sequential(nn.BatchNorm1d(features), perceptron(features, 256, 256, 128, 10, activation=nn.SELU))
    return module, (torch.randn(batch, features),)


class Tagger(nn.Module):
    """Words to a tag each, by a recurrent network in both directions."""

    def __init__(self, cell, width=128, words=2000, tags=20):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.cell = cell(width, width, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(2 * width, tags)

    def forward(self, ids):
        return torch.log_softmax(self.tags(self.cell(self.embedding(ids))[0]), dim=-1)


def tagger(cell, tokens=64):
    return Tagger(getattr(nn, cell)), (torch.randint(0, 2000, (1, tokens)),)


class GraphLayer(nn.Module):
    """Messages along edges, added up where they arrive (Gilmer et al. 2017)."""

    def __init__(self, width):
        super().__init__()
        self.message = perceptron(2 * width, width, width)
        self.update = nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, nodes, sources, targets):
        messages = self.message(torch.cat([nodes[sources], nodes[targets]], dim=1))
        index = targets[:, None].expand_as(messages)
        received = torch.zeros_like(nodes).scatter_add(0, index, messages)
        return nodes + self.norm(torch.relu(self.update(torch.cat([nodes, received], dim=1))))


class Graph(nn.Module):
    def __init__(self, width=64, layers=3):
        super().__init__()
        self.layers = nn.ModuleList(GraphLayer(width) for _ in range(layers))
        self.last = nn.Linear(width, 8)

    def forward(self, nodes, sources, targets):
        for layer in self.layers:
            nodes = layer(nodes, sources, targets)
        return self.last(nodes)


def graph(nodes=500, edges=2000, width=64):
    return Graph(width), (torch.randn(nodes, width), torch.randint(0, nodes, (edges,)),
                          torch.randint(0, nodes, (edges,)))


class PointNet(nn.Module):
    """Qi et al. 2017, without its transforms of the input."""

    def __init__(self, classes=40):
        super().__init__()
        widths = (3, 64, 64, 64, 128, 1024)
        self.points = nn.Sequential(*(layer for a, b in zip(widths, widths[1:])
                                      for layer in (nn.Conv1d(a, b, 1), nn.BatchNorm1d(b), nn.ReLU())))
        self.last = perceptron(1024, 512, 256, classes)

    def forward(self, points):
        return self.last(self.points(points).max(dim=2).values)


def pointnet(points=1024):
    return PointNet(), (torch.randn(1, 3, points),)


def volumes(size=32, channels=16):
    """Three 3-D convolutions, as of an organ's scan."""
    module = nn.Sequential(nn.Conv3d(1, channels, 3, padding=1), nn.ReLU(),
                           nn.Conv3d(channels, 2 * channels, 3, stride=2, padding=1), nn.ReLU(),
                           nn.Conv3d(2 * channels, 2 * channels, 3, padding=1), nn.ReLU())
    return module, (torch.randn(1, 1, size, size, size),)


def depthwise(channels=96, pixels=56, kernel=7):
    """Twice, the first time of the network's input."""
    def layer():
        return nn.Conv2d(channels, channels, kernel, padding=kernel // 2, groups=channels)
    return nn.Sequential(layer(), layer()), (torch.randn(1, channels, pixels, pixels),)


def softmax(rows=512, columns=1000):
    return nn.Softmax(dim=-1), (torch.randn(rows, columns),)


def patches(pixels=224, size=16, width=384):
    """A vision transformer's first layer, and its tokens."""
    module = nn.Sequential(nn.Conv2d(3, width, size, stride=size), nn.Flatten(2), nn.LayerNorm((pixels // size)**2))
    return module, (torch.randn(1, 3, pixels, pixels),)


class MixerLayer(nn.Module):
    """Tolstikhin et al. 2021: a perceptron over the tokens, and one over the channels."""

    def __init__(self, tokens, width):
        super().__init__()
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.tokens = perceptron(tokens, tokens // 2, tokens, activation=nn.GELU)
        self.channels = perceptron(width, 4 * width, width, activation=nn.GELU)

    def forward(self, x):
        x = x + self.tokens(self.first(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.second(x))


def mixer(tokens=196, width=256, layers=4):
    return nn.Sequential(*(MixerLayer(tokens, width) for _ in range(layers))), (torch.randn(1, tokens, width),)


class Cells(nn.Module):
    """LSTM cells one after another, with a state that the caller keeps."""

    def __init__(self, width=256):
        super().__init__()
        self.first, self.second = nn.LSTMCell(80, width), nn.LSTMCell(width, width)
        self.last = nn.Linear(width, 80)

    def forward(self, frame, *state):
        first = self.first(frame, (state[0], state[1]))
        second = self.second(first[0], (state[2], state[3]))
        return self.last(second[0]), *first, *second


def streaming(width=256):
    """A single step of a recurrent network, as of speech that is being spoken."""
    return Cells(width), (torch.randn(1, 80), *(torch.randn(1, width) for _ in range(4)))
