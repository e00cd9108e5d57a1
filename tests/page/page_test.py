"""The page in Chromium, as people use it, against a server with a runner and a device that answers without measuring.

page_test.py MODEL MOCKS NODE SCREENSHOTS    SCREENSHOTS: the folder for pictures of all views
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from common.fleet_members import Fleet
from common.program import PROGRAM, ROOT

MODEL, MOCKS, NODE, SCREENSHOTS = (pathlib.Path(argument) for argument in sys.argv[1:5])


def main():
    with tempfile.TemporaryDirectory() as folder:
        with Fleet(pathlib.Path(folder), PROGRAM, 2, ["--http", "127.0.0.1:0"]) as fleet:
            fleet.add_mocks("agent", MOCKS, 0.001)
            fleet.add_runner("runner")
            log = fleet.server_log()
            environment = {**os.environ, "PAGE_ADDRESS": re.findall(r"REST at (http://[^/]+)/", log)[-1],
                           "PAGE_TOKEN": re.search(r"^attune_\S{43}$", log, re.MULTILINE)[0],
                           "PAGE_MODEL": str(MODEL), "PAGE_SCREENSHOTS": str(SCREENSHOTS)}
            tests = subprocess.run([NODE, "--test", "--test-reporter=spec", ROOT / "web/e2e/page.test.ts"], check=False,
                                   env=environment, cwd=ROOT / "web")
    print(f"screenshots: {SCREENSHOTS}")
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main())
