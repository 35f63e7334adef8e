#!/usr/bin/env python3
"""Rebuilds in plain PyTorch what `leadline export` wrote: load_model.py FOLDER TEXT prints the logits as JSON."""
import json, pathlib, struct, sys
import torch

METHODS = ("prenorm", "rezero", "layerscale", "attnres", "block_attnres")  # docs/methods.md has their formulas
PLAIN = {"eps_mode": "fixed", "qk_norm": "off", "value_residual": "off", "key_norm": "on", "static_mixing": "off",
         "window": "off", "sources": "updates", "per": "sublayer", "norm": "on"}  # other values are left to the reader

def read_safetensors(path):
    data, types = path.read_bytes(), {"F32": torch.float32, "F64": torch.float64}
    start = 8 + struct.unpack("<Q", data[:8])[0]
    tensor = lambda t: torch.frombuffer(bytearray(data[start:][slice(*t["data_offsets"])]), dtype=types[t["dtype"]])
    header = {name: t for name, t in json.loads(data[8:start]).items() if name != "__metadata__"}
    return {name: tensor(t).reshape(t["shape"]) for name, t in header.items()}

def logits(w, s, tokens):
    norm = lambda x, gain: gain * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + s["norm_eps"])
    def attention(x, p):
        heads = lambda y: y.unflatten(-1, (-1, s["d_model"] // s["n_heads"])).transpose(0, 1)
        q, k, v = (heads(x @ w[p + name]) for name in ("wq", "wk", "wv"))
        k, v = (y.repeat_interleave(s["n_heads"] // len(y), 0) for y in (k, v))
        half = q.shape[-1] // 2
        angle = torch.arange(len(x))[:, None] * s["rope_theta"] ** (-torch.arange(half, dtype=torch.float64) / half)
        cos, sin = angle.cos().to(x.dtype).repeat(1, 2), angle.sin().to(x.dtype).repeat(1, 2)
        turn = lambda y: y * cos + torch.cat((-y[..., half:], y[..., :half]), -1) * sin
        scores = turn(q) @ turn(k).transpose(1, 2) / q.shape[-1] ** 0.5
        scores = scores.masked_fill(torch.ones(scores.shape[1:], dtype=torch.bool).triu(1), -torch.inf)
        return (scores.softmax(-1) @ v).transpose(0, 1).flatten(1) @ w[p + "wo"]
    mlp = lambda x, p: (torch.nn.functional.silu(x @ w[p + "wg"]) * (x @ w[p + "wu"])) @ w[p + "wd"]
    def route(sources, q):
        if len(sources) == 1: return sources[0]
        weights = torch.stack([norm(v, w["router.g"][q]) @ w["router.w"][q] for v in sources]).softmax(0)
        return (weights[..., None] * torch.stack(sources)).sum(0)
    block = {"attnres": 1, "block_attnres": s.get("block_sublayers")}.get(s["method"])  # sublayers; None: one stream
    scale = w.get("rezero.alpha", w.get("layerscale.lambda", torch.ones(2 * s["depth"], 1)))
    stream = w["embed"][tokens]
    blocks, part = [stream], []
    for l in range(2 * s["depth"]):
        x, p = route(blocks + part, l) if block else stream, f"layers.{l // 2}.{('attn', 'mlp')[l % 2]}."
        update = (attention, mlp)[l % 2](norm(x, w[p + "norm.g"]), p)
        stream = stream + scale[l] * update
        part = [part[0] + update] if part else [update]
        if block and (l + 1) % block == 0: blocks, part = blocks + part, []
    out = route(blocks + part, 2 * s["depth"]) if block else stream
    return norm(out, w["final.norm.g"]) @ (w["head"] if "head" in w else w["embed"].T)

if __name__ == "__main__":
    folder, text = pathlib.Path(sys.argv[1]), sys.argv[2]
    config = json.loads((folder / "config.json").read_text())
    wrong = {key: value for key, value in config["settings"].items() if value != PLAIN.get(key, value)}
    if wrong or config["settings"]["method"] not in METHODS:
        sys.exit(f"load_model.py: this sketch knows {', '.join(METHODS)} without {wrong or 'more'}")
    symbols = list(text.encode()) if config["tokenizer"] == "byte" else [config["alphabet"].index(ord(c)) for c in text]
    print(json.dumps(logits(read_safetensors(folder / config["model"]["file"]), config["settings"], symbols).tolist()))
