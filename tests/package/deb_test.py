"""The Debian packages in build/dist/: lintian has nothing to say of them, and they leave nothing behind."""
import os
import pathlib
import unittest

from commands import run

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class DebTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        dist = ROOT / "build" / "dist"
        cls.packages = [next(dist.glob(f"{name}_*.deb"))
                        for name in ("attune", "attune-server", "libattune-runtime-dev", "libattune-dev")]

    def test_lintian_finds_nothing(self):
        self.assertEqual(run("lintian", "--allow-root", *self.packages), "")

    @unittest.skipUnless(os.geteuid() == 0, "packages are installed as root only")
    def test_are_installed_work_and_are_removed(self):
        example = ROOT / "docs" / "examples" / "package" / "run_artifact.cc"
        said = run(HERE / "in_copy_of_root.sh", ROOT / "tools" / "packages" / "try_deb.sh", *self.packages,
                   cwd=ROOT, env={**os.environ, "EXAMPLE": str(example)})
        self.assertRegex(said, r"4000 bytes(.|\n)*nothing is left")


if __name__ == "__main__":
    unittest.main()
