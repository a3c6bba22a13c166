"""PEFT's side of `large-models.ts`: low-rank adaptation of rank 8 on every linear layer, float32, one sequence.

    THREADS=2 python peft_peer.py FOLDER --length 512 --steps 4

FOLDER is a model of `large-models.ts make`. Prints one JSON line: elapsed and processor milliseconds of each step, the largest
resident memory in MiB until the model is ready, and that from the second step on. Needs torch, transformers and peft.
"""

import argparse
import json
import os
import time

import peft
import torch
from transformers import AutoModelForCausalLM


def peak():
    line = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return int(line.split()[1]) // 1024


def step(model, optimizer, length):
    tokens = torch.randint(0, model.config.vocab_size, (1, length))
    advantages = torch.rand(1, length - 1) * 2 - 1
    logits = model(tokens).logits[:, :-1]
    logprobs = torch.log_softmax(logits, -1).gather(-1, tokens[:, 1:, None]).squeeze(-1)
    ratio = torch.exp(logprobs - logprobs.detach())
    loss = -torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("THREADS", "2")))
    model = AutoModelForCausalLM.from_pretrained(options.folder, dtype=torch.float32, attn_implementation="sdpa")
    adapter = peft.LoraConfig(r=8, lora_alpha=16, target_modules="all-linear", task_type="CAUSAL_LM")
    model = peft.get_peft_model(model, adapter)
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(trained, lr=1e-4, fused=True)
    result = {"milliseconds": [], "processor": [], "loadPeak": peak()}
    for number in range(options.steps + 1):
        if number == 1:
            open("/proc/self/clear_refs", "w").write("5")
        start, used = time.perf_counter(), time.process_time()
        step(model, optimizer, options.length)
        result["milliseconds"].append(round((time.perf_counter() - start) * 1000))
        result["processor"].append(round((time.process_time() - used) * 1000))
    print(json.dumps({**result, "trainPeak": peak(), "peft": peft.__version__, "torch": torch.__version__}))


main()
