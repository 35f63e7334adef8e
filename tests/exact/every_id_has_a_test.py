"""Every id of an exact property has a test under the label `exact`: every_id_has_a_test.py CTEST BUILD_FOLDER"""

import json
import re
import subprocess
import sys

IDS = [f"X{i}" for i in range(1, 22)] + [f"R{i}" for i in range(1, 8)]


def main(ctest, folder):
    shown = subprocess.run([ctest, "--test-dir", folder, "-L", "^exact$", "--show-only=json-v1"], check=True,
                           capture_output=True, text=True)
    # A test of the label that is not a program of tests, like this one, has no ids.
    programs = {test["command"][0] for test in json.loads(shown.stdout)["tests"]
                if any(word.startswith("--gtest") for word in test["command"])}
    found = {}
    for program in sorted(programs):
        listed = subprocess.run([program, "--gtest_list_tests"], check=True, capture_output=True, text=True).stdout
        suite = ""
        for line in listed.splitlines():
            name = line.split()[0] if line.split() else ""
            if not line.startswith(" "):
                suite = name.rstrip(".").split("/")[-1]
                continue
            # Ids begin the name of a test or of its suite; "R3" in a parameter is none.
            for one in (suite, name.split("/")[0]):
                for identifier in re.findall(r"[XR]\d+", (re.match(r"(?:[XR]\d+)+", one) or [""])[0]):
                    found[identifier] = found.get(identifier, 0) + 1
    for identifier in IDS:
        print(f"{identifier:4} {found.get(identifier, 0)} tests")
    missing = [identifier for identifier in IDS if identifier not in found]
    if missing:
        print("without a test: " + " ".join(missing), file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
