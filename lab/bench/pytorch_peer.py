"""The PyTorch side of `pnpm bench`: the same decoder, the same loss, eager mode, float32, or bfloat16 with --bf16.

    python pytorch_peer.py train-step SHAPE_JSON --threads 2 --warmup 2 --runs 5

SHAPE_JSON is a shape of shapes.ts. Prints one JSON line: {"milliseconds": [...], "tokens", "peakRssMiB", "version"}.

Written as a careful user of PyTorch would: fused attention and AdamW kernels, a preallocated key-value cache, sampling by
inverse CDF (faster than torch.multinomial on large vocabularies). Weights are random; timing does not depend on them.
"""

import argparse
import json
import math
import time

import torch
from torch.nn import functional as F

from peak_memory import peak_mebibytes

EPSILON = 1e-5


def new_weights(shape):
    hidden, inner = shape["hidden"], shape["inner"]
    keys = hidden // shape["heads"] * shape["keyValueHeads"]

    def matrix(outputs, inputs):
        return (torch.randn(outputs, inputs) * 0.02).requires_grad_()

    def layer():
        return dict(
            attention_norm=torch.ones(hidden, requires_grad=True),
            query=matrix(hidden, hidden),
            key=matrix(keys, hidden),
            value=matrix(keys, hidden),
            output=matrix(hidden, hidden),
            feed_forward_norm=torch.ones(hidden, requires_grad=True),
            gate=matrix(inner, hidden),
            up=matrix(inner, hidden),
            down=matrix(hidden, inner),
        )

    return dict(
        embedding=matrix(shape["vocabulary"], hidden),
        layers=[layer() for _ in range(shape["layers"])],
        norm=torch.ones(hidden, requires_grad=True),
    )


def all_tensors(weights):
    return [weights["embedding"], weights["norm"], *(w for layer in weights["layers"] for w in layer.values())]


def rotation_tables(shape, length):
    size = shape["hidden"] // shape["heads"]
    frequencies = 10000.0 ** (-torch.arange(0, size, 2) / size)
    angles = torch.outer(torch.arange(length), frequencies)
    return angles.cos(), angles.sin()


def turn(x, tables):
    cos, sin = tables
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def attend(shape, layer, x, tables, cache):
    batch, time_steps, hidden = x.shape
    size = hidden // shape["heads"]

    def split(projected):
        return projected.view(batch, time_steps, -1, size).transpose(1, 2)

    query = turn(split(F.linear(x, layer["query"])), tables)
    key = turn(split(F.linear(x, layer["key"])), tables)
    value = split(F.linear(x, layer["value"]))
    if cache is not None:
        start, end = cache["start"], cache["start"] + time_steps
        cache["key"][:, :, start:end], cache["value"][:, :, start:end] = key, value
        key, value = cache["key"][:, :, :end], cache["value"][:, :, :end]
    grouped = shape["heads"] != shape["keyValueHeads"]
    mixed = F.scaled_dot_product_attention(query, key, value, is_causal=time_steps > 1, enable_gqa=grouped)
    return F.linear(mixed.transpose(1, 2).reshape(batch, time_steps, hidden), layer["output"])


def hidden_states(shape, weights, tokens, tables, caches=None):
    x = F.embedding(tokens, weights["embedding"])
    for index, layer in enumerate(weights["layers"]):
        normed = F.rms_norm(x, x.shape[-1:], layer["attention_norm"], EPSILON)
        x = x + attend(shape, layer, normed, tables, caches and caches[index])
        normed = F.rms_norm(x, x.shape[-1:], layer["feed_forward_norm"], EPSILON)
        x = x + F.linear(F.silu(F.linear(normed, layer["gate"])) * F.linear(normed, layer["up"]), layer["down"])
    return F.rms_norm(x, x.shape[-1:], weights["norm"], EPSILON)


