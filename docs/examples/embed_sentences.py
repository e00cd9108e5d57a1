"""Prints sentences, the one nearest in meaning to a question first, by the embeddings of MiniLM.

pip install tokenizers
python embed_sentences.py all-MiniLM-L6-v2.onnx vocab.txt QUESTION SENTENCE...
"""
import sys

import attune
import numpy
from tokenizers import BertWordPieceTokenizer


class Embedder:
    """Makes a vector of length 1 of a sentence; the more alike two sentences are, the larger is the product of theirs."""

    def __init__(self, model, vocabulary):
        self.tokenizer = BertWordPieceTokenizer(vocabulary)
        self.tokenizer.enable_truncation(128)
        # Compiled for four lengths. Shorter sentences are padded with zeros, which the mask hides.
        self.network = attune.load(model, pad_to={"sequence": [16, 32, 64, 128]})

    def embed(self, sentence):
        tokens = self.tokenizer.encode(sentence)
        inputs = {"input_ids": tokens.ids, "attention_mask": tokens.attention_mask, "token_type_ids": tokens.type_ids}
        hidden = self.network.run({name: numpy.array([values]) for name, values in inputs.items()})["last_hidden_state"]
        mean = hidden[0].mean(axis=0)
        return mean / numpy.linalg.norm(mean)


if __name__ == "__main__":
    model, vocabulary, question, *sentences = sys.argv[1:]
    embedder = Embedder(model, vocabulary)
    asked = embedder.embed(question)
    for likeness, sentence in sorted(((asked @ embedder.embed(sentence), sentence) for sentence in sentences), reverse=True):
        print(f"{likeness:.2f} {sentence}")
