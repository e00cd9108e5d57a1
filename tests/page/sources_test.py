"""The page's sources fit to the document of the program, to their style, and do what their unit tests say."""
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from generators import page_types
from generators.page_types import WEB


def run(*command, folder=WEB):
    """Runs a tool of the page; fails with all that it says."""
    result = subprocess.run([page_types.node(), *command], capture_output=True, text=True, check=False, cwd=folder)
    if result.returncode != 0:
        raise AssertionError(result.stdout + result.stderr)


class SourcesTest(unittest.TestCase):
    """Each tool once."""

    def test_the_page_asks_what_the_program_answers(self):
        """With types made anew from the program's document; ./do page-types renews those in web/."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for part in ("src", "e2e"):
                shutil.copytree(WEB / part, folder / part)
            for part in ("tsconfig.json", "vite.config.ts"):
                shutil.copy(WEB / part, folder / part)
            (folder / "node_modules").symlink_to(WEB / "node_modules")
            page_types.write_types(folder / "src/api/schema.d.ts")
            compiler = WEB / "node_modules/typescript/bin/tsc"
            run(compiler, "--noEmit", folder=folder)
            run(compiler, "--noEmit", "-p", "e2e", folder=folder)

    def test_style(self):
        """Without a warning."""
        run("node_modules/eslint/bin/eslint.js", "--max-warnings", "0", ".")

    def test_units(self):
        """Logic without a browser."""
        run("node_modules/vitest/vitest.mjs", "run")


if __name__ == "__main__":
    unittest.main()
