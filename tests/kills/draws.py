"""What a seed stands for: which kill comes when, of whom, how, and for how long."""

import dataclasses
import random

# Seconds. Half a lease and the grace must exceed the 30 s after which a trainer that nobody hears
# ends itself; two more leave a loaded machine time to end it.
LEASE_S = 2.0
HEARTBEAT_S = 0.5
GRACE_S = 31.0
BEYOND_LEASE_S = (LEASE_S + 0.5, LEASE_S + 2.0)
BEYOND_GRACE_S = (LEASE_S + GRACE_S + 1.0, LEASE_S + GRACE_S + 2.5)
BRIEF_S = (0.2, 0.8)
LONG_EVERY = 10  # one in so many lasts beyond the grace, where it lasts at all

CUTS = ("silence", "reset", "up", "down")
BREAKING_CUTS = ("silence", "reset", "up")  # those that the coordinator notices

# What may be hit in each state of a trial, and how. A trainer that is told of by nobody has no
# state of its own: in backoff there is none. To cut what is cut already is no kill.
SERVICES = [(target, how) for target in ("coordinator", "agent") for how in ("kill", "stop")]
TRAINER = [("trainer", "kill"), ("trainer", "stop")]
LINK = [("link", "cut")] * 2
CHOICES = {
    "starting": SERVICES + TRAINER + LINK,
    "early": SERVICES + TRAINER + LINK,
    "late": SERVICES + TRAINER + LINK,
    "ending": SERVICES + TRAINER + LINK,
    "unreachable": SERVICES + TRAINER,
    "backoff": SERVICES + LINK,
}


@dataclasses.dataclass(frozen=True)
class Kill:
    """One entry of the schedule. `pick` chooses among those in that state when it comes."""

    number: int
    state: str
    target: str
    how: str  # kill, stop, or cut-MODE
    seconds: float  # that it lasts; of a kill: until systemd would have started it again
    pin: str  # mode of the cut that holds the state in place, where one is needed
    pick: int

    def __str__(self):
        lasting = f" for {self.seconds:.2f} s" if self.how != "kill" else ""
        return f"{self.how} {self.target}{lasting}, trial {self.state}"


class _Deck:
    """Every card once before any comes again."""

    def __init__(self, chance, cards):
        self._chance, self._cards, self._left = chance, list(cards), []

    def draw(self):
        if not self._left:
            self._left = self._cards[:]
            self._chance.shuffle(self._left)
        return self._left.pop()


def schedule(seed, count):
    """The kills of that seed; the first of a longer schedule are those of a shorter one."""
    chance = random.Random(f"kill_sweep/{seed}")
    states = _Deck(chance, CHOICES)
    choices = {state: _Deck(chance, cards) for state, cards in CHOICES.items()}
    cuts = _Deck(chance, CUTS)
    kills = []
    long = 0
    for number in range(1, count + 1):
        if number % LONG_EVERY == 1:
            long = number + chance.randrange(LONG_EVERY)
        state = states.draw()
        target, how = choices[state].draw()
        seconds = _seconds(chance, how, number >= long)
        if seconds >= BEYOND_GRACE_S[0]:
            long = count + LONG_EVERY  # spent
        if how == "cut":
            how = f"cut-{cuts.draw()}"
        kills.append(Kill(number, state, target, how, seconds, chance.choice(BREAKING_CUTS),
                          chance.randrange(1 << 30)))
    return kills


def _seconds(chance, how, may_be_long):
    if how == "kill":
        # systemd's RestartSec is 0.1 s by default; some take longer than a lease to come back.
        return round(chance.uniform(*(BEYOND_LEASE_S if chance.random() < 0.2 else (0.1, 1.0))), 3)
    bounds = BEYOND_LEASE_S
    if may_be_long:
        bounds = BEYOND_GRACE_S
    elif how == "stop" and chance.random() < 0.3:
        bounds = BRIEF_S
    return round(chance.uniform(*bounds), 3)
