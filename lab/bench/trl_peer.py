"""The TRL side of `pnpm bench iteration`: whole iterations of GRPOTrainer with the settings that make it fastest on a processor.

    python trl_peer.py JOB.json --threads 2 --warmup 2 --runs 5 [--bf16]

JOB.json is written by iteration/job.ts. Prints one JSON line like pytorch_peer.py. Written for TRL 1.16: no gradient checkpointing, all
completions in one batch, one update per iteration, no reference model, fused AdamW, transformers' generation with its cache.
"""

import argparse
import json
import logging
import os
import tempfile
import time
import warnings

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
warnings.filterwarnings("ignore")

import torch
import transformers
import trl
from datasets import Dataset
from transformers import AutoTokenizer, TrainerCallback

from peak_memory import peak_mebibytes

transformers.logging.set_verbosity_error()
logging.disable(logging.WARNING)

parser = argparse.ArgumentParser()
parser.add_argument("job")
parser.add_argument("--threads", type=int, required=True)
parser.add_argument("--warmup", type=int, required=True)
parser.add_argument("--runs", type=int, required=True)
parser.add_argument("--bf16", action="store_true")
options = parser.parse_args()
torch.set_num_threads(options.threads)
with open(options.job) as file:
    job = json.load(file)

sampled, milliseconds, processor_milliseconds = [], [], []


def even_tokens(completion_ids, **_):
    sampled.append(sum(len(ids) for ids in completion_ids))
    return [sum(token % 2 == 0 for token in ids) / len(ids) for ids in completion_ids]


class Clock(TrainerCallback):
    def on_step_begin(self, *_, **__):
        self.begin, self.processor = time.perf_counter(), time.process_time()

    def on_step_end(self, *_, **__):
        milliseconds.append((time.perf_counter() - self.begin) * 1000)
        processor_milliseconds.append((time.process_time() - self.processor) * 1000)


with tempfile.TemporaryDirectory() as folder:
    trainer = trl.GRPOTrainer(
        model=job["model"],
        args=trl.GRPOConfig(
            output_dir=folder,
            use_cpu=True,
            bf16=options.bf16,
            report_to="none",
            save_strategy="no",
            logging_strategy="no",
            disable_tqdm=True,
            gradient_checkpointing=False,
            optim="adamw_torch_fused",
            learning_rate=job["learningRate"],
            lr_scheduler_type="constant",
            beta=0.0,
            num_generations=job["groupSize"],
            per_device_train_batch_size=job["prompts"] * job["groupSize"],
            gradient_accumulation_steps=1,
            max_completion_length=job["maxTokens"],
            max_steps=options.warmup + options.runs,
            shuffle_dataset=False,
        ),
        processing_class=AutoTokenizer.from_pretrained(job["model"]),
        reward_funcs=[even_tokens],
        train_dataset=Dataset.from_list([{"prompt": text} for text in job["texts"]]),
        callbacks=[Clock()],
    )
    trainer.train()
print(json.dumps(dict(
    milliseconds=milliseconds[options.warmup:],
    processorMilliseconds=processor_milliseconds[options.warmup:],
    tokens=sum(sampled[options.warmup:]) / options.runs,
    peakRssMiB=peak_mebibytes(),
    version=f"trl {trl.__version__}, torch {torch.__version__}",
)))
