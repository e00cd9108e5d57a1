"""A real OpenID Connect provider on loopback, for tests that log people in."""
import json
import pathlib
import socket
import subprocess

PROVIDER = pathlib.Path(__file__).parent / "oidc/provider.mjs"


def free_port():
    """A free port of this machine."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def write_issuers(folder, server, port, role):
    """Writes what a server is told of the provider at this port, whose Ann gets the role; returns the file."""
    secret, issuers = folder / "secret", folder / "issuers.json"
    secret.write_text("of the page\n")
    secret.chmod(0o600)
    issuers.write_text(json.dumps({"url": server, "issuers": [
        {"name": "local", "issuer": f"http://127.0.0.1:{port}", "client_id": "page", "client_secret_file": "secret",
         "cli_client_id": "cli", "scope": "openid profile offline_access", "tenant": {"claim": "tenant"},
         "role": {"claim": "roles", "values": {"tuner": role}}}]}))
    return issuers


class Provider:
    """The provider with one key; a new one at the same port has other keys."""

    def __init__(self, node, port, callback, key):
        self.url = f"http://127.0.0.1:{port}"
        self._process = subprocess.Popen([node, PROVIDER, str(port), callback, key],
                                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout.readline() == "ready\n", "the provider does not start"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()
