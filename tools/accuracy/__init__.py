"""The cost of quantization: ./do accuracy compares networks of integers with the float networks that they come from.

    networks   the networks, each with its data, its metric and its quantized form for LiteRT
    sounds     windows of recordings and their features; texts sentences as tokens
    models     the model files: trained networks, and further files for the peers, with export_minilm
    quantizers the tools: Attune in two ways, ONNX Runtime and LiteRT, each from a network to a runner
    engines    loads models and runs samples
    lab        runs one tool on one network, in a process of its own
    results    the document that a run writes, and the part of it that is published
    page       writes docs/quantization.md
    options    the command line
"""
