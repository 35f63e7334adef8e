"""Every kind of fault in docs/faults.md is provoked by tests that exist."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "faults.md"
OPERATIONS = ROOT / "docs" / "operations.md"


def tests_of_the_repository():
    """Names as `Suite.Test`, `file.method` of Python, and those that CMake gives."""
    names = set()
    for path in (ROOT / "tests").rglob("*.cc"):
        names.update(f"{suite}.{name}" for suite, name in
                     re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", path.read_text(), re.MULTILINE))
    for path in (ROOT / "tests").rglob("*_test.py"):
        names.update(f"{path.stem}.{name}" for name in re.findall(r"^    def (test_\w+)\(", path.read_text(), re.MULTILINE))
    for path in (ROOT / "tests").rglob("CMakeLists.txt"):
        names.update(re.findall(r"add_test\(\s*NAME\s+([\w.]+)", path.read_text()))
        names.update(f"kills.{name}" for name in re.findall(r"kill_sweep_test\((\w+) \d", path.read_text()))
    return names


def paragraphs():
    """`operations.md#heading` of every heading of that page, as links to it are written."""
    headings = re.findall(r"^#+ (.+)$", OPERATIONS.read_text(), re.MULTILINE)
    return {"operations.md#" + re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def rows():
    """(what must not happen, names of tests or paragraphs) of every row."""
    for line in PAGE.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and len(cells) == 3 and cells[0] not in ("what must not happen", "---"):
            yield cells[0], re.findall(r"`([^`]+)`", cells[2])


class FaultsPage(unittest.TestCase):
    def test_every_kind_names_tests_that_exist_or_says_why_it_cannot_occur(self):
        known = tests_of_the_repository() | paragraphs()
        for kind, names in rows():
            with self.subTest(kind=kind):
                self.assertTrue(names, "no test")
                self.assertEqual([name for name in names if name not in known], [])

    def test_the_page_is_read(self):
        self.assertGreater(len(list(rows())), 30)


if __name__ == "__main__":
    unittest.main()
