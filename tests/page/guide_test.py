"""The commands of docs/guides/service.md, as they stand there, with Chromium in the place of the person at the page.

guide_test.py NODE SCREENSHOTS    SCREENSHOTS: the folder for pictures
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from common.program import PROGRAM, ROOT

NODE, SCREENSHOTS = sys.argv[1:3]
# The guide's ports may be in use here, and this machine may be unable to fence measurements in.
UP_FLAGS = "--listen 127.0.0.1:0 --enrolment 127.0.0.1:0 --metrics 127.0.0.1:0 --http 127.0.0.1:0 --trust server"
SHIM = f"""#!/bin/sh
[ "$*" != up ] || set -- "$@" {UP_FLAGS}
exec {PROGRAM} "$@"
"""


def commands_of_guide():
    """The blocks of commands before and after the browser."""
    text = (ROOT / "docs/guides/service.md").read_text()
    section = re.search(r"^## In a browser\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)[1]
    before, after = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    return before, after


def runs(pid):
    """Whether there is such a process."""
    return pathlib.Path(f"/proc/{pid}").exists()


class GuideTest(unittest.TestCase):
    """From nothing to a tuned network that runs, and back to nothing."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.state = self.folder / "state"
        (self.folder / "bin").mkdir()
        shim = self.folder / "bin/attune"
        shim.write_text(SHIM)
        shim.chmod(0o755)
        self.environment = {**os.environ, "PATH": f"{shim.parent}:{os.environ['PATH']}", "ATTUNE_UP": str(self.state),
                            "ATTUNE_SERVERS": str(self.folder / "servers.json"),
                            "ATTUNE_LEASES": str(self.folder / "leases"), "ATTUNE_RECORDS": "none"}
        self.addCleanup(self.end)

    def end(self):
        """Ends what a failed test has left."""
        if self.state.exists():
            self.shell("attune down")

    def shell(self, commands):
        """Runs commands as in a terminal; returns what they print."""
        result = subprocess.run(["bash", "-e", "-c", commands], capture_output=True, text=True, check=False,
                                env=self.environment, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def use_the_page(self, address, token):
        """The part of the guide that happens in a browser."""
        environment = {**os.environ, "PAGE_ADDRESS": address, "PAGE_TOKEN": token, "PAGE_SCREENSHOTS": SCREENSHOTS,
                       "PAGE_MODEL": str(self.folder / "net.onnx"), "PAGE_DOWNLOADS": str(self.folder)}
        browser = subprocess.run([NODE, "--test", "--test-reporter=spec", ROOT / "web/e2e/guide.test.ts"], check=False,
                                 capture_output=True, text=True, env=environment, cwd=ROOT / "web")
        self.assertEqual(browser.returncode, 0, browser.stdout + browser.stderr)

    def test_the_commands_do_what_the_guide_says(self):
        """Up, submit, follow, download, run, down; nothing is left."""
        before, after = commands_of_guide()
        printed = self.shell(before)
        address, token = (re.search(rf"^{name} +(\S+)$", printed, re.MULTILINE)[1] for name in ("address", "token"))
        services = json.loads(self.shell("attune up --show --json -"))["services"]
        pids = [service["pid"] for service in services]
        self.assertTrue(pids and all(map(runs, pids)))
        self.use_the_page(address, token)
        self.assertRegex(self.shell(after), r"output f32\[1,1000\]")
        self.assertFalse(any(map(runs, pids)))
        self.assertFalse(self.state.exists())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
