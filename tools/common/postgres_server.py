"""A PostgreSQL server in a folder, for scripts and tests that drive one. It is theirs alone, and ends with them."""
import os
import pathlib
import pwd
import shutil
import signal
import subprocess

from common.waiting import await_true



def programs():
    """The folder of PostgreSQL's programs; None where it is not installed."""
    return next((path.parent for path in sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"))), None)


class PostgresServer:
    """Reached through a socket in its folder. Ends when the context does."""

    def __init__(self, folder):
        self._folder, self._process = pathlib.Path(folder), None
        self._folder.mkdir()
        self._as_user = ["setpriv"]
        if os.geteuid() == 0:  # PostgreSQL does not run as root
            user = pwd.getpwnam("nobody")
            os.chown(self._folder, user.pw_uid, user.pw_gid)
            # The folders above it may be root's alone.
            for above in [self._folder, *self._folder.parents]:
                if not above.stat().st_mode & 0o001:
                    above.chmod(above.stat().st_mode | 0o011)
            self._as_user += [f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
        subprocess.run([*self._as_user, programs() / "initdb", "-D", self._folder / "data", "-U", "attune", "-A", "trust",
                        "-E", "UTF8", "--locale=C.UTF-8"], check=True, stdout=subprocess.DEVNULL)
        self.start()
        self._ask("createdb", "attune")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    @property
    def url(self):
        """Returns the value for --database."""
        return self.url_of("attune")

    def url_of(self, database, password=""):
        """The same for another database; any password counts."""
        return f"postgresql://attune{password and ':'}{password}@/{database}?host={self._folder}"

    def create(self, database):
        """Makes another database."""
        self._ask("createdb", database)

    def _ask(self, program, *arguments):
        return subprocess.run([programs() / program, "-h", self._folder, "-U", "attune", *arguments], check=False,
                              capture_output=True, text=True)

    def start(self):
        """Starts it, and waits until it answers."""
        def answers():
            # After a kill it refuses to start as long as one of its processes is left.
            if self._process is None or self._process.poll() is not None:
                with (self._folder / "log").open("ab") as log:
                    self._process = subprocess.Popen(
                        [*self._as_user, programs() / "postgres", "-D", self._folder / "data",
                         "-k", self._folder, "-c", "listen_addresses="], stdout=log, stderr=log)
            return self._ask("pg_isready").returncode == 0
        await_true(f"PostgreSQL answers; its log is {self._folder / 'log'}", answers, 0.05)

    def kill(self):
        """Kills the first of its processes, upon which the others end as after a crash."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()
        self._process = None

    def query(self, sql, database="attune"):
        """The lines that a query prints."""
        answer = self._ask("psql", "-d", database, "-At", "-c", sql)
        if answer.returncode != 0:
            raise RuntimeError(answer.stderr)
        return answer.stdout.splitlines()


def is_missing():
    """Whether there is no PostgreSQL to test with; where tests must run, that is an error."""
    if programs() is not None and shutil.which("setpriv"):
        return False
    if os.environ.get("CI") == "true":
        raise RuntimeError("PostgreSQL should be installed: tools/setup.sh tests")
    return True
