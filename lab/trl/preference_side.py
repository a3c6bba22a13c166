"""Trains with TRL what lab/trl-preferences.ts trains with rlp: reads FOLDER/job.json, writes FOLDER/trl/NAME.{json,safetensors}.

Prints the versions. Then it trains the case of each index that it reads from stdin, and prints the case's name.

usage: python preference_side.py FOLDER [exact]    (needs trl, transformers and torch; written for TRL 1.16)

With `exact` it computes in float64 and writes to FOLDER/exact.

Trainers see the token ids of the job: only the step that tokenizes the data is replaced.
"""
import itertools
import json
import logging
import math
import os
import sys
import time
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
warnings.filterwarnings("ignore")

import torch
import transformers
import trl
from datasets import Dataset
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer, TrainerCallback
from trl.experimental.cpo import CPOConfig, CPOTrainer
from trl.experimental.gkd import GKDConfig, GKDTrainer
from trl.experimental.orpo import ORPOConfig, ORPOTrainer

transformers.logging.set_verbosity_error()
logging.disable(logging.WARNING)
torch.set_num_threads(1)

folder = sys.argv[1]
single = torch.float32
head = load_file(os.path.join(folder, "head.safetensors"))["score.weight"]
side = "exact" if sys.argv[2:] == ["exact"] else "trl"
if side == "exact":
    # The models ask for float32 by name inside their norms and softmaxes.
    torch.float32 = torch.float64
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    load = transformers.PreTrainedModel.from_pretrained.__func__

    def load_double(cls, *args, **kwargs):
        torch.float32 = single
        try:
            return load(cls, *args, **kwargs).double()
        finally:
            torch.float32 = torch.float64

    transformers.PreTrainedModel.from_pretrained = classmethod(load_double)
with open(os.path.join(folder, "job.json")) as file:
    job = json.load(file)
tokenizer = AutoTokenizer.from_pretrained(job["model"])
if tokenizer.pad_token is None:
    tokenizer.pad_token = tokenizer.eos_token
pairs = job["pairs"]


def pair_rows():
    return [{"prompt_ids": p["prompt"], "chosen_ids": p["chosen"], "rejected_ids": p["rejected"]} for p in pairs]


def reward_rows(margins):
    rows = [{"chosen_ids": p["prompt"] + p["chosen"], "rejected_ids": p["prompt"] + p["rejected"]} for p in pairs]
    return [{**row, "margin": margin} for row, margin in zip(rows, itertools.cycle(margins))] if margins else rows


def single_rows():
    rows = []
    for p in pairs:
        rows.append({"prompt_ids": p["prompt"], "completion_ids": p["chosen"], "label": True})
    for p in pairs[: job["undesirable"]]:
        rows.append({"prompt_ids": p["prompt"], "completion_ids": p["rejected"], "label": False})
    for index, row in enumerate(rows):
        row["KL_completion_ids"] = rows[index - 1]["completion_ids"]
    return rows


def prepared(trainer_class):
    """The trainer with given token ids; nothing else is changed."""

    class Prepared(trainer_class):
        def _prepare_dataset(self, dataset, *args, **kwargs):
            return dataset

    return Prepared


def prepared_rows(trainer_class):
    class Prepared(trainer_class):
        def tokenize_row(self, feature, model=None):
            pair = pairs[int(feature["prompt"])]
            batch = {}
            for name in ("chosen", "rejected"):
                ids = pair["prompt"] + pair[name]
                batch[f"{name}_input_ids"] = ids
                batch[f"{name}_attention_mask"] = [1] * len(ids)
                batch[f"{name}_labels"] = [-100] * len(pair["prompt"]) + pair[name]
            batch["prompt_input_ids"] = pair["prompt"]
            batch["prompt_attention_mask"] = [1] * len(pair["prompt"])
            return batch

    return Prepared


def padded(rows):
    """Prompts and chosen completions, padded on the right."""
    chosen = [pairs[row["row"]] for row in rows]
    width = max(len(p["prompt"] + p["chosen"]) for p in chosen)
    fill = lambda values, value: torch.tensor([each + [value] * (width - len(each)) for each in values])
    return {
        "input_ids": fill([p["prompt"] + p["chosen"] for p in chosen], tokenizer.pad_token_id),
        "attention_mask": fill([[1] * len(p["prompt"] + p["chosen"]) for p in chosen], 0),
        "labels": fill([[-100] * len(p["prompt"]) + p["chosen"] for p in chosen], -100),
    }


