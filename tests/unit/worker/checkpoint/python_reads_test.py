"""Python's safetensors reads what we write: python_reads_test.py WRITER"""

import struct
import subprocess
import sys
import tempfile

import safetensors

with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.argv[1], folder + "/checkpoint"], check=True)
    with open(folder + "/checkpoint/parameters.safetensors", "rb") as file:
        tensors = dict(safetensors.deserialize(file.read()))
    with open(folder + "/checkpoint/moments.safetensors", "rb") as file:
        moments = dict(safetensors.deserialize(file.read()))

assert sorted(tensors) == ["embed", "final.norm.g"], sorted(tensors)
assert tensors["embed"]["dtype"] == "F32"
assert list(tensors["embed"]["shape"]) == [2, 2, 3]
values = struct.unpack("<12f", bytes(tensors["embed"]["data"]))
assert values == tuple(r + i / 8 for r in range(2) for i in range(6)), values
assert sorted(moments) == ["first.embed", "first.final.norm.g", "second.embed", "second.final.norm.g"]
