"""A person logs in at a real OpenID Connect provider by the page's button, in Chromium, and out again.

oidc_page_test.py NODE SCREENSHOTS    SCREENSHOTS: the folder for pictures
"""
import contextlib
import http.client
import os
import pathlib
import subprocess
import sys
import tempfile

from common.fleet_members import Fleet
from common.program import PROGRAM, ROOT
from common.waiting import await_true
from oidc_provider import Provider, free_port, write_issuers

NODE, SCREENSHOTS = sys.argv[1:3]


def await_issuer(server):
    """Waits until the server sends browsers to the provider."""
    def is_known():
        connection = http.client.HTTPConnection(server)
        with contextlib.suppress(ConnectionRefusedError):  # until it listens
            connection.request("GET", "/v1/login?issuer=local")
            status = connection.getresponse().status
            connection.close()
            return status == 303
        return False
    await_true("the server knows its issuer", is_known)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder, port, server = pathlib.Path(name), free_port(), f"127.0.0.1:{free_port()}"
        issuers = write_issuers(folder, f"http://{server}", port, "operator")
        with Provider(NODE, port, f"http://{server}/v1/login/callback", "first") as provider:
            with Fleet(folder, PROGRAM, 2, ["--http", server, "--oidc", issuers]):
                await_issuer(server)
                environment = {**os.environ, "PAGE_ADDRESS": f"http://{server}", "PAGE_ISSUER": provider.url,
                               "PAGE_TOKEN": "none", "PAGE_MODEL": "none", "PAGE_SCREENSHOTS": SCREENSHOTS}
                return subprocess.run([NODE, "--test", "--test-reporter=spec", ROOT / "web/e2e/oidc.test.ts"],
                                      check=False, env=environment, cwd=ROOT / "web").returncode


if __name__ == "__main__":
    sys.exit(main())
