"""The compose file of the examples as the script that starts it reads it, and the helper that mounts folders."""
import os
import pathlib
import re
import tempfile
import unittest

from commands import run
from packages import compose, images
from packages.release import Failed

CONTAINERS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "examples" / "containers"


class ComposeTest(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "compose.yaml"
            path.write_text(text)
            return compose.read(path, {"HERE": "/here"})

    def test_the_example_is_a_server_with_two_agents(self):
        services = compose.read(CONTAINERS / "compose.yaml", {"ATTUNE_WORKSPACE": "/here"})
        self.assertEqual(services["server"].health.command, ["attune", "health", "server"])
        self.assertEqual(services["server"].health.interval, 5)
        for agent in ("1", "2"):
            self.assertEqual(services[f"agent-{agent}"].health.command, ["attune", "health", "agent"])
            self.assertIn(compose.Mount(f"agent-{agent}", "/agent", False), services[f"agent-{agent}"].mounts)
            self.assertEqual(services[f"agent-{agent}"].environment, {"ATTUNE_LEASES": "/leases"})
            self.assertEqual(services[f"invite-{agent}"].after, {"server": "service_healthy"})
            # podman-compose never starts a service that waits for the end of another one.
            self.assertEqual(services[f"agent-{agent}"].after, {})
            self.assertTrue(services[f"agent-{agent}"].is_restarted)
        self.assertEqual([name for name, service in services.items() if service.is_on_demand],
                         ["attune", "runtime"])
        self.assertEqual(services["attune"].mounts[1:],
                         [compose.Mount(".", "/models", True), compose.Mount("/here", "/workspace", False)])

    def test_variables_are_filled_in(self):
        services = self.read("services: {a: {image: i, network_mode: host, command: ['${HERE}', '${NO:-b}', '$$c']}}")
        self.assertEqual(services["a"].command, ["/here", "b", "$c"])

    def test_what_is_not_understood_is_refused(self):
        for text, why in (("{a: {image: i, network_mode: host, ports: ['80']}}", "ports"),
                          ("{a: {image: i}}", "network_mode"),
                          ("{a: {image: i, network_mode: host, restart: always}}", "restart: always"),
                          ("{a: {image: i, network_mode: host, depends_on: {a: {condition: x}}}}", "wait for each")):
            with self.assertRaisesRegex(Failed, why):
                self.read(f"services: {text}")
        with self.assertRaisesRegex(Failed, "compose.yaml: name: is not understood by all engines"):
            self.read("{name: a, services: {}}")


class ImagesTest(unittest.TestCase):
    def test_attune_up_mounts_folders_of_the_images_as_their_user(self):
        plan = (CONTAINERS.parents[2] / "src" / "process" / "setup" / "container_plan.cc").read_text()
        mounted = set(re.findall(r'":/(\w+)"', plan))
        self.assertEqual(mounted, {"state", "server", "leases"})
        self.assertLessEqual(mounted, set(images.MOUNTED))
        self.assertIn(f'kUser[] = "{images.USER}:{images.USER}"', plan)


class HelperTest(unittest.TestCase):
    def test_the_helper_mounts_workspace_and_models(self):
        with tempfile.TemporaryDirectory() as folder:
            said = run(CONTAINERS / "attune-in-container", "compile", "a b.onnx", cwd=folder,
                       env={**os.environ, "ATTUNE_ENGINE": "echo", "ATTUNE_MODELS": "/nets"})
        self.assertIn(f"--volume {folder}:/workspace --volume /nets:/models:ro localhost/attune-compiler:", said)
        self.assertTrue(said.endswith(" compile a b.onnx\n"))


if __name__ == "__main__":
    unittest.main()
