"""Networks and their model files.

    cases  well-known architectures, and variants of them
    files  makes a case's model files, with export_torch, export_keras, quantize_onnx and convert_mnn
    zoo    the networks that the program writes itself
"""
