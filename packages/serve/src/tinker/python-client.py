"""Trains on a server of Tinker's protocol with the official client: supervised, a custom loss, reinforcement, and from a checkpoint."""

import json

import tinker
from tinker import types


def datum(tokens, **inputs):
    return types.Datum(
        model_input=types.ModelInput.from_ints(tokens[:-1]),
        loss_fn_inputs={
            "target_tokens": types.TensorData(data=tokens[1:], dtype="int64", shape=[len(tokens) - 1]),
            **{
                name: types.TensorData(data=data, dtype="float32", shape=[len(data)])
                for name, data in inputs.items()
            },
        },
    )


service = tinker.ServiceClient()
base = service.get_server_capabilities().supported_models[0].model_name
trainer = service.create_lora_training_client(base_model=base, rank=4, seed=1)
adam = types.AdamParams(learning_rate=2e-2)

text = [3, 4, 5, 6, 7, 8]
losses = []
for _ in range(12):
    passed = trainer.forward_backward([datum(text, weights=[1.0] * 5)], "cross_entropy")
    updated = trainer.optim_step(adam)
    losses.append(passed.result().metrics["loss:sum"])
    updated.result()

try:
    import torch  # noqa: F401

    def custom(data, logprobs):
        loss = -sum(row.sum() for row in logprobs)
        return loss, {"mine": float(loss)}

    own = [trainer.forward_backward_custom([datum(text, weights=[1.0] * 5)], custom).result().metrics["mine"]]
    trainer.optim_step(types.AdamParams(learning_rate=0.0)).result()
except ImportError:
    own = [None]

saved = trainer.save_state("state").result().path
scored = trainer.forward([datum(text, weights=[1.0] * 5)], "cross_entropy").result()
resumed = service.create_training_client_from_state(saved)
again = resumed.forward([datum(text, weights=[1.0] * 5)], "cross_entropy").result()

prompt, rewards = [4], []
for iteration in range(14):
    path = trainer.save_weights_for_sampler(f"step-{iteration}").result().path
    sampler = service.create_sampling_client(model_path=path)
    answer = sampler.sample(
        prompt=types.ModelInput.from_ints(prompt),
        num_samples=32,
        sampling_params=types.SamplingParams(max_tokens=3, seed=iteration, temperature=1.0),
    ).result()
    scores = [sum(token % 2 for token in one.tokens) / len(one.tokens) for one in answer.sequences]
    mean = sum(scores) / len(scores)
    rewards.append(mean)
    data = []
    for one, score in zip(answer.sequences, scores):
        pad = [0.0] * (len(prompt) - 1)
        data.append(
            datum(
                prompt + list(one.tokens),
                logprobs=pad + list(one.logprobs),
                advantages=pad + [(score - mean) / 32] * len(one.tokens),
            )
        )
    trainer.forward_backward(data, "importance_sampling").result()
    trainer.optim_step(adam).result()

print(
    json.dumps(
        {
            "losses": losses,
            "custom": own,
            "trained": scored.loss_fn_outputs[0]["logprobs"].tolist(),
            "resumed": again.loss_fn_outputs[0]["logprobs"].tolist(),
            "rewards": rewards,
        }
    )
)
