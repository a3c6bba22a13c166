"""Trains with TRL what lab/trl.ts trains with rlp: reads FOLDER/job.json, writes FOLDER/trl/NAME.{json,safetensors}.

usage: python trl_side.py FOLDER    (needs trl, transformers and torch; written for TRL 1.16)
"""
import json
import logging
import os
import sys
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
warnings.filterwarnings("ignore")

import torch
import transformers
import trl
from datasets import Dataset
from safetensors.torch import save_file
from transformers import AutoTokenizer, TrainerCallback

transformers.logging.set_verbosity_error()
logging.disable(logging.WARNING)
torch.set_num_threads(1)

folder = sys.argv[1]
with open(os.path.join(folder, "job.json")) as file:
    job = json.load(file)
tokenizer = AutoTokenizer.from_pretrained(job["model"])


def scripted(trainer_class, returns_logprobs):
    """The trainer with given completions instead of sampled ones; nothing else is changed."""

    class Scripted(trainer_class):
        def _generate_single_turn(self, prompt_ids, *args, **kwargs):
            seen, chosen = {}, []
            for ids in prompt_ids:
                key = tuple(ids)
                member = seen.get(key, 0)
                seen[key] = member + 1
                group = next(g for g in job["groups"] if tuple(g["prompt"]) == key)
                chosen.append(list(group["completions"][member]["tokens"]))
            return (chosen, None) if returns_logprobs else chosen

    return Scripted


def reward(name):
    table = {
        (tuple(group["prompt"]), tuple(completion["tokens"])): completion["rewards"][name]
        for group in job["groups"]
        for completion in group["completions"]
    }
    texts = {group["text"]: tuple(group["prompt"]) for group in job["groups"]}

    def of(prompts, completion_ids, **kwargs):
        return [table[(texts[prompt], tuple(ids))] for prompt, ids in zip(prompts, completion_ids)]

    of.__name__ = name
    return of


class Losses(TrainerCallback):
    def __init__(self):
        self.updates = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "grad_norm" in logs:
            self.updates.append({"loss": float(logs["loss"]), "norm": float(logs["grad_norm"])})


def run(case):
    config_class, trainer_class = {
        "grpo": (trl.GRPOConfig, scripted(trl.GRPOTrainer, True)),
        "rloo": (trl.RLOOConfig, scripted(trl.RLOOTrainer, False)),
    }[case["trainer"]]
    members = len(job["groups"][0]["completions"])
    settings = dict(
        output_dir=os.path.join(folder, "out"),
        use_cpu=True,
        report_to="none",
        save_strategy="no",
        logging_steps=1,
        disable_tqdm=True,
        dataloader_num_workers=0,
        bf16=False,
        gradient_checkpointing=False,
        learning_rate=job["learningRate"],
        lr_scheduler_type="constant",
        max_grad_norm=1.0,
        weight_decay=0.0,
        max_steps=job["updates"],
        num_generations=members,
        per_device_train_batch_size=members * len(job["groups"]),
        gradient_accumulation_steps=1,
        max_completion_length=job["maxTokens"],
        temperature=1.0,
        seed=0,
    )
    settings.update(case["trl"])
    losses = Losses()
    names = case.get("rewards", ["first"])
    trainer = trainer_class(
        model=job["model"],
        args=config_class(**settings),
        processing_class=tokenizer,
        reward_funcs=[reward(name) for name in names],
        train_dataset=Dataset.from_list([{"prompt": group["text"]} for group in job["groups"]]),
        callbacks=[losses],
    )
    trainer.train()
    weights = {name: tensor.detach().float().contiguous().clone() for name, tensor in trainer.model.named_parameters()}
    save_file(weights, os.path.join(folder, "trl", case["name"] + ".safetensors"))
    with open(os.path.join(folder, "trl", case["name"] + ".json"), "w") as file:
        json.dump({"updates": losses.updates}, file)


os.makedirs(os.path.join(folder, "trl"), exist_ok=True)
for group in job["groups"]:
    got = tokenizer(group["text"])["input_ids"]
    assert got == group["prompt"], f"other tokens for {group['text']!r}: {got} and {group['prompt']}"
for case in job["cases"]:
    try:
        run(case)
    except Exception as error:  # one case that fails does not hide the others
        with open(os.path.join(folder, "trl", case["name"] + ".json"), "w") as file:
            json.dump({"error": f"{type(error).__name__}: {error}"}, file)
    print(case["name"], flush=True)
print("versions", "trl", trl.__version__, "transformers", transformers.__version__, "torch", torch.__version__)
