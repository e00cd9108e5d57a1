"""Encoders and decoders of text, as transformers defines them."""
import torch
import transformers

WIDTH, HEADS, LAYERS, WORDS = 256, 4, 4, 2000
SMALL = {"hidden_size": WIDTH, "num_attention_heads": HEADS, "num_hidden_layers": LAYERS,
         "intermediate_size": 4 * WIDTH, "vocab_size": WORDS}
NAMES = {  # of the same dimensions, in configurations that call them otherwise
    "DistilBertConfig": {"dim": WIDTH, "n_heads": HEADS, "n_layers": LAYERS, "hidden_dim": 4 * WIDTH,
                         "vocab_size": WORDS},
    "AlbertConfig": {**SMALL, "embedding_size": 128},
    "ElectraConfig": {**SMALL, "embedding_size": 128},
    "T5Config": {"d_model": WIDTH, "d_kv": WIDTH // HEADS, "num_heads": HEADS, "num_layers": LAYERS,
                 "d_ff": 4 * WIDTH, "vocab_size": WORDS},
    "GPT2Config": {"n_embd": WIDTH, "n_head": HEADS, "n_layer": LAYERS, "vocab_size": WORDS},
    "OPTConfig": {"hidden_size": WIDTH, "word_embed_proj_dim": WIDTH, "num_attention_heads": HEADS,
                  "num_hidden_layers": LAYERS, "ffn_dim": 4 * WIDTH, "vocab_size": WORDS},
    "MobileBertConfig": {"num_hidden_layers": 6, "vocab_size": WORDS},
    "FNetConfig": {key: value for key, value in SMALL.items() if key != "num_attention_heads"},
}


class Text(torch.nn.Module):
    """Token ids, and where there is one the mask of those that are no padding, to the last layer's states or logits."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask=None):
        return self.model(input_ids=ids, **({} if mask is None else {"attention_mask": mask}))[0]


def configuration(name, **options):
    return getattr(transformers, name)(**{**NAMES.get(name, SMALL), **options})


def build(model, config):
    """The model of this class with this configuration."""
    config.use_cache = False
    config._attn_implementation = "eager"
    return getattr(transformers, model)(config)


def words(tokens, batch=1):
    return torch.randint(5, WORDS, (batch, tokens))


def text(model, config, tokens=128, batch=1, **options):
    module = Text(build(model, configuration(config, **options)))
    mask = torch.ones(batch, tokens, dtype=torch.long)
    mask[:, tokens * 7 // 8:] = 0
    return module, (words(tokens, batch), mask)


def bert_base(tokens=64, layers=6):
    """In the dimensions of the well-known one."""
    config = transformers.BertConfig(num_hidden_layers=layers, vocab_size=WORDS)
    return Text(build("BertModel", config)), (words(tokens),)


class Decoder(torch.nn.Module):
    """One step: a token, and each layer's keys and values of those before, to its logits and all keys and values."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, position, *cache):
        past = transformers.DynamicCache()
        for layer, (keys, values) in enumerate(zip(cache[::2], cache[1::2])):
            past.update(keys, values, layer)
        outputs = self.model(input_ids=ids, position_ids=position, past_key_values=past, use_cache=True)
        return outputs.logits, [part for layer in outputs.past_key_values.layers for part in (layer.keys, layer.values)]


def decoder(model, config, past=1023, key_heads=HEADS, **options):
    settings = configuration(config, **options)
    module = Decoder(build(model, settings))
    shape = (1, key_heads, past, WIDTH // HEADS)
    cache = [torch.randn(shape) for _ in range(2 * LAYERS)]
    return module, (words(1), torch.full((1, 1), past), *cache)


class Translator(torch.nn.Module):
    """An encoder and a decoder that looks at it."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, source, target):
        return self.model(input_ids=source, decoder_input_ids=target)[0]


def translator(model, config, tokens=96, **options):
    module = Translator(build(model, configuration(config, **options)))
    return module, (words(tokens), words(tokens // 2))
