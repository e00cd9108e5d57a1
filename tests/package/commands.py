"""Commands that tests of packages run."""
import subprocess


def run(*command, **more):
    """Returns the output of a command; a failure has all of it."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout
