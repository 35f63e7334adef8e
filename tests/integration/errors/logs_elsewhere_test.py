"""A log is followed on to another node: what an agent broke off is waited for until its lease and grace are over."""

import unittest

from errors_world import ErrorsWorld


class LogsElsewhere(ErrorsWorld):
    def test_following_goes_on_where_the_next_attempt_runs(self):
        self.coordinator()
        self.behave("speak_and_wait")
        agent = self.agent()
        self.ask("submit", self.sweep())
        follow = self.start("leadline", *self.words("logs", "s1.1.0", "-f"), state="client")
        self.line(follow, follow.stdout, "first words")
        self.end(agent)
        self.behave("", name="other")
        self.agent(name="other")
        out, err = self.finish(follow, exit_code=1)
        self.assertEqual([line for line in out.splitlines() if line], ["==> s1.1.0@2 stderr on other: running <=="])
        self.assertIn("of 2 attempts of s1.1.0 the logs of 1 could not be read", err)


if __name__ == "__main__":
    unittest.main()
