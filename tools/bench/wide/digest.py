"""Tells when an exported network is out of date: if the function that makes it, its arguments or the exporter have
changed. The source of a function is read, not imported, so that this needs no torch.
"""
import ast
import hashlib
import importlib.metadata
import json
import pathlib

PACKAGES = ("torch", "torchvision", "transformers", "onnxruntime")
HERE = pathlib.Path(__file__).parent


def digest(network):
    """The digest of everything that makes the network, in hexadecimal digits."""
    file, function = network.maker.split(".")
    parts = {
        "maker": definitions((HERE / f"{file}.py").read_text(), function),
        "arguments": network.arguments,
        "export": [network.dynamo, network.weights, definitions((HERE / "export.py").read_text(), "export")],
        "versions": {package: version(package) for package in PACKAGES},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def definitions(text, name):
    """{name: source} of a definition in a file and of all others in the file that it uses, directly or not.

    Raises KeyError if the file has no such definition.
    """
    nodes = {}
    for node in ast.parse(text).body:
        for defined in names_defined(node):
            nodes[defined] = node
    found, pending = {}, [name]
    while pending:
        each = pending.pop()
        if each not in found:
            found[each] = ast.get_source_segment(text, nodes[each])
            used = {node.id for node in ast.walk(nodes[each]) if isinstance(node, ast.Name)}
            pending += sorted(used & nodes.keys())
    return found


def names_defined(node):
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []
