"""Results of the study, for tests."""
from common import stats
from study import networks


def ran(milliseconds, pictures, watts):
    """An entry for `pictures` done at once in this time."""
    rate = 1e3 * pictures / milliseconds
    power = {} if watts is None else {"watts": watts, "joules": watts / rate}
    return {"status": "ran", "bytes": 3_000_000, "latency": stats.summary([[milliseconds]]), "per_second": rate,
            "round_per_second": [rate], **power}


NOT_SUPPORTED = {"status": "NS", "reason": "precision bf16: this-cpu has no avx512_bf16"}
ONE_AT_A_TIME = {"status": "NS", "reason": "this network of the zoo takes one picture at a time"}
SPEEDS = {"fp32": 1.0, "fp16": 1.1, "bf16": 0.7, "int8": 0.4, "mixed": 0.5, "clustered": 0.45}  # latency, times float's


def network_results(network, peers, watts):
    """Everything ran, except bf16, which is not supported, and batches of the zoo's network."""
    def artifact(version, batch):
        if network.is_zoo and batch > 1:
            return ONE_AT_A_TIME
        if version.name == "bf16":
            return NOT_SUPPORTED
        layers = {"int8": 50, "bf16": 1} if version.quantize else None
        return {"status": "made", "bytes": int(1e7 * SPEEDS[version.name]), "kernels": 9,
                **({"layers": layers} if layers else {})}

    def contestant(engine, version, setup):
        own = artifact(networks.version_named(version), setup.batch)
        if own["status"] == "NS":
            return {**own, "follows": True}
        slower = 1.5 if engine else 1.0
        return ran(10 * slower * SPEEDS[version] * setup.batch / setup.threads, setup.batch * setup.streams, watts)

    boxes = {"boxes_f1": 0.75, "expected_boxes": 40} if network.detects else {}
    return {
        "artifacts": {f"{version.name}-b{batch}": artifact(version, batch)
                      for version in networks.VERSIONS for batch in networks.BATCHES},
        "agreement": {version.name: {**NOT_SUPPORTED, "follows": True} if version.name == "bf16" else
                      {"status": "ran", "samples": 128, "top1": 0.875, "cosine": 0.98765, **boxes}
                      for version in networks.VERSIONS[1:]},
        "runs": {setup.name: {"setup": {}, "contestants": {
            networks.key_of(engine, version): contestant(engine, version, setup)
            for engine, version in networks.contestants(peers)}} for setup in networks.setups(2)}}


def sample(peers=(), watts=None):
    """A results.json for two processors."""
    power = {"status": "ran", "zones": ["package-0"]} if watts else {"status": "NS", "reason": "no energy counter"}
    return {"date": "2020-01-02T03:04:05+00:00", "command": "./do study --rounds 5 --seconds 2",
            "settings": {"processors": 2, "rounds": 5, "seconds": 2.0, "peers": list(peers),
                         "samples": {"source": "generated", "quantizing": 64, "judged": 128}},
            "machine": {"cpu": "A Processor", "cpu_family": 1, "cpu_model": 2, "instructions": ["avx2"],
                        "processors": 2, "caches": [], "memory_bytes": 1 << 30, "system": "An OS"},
            "attune": {"version": "0.1.0", "commit": "0123456789abcdef", "modified": False, "sha256": "ab"},
            "peer_versions": {"onnxruntime": "1.0"}, "power": power,
            "networks": {network.name: network_results(network, peers, watts) for network in networks.NETWORKS}}
