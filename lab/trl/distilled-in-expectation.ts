import { withTeacher } from '@rlp/algorithms/distillation';
import { policyLoss } from '@rlp/algorithms/loss';
import type { Metrics, TrainingBackend, TrainingSequence } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import { loadModel } from '@rlp/models';
import type { Engine } from '@rlp/onnx/runtime';
import type { PreferenceJob } from './preference-cases.ts';

/**
 * Updates of on-policy distillation in which every token of the vocabulary is drawn, as often as the policy would draw it.
 *
 * Advantages, loss and teacher are those of `distillationOptions`. The mean over all tokens is what a batch of samples estimates.
 */
export async function* distilledInExpectation(
  { model: folder, pairs, distilled, teacherScale, updates }: PreferenceJob,
  backend: TrainingBackend,
  engine: Engine,
): AsyncGenerator<{ readonly metrics: Metrics }, void, undefined> {
  const model = await loadModel(folder);
  const weights = new Map(
    [...model.weights].map(([name, tensor]) =>
      name.endsWith('down_proj.weight')
        ? [name, { ...tensor, data: Float32Array.from(tensor.data, (value) => value * teacherScale) }]
        : [name, tensor],
    ),
  );
  const teacher = await createOnnxSampler({ engine, model: { ...model, weights }, store: 'teacher' });
  const taught = withTeacher(backend, teacher);
  const prefixes = pairs
    .slice(0, distilled)
    .flatMap(({ prompt, chosen }) => chosen.map((_, at) => [...prompt, ...chosen.slice(0, at)]));
  const { vocabularySize } = model.config;
  const rows = prefixes.flatMap((prefix) =>
    Array.from({ length: vocabularySize }, (_, token) => [...prefix, token]),
  );
  const last = (tokens: readonly number[], value: number) =>
    tokens.map((_, at) => (at === tokens.length - 1 ? value : 0));
  const masks = rows.map((tokens) => Uint8Array.from(last(tokens, 1)));
  const loss = policyLoss({ surrogate: 'policy-gradient', correction: 'none' });
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
