"""What quantization costs: ./do accuracy compares networks of integers with the float networks that they come from.

    networks   what is compared: each network with its data, its metric and its quantized form of LiteRT
    sounds     windows of recordings and their features; texts sentences as tokens
    models     the model files: trained networks, and what the peers need beside them, with export_minilm
    quantizers the tools: Attune in two ways, ONNX Runtime and LiteRT, each from a network to what runs it
    engines    loads models and runs samples
    lab        runs one tool on one network, in a process of its own
    results    the document that a run writes, and what is published of it
    page       writes docs/quantization.md
    options    the command line
"""