def train_step(shape, bf16):
    weights = new_weights(shape)
    tensors = all_tensors(weights)
    first, second = [torch.zeros_like(w) for w in tensors], [torch.zeros_like(w) for w in tensors]
    updates = [torch.zeros(()) for _ in tensors]
    rows, length, vocabulary = shape["rows"], shape["length"], shape["vocabulary"]
    tables = rotation_tables(shape, length)
    tokens = torch.randint(vocabulary, (rows, length))
    targets = torch.randint(vocabulary, (rows * length,))
    behavior = torch.full((rows * length,), -math.log(vocabulary))
    advantages, mask = torch.randn(rows * length), torch.ones(rows * length)

    def step():
        for w in tensors:
            w.grad = None
        with torch.autocast(tokens.device.type, torch.bfloat16, enabled=bf16):
            hidden = hidden_states(shape, weights, tokens, tables).view(rows * length, -1)
            logits = F.linear(hidden, weights["embedding"])
        logprobs = -F.cross_entropy(logits.float(), targets, reduction="none")
        ratio = torch.exp(logprobs - behavior)
        surrogate = torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages)
        loss = -(surrogate * mask).sum() / mask.sum()
        loss.backward()
        with torch.no_grad():  # what torch.optim.AdamW(fused=True) calls
            torch._foreach_add_(updates, 1)
            torch._fused_adamw_(
                tensors, [w.grad for w in tensors], first, second, [], updates,
                lr=1e-4, beta1=0.9, beta2=0.999, weight_decay=0.01, eps=1e-8, amsgrad=False, maximize=False,
            )

    return step, rows * length


def generate(shape, bf16):
    dtype = torch.bfloat16 if bf16 else torch.float32
    torch.set_default_dtype(dtype)
    weights = new_weights(shape)
    batch, prompt_length, new_tokens = shape["prompts"], shape["promptLength"], shape["newTokens"]
    vocabulary, size = shape["vocabulary"], shape["hidden"] // shape["heads"]
    total = prompt_length + new_tokens
    cos, sin = rotation_tables(shape, total)
    prompts = torch.randint(vocabulary, (batch, prompt_length))

    def empty():
        return torch.empty(batch, shape["keyValueHeads"], total, size)

    @torch.no_grad()
    def run():
        caches = [dict(key=empty(), value=empty(), start=0) for _ in weights["layers"]]
        tokens, start, logprobs = prompts, 0, []
        for _ in range(new_tokens):
            end = start + tokens.shape[1]
            for cache in caches:
                cache["start"] = start
            hidden = hidden_states(shape, weights, tokens, (cos[start:end], sin[start:end]), caches)[:, -1]
            probabilities = F.softmax(F.linear(hidden, weights["embedding"]).float(), dim=-1)
            cumulative = probabilities.cumsum(-1)
            drawn = torch.rand(batch, 1, dtype=torch.float32) * cumulative[:, -1:]
            tokens = torch.searchsorted(cumulative, drawn).clamp_(max=vocabulary - 1)
            logprobs.append(probabilities.gather(1, tokens).log())
            start = end
        return torch.cat(logprobs, dim=1)

    return run, batch * new_tokens


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=["train-step", "generate"])
    parser.add_argument("shape", type=json.loads)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--warmup", type=int, required=True)
    parser.add_argument("--runs", type=int, required=True)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bf16", action="store_true", help="autocast for training, weights in bfloat16 for generation")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(options.threads)
    torch.set_default_device(options.device)
    finish = torch.cuda.synchronize if options.device == "cuda" else lambda: None
    run, tokens = {"train-step": train_step, "generate": generate}[options.name](options.shape, options.bf16)
    milliseconds, processor_milliseconds = [], []
    for index in range(options.warmup + options.runs):
        begin, processor_begin = time.perf_counter(), time.process_time()
        run()
        finish()
        if index >= options.warmup:
            milliseconds.append((time.perf_counter() - begin) * 1000)
            processor_milliseconds.append((time.process_time() - processor_begin) * 1000)
    print(json.dumps(dict(
        milliseconds=milliseconds, processorMilliseconds=processor_milliseconds, tokens=tokens, peakRssMiB=peak_mebibytes(), version=torch.__version__,
    )))


if __name__ == "__main__":
    main()