def finite(value):
    """The number, or null, because JSON has neither NaN nor infinity."""
    return float(value) if math.isfinite(value) else None


class Losses(TrainerCallback):
    def __init__(self):
        self.updates = []
        self.seconds = []

    def on_step_begin(self, args, state, control, **kwargs):
        self.begun = time.process_time()

    def on_step_end(self, args, state, control, **kwargs):
        self.seconds.append(time.process_time() - self.begun)

    def on_log(self, args, state, control, logs=None, **kwargs):
        if logs and "grad_norm" in logs:
            kept = {key: value for key, value in logs.items() if key.split("/")[0] in ("rewards", "kl", "margin", "accuracy", "mean_reward")}
            self.updates.append({"loss": finite(logs["loss"]), "norm": finite(logs["grad_norm"]), "logs": {key: finite(value) for key, value in kept.items()}})


def build(case, settings, losses):
    trainer, extra = case["trainer"], dict(case["trl"])
    shared = dict(processing_class=tokenizer, callbacks=[losses])
    if trainer == "dpo":
        return prepared(trl.DPOTrainer)(
            model=job["model"], args=trl.DPOConfig(**settings, **extra), train_dataset=Dataset.from_list(pair_rows()), **shared
        )
    if trainer == "kto":
        rows = single_rows()
        settings["per_device_train_batch_size"] = len(rows)
        settings["train_sampling_strategy"] = "sequential"
        return prepared(trl.KTOTrainer)(
            model=job["model"], args=trl.KTOConfig(**settings, **extra), train_dataset=Dataset.from_list(rows), **shared
        )
    if trainer in ("cpo", "orpo"):
        config, own = (CPOConfig, CPOTrainer) if trainer == "cpo" else (ORPOConfig, ORPOTrainer)
        rows = [{"prompt": str(i), "chosen": "a", "rejected": "b"} for i in range(len(pairs))]
        return prepared_rows(own)(
            model=AutoModelForCausalLM.from_pretrained(job["model"]),
            args=config(**settings, **extra),
            train_dataset=Dataset.from_list(rows),
            **shared,
        )
    if trainer == "gkd":
        teacher = AutoModelForCausalLM.from_pretrained(job["model"])
        with torch.no_grad():
            for name, tensor in teacher.named_parameters():
                if name.endswith("down_proj.weight"):
                    tensor.mul_(job["teacherScale"])
        settings["per_device_train_batch_size"] = job["distilled"]
        return GKDTrainer(
            model=AutoModelForCausalLM.from_pretrained(job["model"]),
            teacher_model=teacher,
            args=GKDConfig(**settings, **extra),
            train_dataset=Dataset.from_list([{"row": row} for row in range(job["distilled"])]),
            data_collator=padded,
            **shared,
        )
    margins = extra.pop("margins", None)
    model = AutoModelForSequenceClassification.from_pretrained(job["model"], num_labels=1)
    model.config.pad_token_id = tokenizer.pad_token_id
    with torch.no_grad():
        model.score.weight.copy_(head)
    return trl.RewardTrainer(
        model=model, args=trl.RewardConfig(**settings, **extra), train_dataset=Dataset.from_list(reward_rows(margins)), **shared
    )


def run(case):
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
        per_device_train_batch_size=len(pairs),
        gradient_accumulation_steps=1,
        max_length=1024,
        seed=0,
    )
    losses = Losses()
    trainer = build(case, settings, losses)
    trainer.train()
    weights = {name: tensor.detach().to(single).contiguous().clone() for name, tensor in trainer.model.named_parameters()}
    save_file(weights, os.path.join(folder, side, case["name"] + ".safetensors"))
    with open(os.path.join(folder, side, case["name"] + ".json"), "w") as file:
        json.dump({"updates": losses.updates, "seconds": losses.seconds}, file, allow_nan=False)


os.makedirs(os.path.join(folder, side), exist_ok=True)
answers, sys.stdout = sys.stdout, sys.stderr  # trainers print what they log
print("trl", trl.__version__, "transformers", transformers.__version__, "torch", torch.__version__, file=answers, flush=True)
for line in sys.stdin:
    case = job["cases"][int(line)]
    try:
        run(case)
    except Exception as error:  # one case that fails does not hide the others
        import traceback

        with open(os.path.join(folder, side, case["name"] + ".json"), "w") as file:
            json.dump({"error": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}, file)
    print(case["name"], file=answers, flush=True)
