"""One user is answered while another one takes all that the server gives (tools/attackers/crowded_server.py), on a small
scale.

crowd_test.py
"""
import unittest

from attackers import crowded_server

# The crowd wants more than an address, a token and the server have.
SERVER = ("--connections", "60", "--address-connections", "50", "--token-streams", "10")
CROWD = ("--connections", "80", "--seconds", "2")


class CrowdTest(unittest.TestCase):
    """Beside each kind of crowd."""

    def test_every_request_is_answered(self):
        """Whatever the others do."""
        self.assertTrue(crowded_server.run(crowded_server.parsed(CROWD), SERVER))


if __name__ == "__main__":
    unittest.main()
