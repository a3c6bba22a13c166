import { withTeacher } from '@rlp/algorithms/distillation';
import { policyLoss } from '@rlp/algorithms/loss';
import type { Metrics, TrainingBackend, TrainingSequence } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import { loadModel } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import type { PreferenceJob } from './preference-cases.ts';

const loss = policyLoss({ surrogate: 'policy-gradient', correction: 'none' });

/**
 * Updates of on-policy distillation in which every token of the vocabulary is drawn, as often as the policy would draw it.
 *
 * Advantages, loss and teacher are those of `distillationOptions`. The mean over all tokens is what a batch of samples estimates.
 */
export async function* distilledInExpectation(
  job: PreferenceJob,
  backend: TrainingBackend,
  engine: Engine,
): AsyncGenerator<{ readonly metrics: Metrics }, void, undefined> {
  const { pairs, distilled, updates } = job;
  const { vocabularySize } = (await loadModel(job.model)).config;
  const teacher = await createTeacher(job, engine);
  const taught = withTeacher(backend, teacher);
  const prefixes = pairs
    .slice(0, distilled)
    .flatMap(({ prompt, chosen }) => chosen.map((_, at) => [...prompt, ...chosen.slice(0, at)]));
  const rows = prefixes.flatMap((prefix) =>
    Array.from({ length: vocabularySize }, (_, token) => [...prefix, token]),
  );
  const last = (tokens: readonly number[], value: number) =>
    tokens.map((_, at) => (at === tokens.length - 1 ? value : 0));
  const masks = rows.map((tokens) => Uint8Array.from(last(tokens, 1)));
  for (let update = 0; update < updates; update++) {
    const own = await taught.logprobs(rows, { masks });
    const theirs = await taught.logprobs(rows, { masks, policy: 'reference' });
    let kl = 0;
    const sequences = rows.map((tokens, row): TrainingSequence => {
      const at = tokens.length - 1;
      const [logprob, reference] = [own[row]!.logprobs[at]!, theirs[row]!.logprobs[at]!];
      const share = Math.exp(logprob) / prefixes.length;
      kl += share * (logprob - reference);
      return {
        ...{ tokens, mask: masks[row]! },
        weights: last(tokens, share),
        columns: { advantages: last(tokens, reference - logprob) },
      };
    });
    await backend.forwardBackward({ sequences }, loss);
    const { gradientNorm } = await backend.optimStep();
    yield { metrics: { 'kl/reference': kl, 'gradient/norm': gradientNorm } };
  }
  await teacher.close();
}

/**
 * Processor time of each update of on-policy distillation as users run it: on the chosen completions, with one token at each position.
 *
 * An update scores with the teacher and learns, as one of TRL does. The policy's log-probabilities come with the rollout, so they are not timed.
 */
export async function sampledDistillation(
  job: PreferenceJob,
  backend: TrainingBackend,
  engine: Engine,
): Promise<number[]> {
  const teacher = await createTeacher(job, engine);
  const taught = withTeacher(backend, teacher);
  const chosen = job.pairs.slice(0, job.distilled);
  const rows = chosen.map(({ prompt, chosen }) => [...prompt, ...chosen]);
  const masks = chosen.map((pair, row) =>
    Uint8Array.from(rows[row]!, (_, at) => (at < pair.prompt.length ? 0 : 1)),
  );
  const own = await taught.logprobs(rows, { masks });
  const tokens = masks.flatMap((mask) => [...mask]).filter((value) => value === 1).length;
  const seconds: number[] = [];
  for (let update = 0; update < job.updates; update++) {
    const begun = process.cpuUsage();
    const theirs = await taught.logprobs(rows, { masks, policy: 'reference' });
    const sequences = rows.map(
      (given, row): TrainingSequence => ({
        ...{ tokens: given, mask: masks[row]! },
        weights: Float64Array.from(masks[row]!, (value) => value / tokens),
        columns: {
          advantages: own[row]!.logprobs.map((logprob, at) => theirs[row]!.logprobs[at]! - logprob),
        },
      }),
    );
    await backend.forwardBackward({ sequences }, loss);
    await backend.optimStep();
    const { user, system } = process.cpuUsage(begun);
    seconds.push((user + system) / 1e6);
  }
  await teacher.close();
  return seconds;
}

/** The policy's first weights with other down projections. */
async function createTeacher({ model: folder, teacherScale }: PreferenceJob, engine: Engine) {
  const model = await loadModel(folder);
  const weights = new Map(
    [...model.weights].map(([name, tensor]) =>
      name.endsWith('down_proj.weight')
        ? [name, { ...tensor, data: Float32Array.from(tensor.data, (value) => value * teacherScale) }]
        : [name, tensor],
    ),
  );
  return createOnnxSampler({ engine, model: { ...model, weights }, store: 'teacher' });
}
