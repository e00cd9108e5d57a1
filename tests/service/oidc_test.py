"""People log in at a real OpenID Connect provider: in a browser, and by a device code.

oidc_test.py NODE    NODE: the program; the provider's packages are those of tools/setup.sh tests
"""
import base64
import concurrent.futures
import http.client
import http.cookies
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest
import urllib.parse

from common import program
from common.fleet_members import Fleet
from common.program import PROGRAM, Failed, attune, attune_json
from common.waiting import await_true
from oidc_provider import Provider, free_port, write_issuers

# The client alone, without the compiler that the package brings.
package = types.ModuleType("attune")
package.__path__ = [str(pathlib.Path(__file__).resolve().parents[2] / "python/attune")]
sys.modules["attune"] = package
from attune.client import Client  # noqa: E402

NODE = sys.argv[1]


class Browser:
    """Follows redirects and forms, and keeps cookies, by host and port."""

    def __init__(self):
        self._cookies = {}

    def ask(self, url, form=None, headers=None):
        """The status, the headers, the text of an answer and the URL that it came from."""
        for _ in range(20):
            parts = urllib.parse.urlsplit(url)
            kept = self._cookies.setdefault(parts.netloc, {})
            sent = {"Cookie": "; ".join(f"{name}={value}" for name, value in kept.items()), **(headers or {})}
            body = None
            if form is not None:
                body, sent["Content-Type"] = urllib.parse.urlencode(form), "application/x-www-form-urlencoded"
            connection = http.client.HTTPConnection(parts.netloc)
            target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
            connection.request("GET" if form is None else "POST", target, body, sent)
            response = connection.getresponse()
            text = response.read().decode()
            connection.close()
            for line in response.headers.get_all("Set-Cookie") or []:
                for name, cookie in http.cookies.SimpleCookie(line).items():
                    kept[name] = cookie.value
            if response.status not in (302, 303):
                return response.status, response.headers, text, url
            url, form = urllib.parse.urljoin(url, response.headers["Location"]), None
        raise AssertionError(f"{url}: too many redirects")

    def submit(self, answer, **more):
        """Submits the form of a page."""
        _, _, text, url = answer
        fields = dict(re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', text))
        action = re.search(r'<form[^>]*action="([^"]+)"', text)
        return self.ask(urllib.parse.urljoin(url, action[1]), {**fields, **more})


class OidcTest(unittest.TestCase):
    """One server for all tests; each has a provider."""

    @classmethod
    def setUpClass(cls):
        folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.port = free_port()
        cls.server = f"http://127.0.0.1:{free_port()}"
        issuers = write_issuers(folder, cls.server, cls.port, "member")
        cls.enterClassContext(Fleet(folder, PROGRAM, 2,
                                    ["--http", cls.server.removeprefix("http://"), "--oidc", issuers]))

    def provider(self, key):
        """A provider that runs as long as the test, or until it is ended."""
        return Provider(NODE, self.port, f"{self.server}/v1/login/callback", key)

    def log_in(self, browser):
        """Logs in by code, and returns the session. The server asks the provider for its keys every ten seconds."""
        await_true("the browser is at the page again",
                   lambda: browser.ask(f"{self.server}/v1/login?issuer=local")[3] == f"{self.server}/")
        return json.loads(browser.ask(f"{self.server}/v1/session")[2])

    def device_token(self, provider):
        """The ID token of a person who has entered a device code in a browser."""
        def post(path, **form):
            return json.loads(Browser().ask(provider.url + path, form)[2])
        code = post("/device/auth", client_id="cli", scope="openid profile offline_access")
        browser = Browser()
        self.assertIn("Success", browser.submit(browser.submit(browser.ask(code["verification_uri_complete"])))[2])
        return post("/token", grant_type="urn:ietf:params:oauth:grant-type:device_code",
                    device_code=code["device_code"], client_id="cli")["id_token"]

    def enter_code(self, login):
        """Enters the code that `attune login` shows in a browser, and returns all that it prints."""
        shown = "".join(login.stderr.readline() for _ in range(2))
        where, code = re.search(r"log in at (\S+)\n.* shows the code (\S+)\n", shown).groups()
        self.assertIn(code, urllib.parse.unquote(where))
        browser = Browser()
        self.assertIn("Success", browser.submit(browser.submit(browser.ask(where)))[2])
        out, err = login.communicate()
        self.assertEqual(login.returncode, 0, err)
        return out + shown + err

    def me(self, token):
        """The status of GET /v1/me."""
        return Browser().ask(f"{self.server}/v1/me", headers={"Authorization": f"Bearer {token}"})[0]

    def check_python(self, change, known, ended):
        """The Python client renews the same login, however many of them do so at once."""
        change(token=ended)
        clients = [Client(self.server) for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(len(clients)) as threads:
            names = list(threads.map(lambda client: client.me()["name"], clients))
        self.assertEqual(names, ["Ann"] * len(clients))
        self.assertEqual(self.me(known()["token"]), 200)
        change(token=known()["token"][:-8] + "AAAAAAAA")
        self.assertEqual(Client().me()["name"], "Ann", "the server has refused the token")
        self.assertEqual(self.me(known()["token"]), 200)

    def test_a_browser_logs_in_and_keys_rotate(self):
        """Code flow with PKCE; an outage of the provider; another provider's key at the same place."""
        browser = Browser()
        with self.provider("first") as provider:
            session = self.log_in(browser)
            token = self.device_token(provider)
            self.assertEqual([session[name] for name in ("name", "tenant", "role")], ["Ann", "lab", "member"])
        # The provider is away, and both live on.
        self.assertEqual(browser.ask(f"{self.server}/v1/me")[0], 200)
        self.assertEqual(self.me(token), 200)
        self.assertEqual(self.me(token[:-8] + "AAAAAAAA"), 401)
        with self.provider("second"):
            self.assertEqual(self.log_in(Browser())["tenant"], "lab")
        self.assertEqual(browser.ask(f"{self.server}/v1/me")[0], 200)
        self.assertEqual(self.me(token), 401, "its key is withdrawn")

    def test_the_command_line_logs_in_and_renews_its_token(self):
        """Device code; a token that has ended, or that the server refuses; a login that has ended."""
        kept = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())) / "servers.json"
        for environment in (program.ENVIRONMENT, os.environ):
            environment["ATTUNE_SERVERS"] = str(kept)
            self.addCleanup(environment.pop, "ATTUNE_SERVERS")

        def known():
            return json.loads(kept.read_text())["servers"][self.server]

        def change(**fields):
            kept.write_text(json.dumps({"default": self.server, "servers": {self.server: {**known(), **fields}}}))

        with self.provider("first") as provider:
            self.log_in(Browser())  # The server knows the keys.
            login = subprocess.Popen([PROGRAM, "login", self.server], env={**os.environ, **program.ENVIRONMENT},
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            shown = self.enter_code(login)
            self.assertIn("knows you as Ann of tenant lab, with the role member", shown)
            first = known()
            self.assertEqual(kept.stat().st_mode & 0o077, 0)
            for secret in (first["token"], first["refresh_token"]):
                self.assertNotIn(secret, shown)
            self.assertEqual(attune_json("jobs", "list", "--server", self.server)["jobs"], [])

            head, _, signature = first["token"].split(".")
            ended = base64.urlsafe_b64encode(b'{"exp": 1}').decode().rstrip("=")
            change(token=f"{head}.{ended}.{signature}")
            self.assertEqual(attune_json("jobs", "list")["jobs"], [])
            self.assertEqual(self.me(known()["token"]), 200)
            change(token=first["token"][:-8] + "AAAAAAAA")
            self.assertEqual(attune_json("jobs", "list")["jobs"], [], "the server has refused the token")
            self.assertEqual(self.me(known()["token"]), 200)
            self.check_python(change, known, f"{head}.{ended}.{signature}")
            change(token=first["token"][:-8] + "AAAAAAAA", refresh_token="none")
            with self.assertRaisesRegex(Failed, f"{provider.url} refuses: .*; log in again: attune login {self.server}"):
                attune("jobs", "list")
            login = subprocess.Popen([PROGRAM, "login"], env={**os.environ, **program.ENVIRONMENT},
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.enter_code(login)
            self.assertEqual(attune_json("jobs", "list")["jobs"], [])
        # The provider is away, and the token counts.
        self.assertEqual(attune_json("jobs", "list")["jobs"], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
