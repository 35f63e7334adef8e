"""Writes zip archives, honest and hostile, for one text: make_archives.py FOLDER

FOLDER/text is in each of them, under a name or a size that may not be its own.
"""

import pathlib
import struct
import sys
import zipfile

folder = pathlib.Path(sys.argv[1])
text = (folder / "text").read_bytes()


def write(name, entries):
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry, content in entries:
            archive.writestr(entry, content)


def patched(name, source, old, new):
    data = (folder / source).read_bytes()
    assert old in data
    (folder / name).write_bytes(data.replace(old, new))


write("good.zip", [("readme", b"other"), ("text", text)])
write("traversal.zip", [("../text", text), ("/tmp/leadline_text", text)])
write("bomb.zip", [("text", bytes(20_000_000))])
write("other_text.zip", [("text", bytes([text[0] ^ 1]) + text[1:])])
# Says the right size and holds more.
longer = text + bytes(5_000_000)
write("longer.zip", [("text", longer)])
patched("liar.zip", "longer.zip", struct.pack("<I", len(longer)), struct.pack("<I", len(text)))
good = (folder / "good.zip").read_bytes()
middle = len(good) // 2
(folder / "damaged.zip").write_bytes(good[:middle] + bytes([good[middle] ^ 0xFF]) + good[middle + 1:])
(folder / "cut.zip").write_bytes(good[:middle])
(folder / "no.zip").write_bytes(b"<html>sign in</html>" * 50)
