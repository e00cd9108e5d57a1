"""python -m accuracy.export_minilm FOLDER FILE    writes the sentence encoder in FOLDER as ONNX

The input is the token ids of one text without padding, so it needs no mask; the output is the vectors of the last
layer. Their mean is the sentence's embedding.
"""
import sys

import torch
from transformers import BertModel

from accuracy.models import OPSET
from accuracy.texts import TOKENS


class LastHiddenState(torch.nn.Module):
    """Token ids [1, TOKENS] to vectors [1, TOKENS, 384]."""

    def __init__(self, folder):
        super().__init__()
        self.bert = BertModel.from_pretrained(folder, attn_implementation="eager", add_pooling_layer=False,
                                              dtype=torch.float32)

    def forward(self, ids):
        return self.bert(input_ids=ids).last_hidden_state


def main():
    folder, path = sys.argv[1:]
    # The fused attention for inference cannot be traced.
    torch.backends.mha.set_fastpath_enabled(False)
    with torch.no_grad():
        torch.onnx.export(LastHiddenState(folder).eval(), (torch.zeros(1, TOKENS, dtype=torch.long),), path,
                          opset_version=OPSET, dynamo=False, input_names=["ids"], output_names=["vectors"])


main()
