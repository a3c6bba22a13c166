/**
 * Sampling, logprobs, two updates of the repository's model and sampling with the new weights on a provider, and the same on the processor.
 * One JSON line. `float16` is how far logprobs that were sampled in half precision are from their scores in float32, and `mixed` how far loss and
 * gradient norm of mixed precision are from those of float32, as a share.
 *
 *     node --conditions=@rlp/source --import tsx lab/gpu/agreement.ts PROVIDER [MODEL]
 */
import { resolve } from 'node:path';
import { crossEntropy } from '@rlp/algorithms/loss';
import { createOnnxBackend } from '@rlp/backprop';
import type { TrainingSequence } from '@rlp/core';
import { createOnnxSampler, type InferenceBackend } from '@rlp/inference';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';

const [provider = 'webgpu', folder = resolve(import.meta.dirname, '../../examples/models/stories260k')] =
  process.argv.slice(2);

const results = [];
for (const executionProvider of ['cpu', provider as 'webgpu' | 'cuda'] as const) {
  const engine = await createEngine({ thread: 'inline', executionProvider });
  const model = await loadModel(folder);
  const backend = await createOnnxBackend({ engine, model, learningRate: 1e-3 });
  const prompt = model.tokenizer.encode('Once upon a time');
  const sampler = await createOnnxSampler({ engine, model, maxSequences: 2, contextLength: 64 });
  // Opened before the updates. A device need not have float16.
  const halfOptions = { engine, model, maxSequences: 2, contextLength: 64, weights: 'float16' } as const;
  const inHalf = await createOnnxSampler(halfOptions).catch(() => undefined);
  const sample = () => sampler.sample({ prompt, count: 2, maxTokens: 16, temperature: 0, seed: 'gpu' });
  const sampled = await sample();
  const sequences = sampled.map(({ tokens }) => sequenceOf([...prompt, ...tokens]));
  const [scores] = await backend.logprobs(sequences.map(({ tokens }) => tokens));
  const losses: number[] = [];
  const norms: number[] = [];
  for (let update = 0; update < 2; update++) {
    losses.push((await backend.forwardBackward({ sequences }, crossEntropy)).loss);
    norms.push((await backend.optimStep()).gradientNorm);
  }
  const mixed = await mixedPrecision(sequences).catch(() => undefined);
  const publication = await backend.publish({ as: 'shared' });
  await sampler.updateWeights(publication);
  const half = await inHalf?.updateWeights(publication).then(() => halfPrecision(inHalf));
  const drawn = await sampler.sample({ prompt, count: 4, maxTokens: 8, seed: 'after' });
  results.push({
    tokens: [...sampled, ...(await sample()), ...drawn].flatMap(({ tokens }) => tokens),
    logprobs: scores!.logprobs,
    losses,
    norms,
    half,
    mixed: mixed && relative([losses[0]!, norms[0]!], mixed),
  });
  await backend.close();
  await sampler.close();
  await inHalf?.close();
  await engine.close();

  async function mixedPrecision(sequences: readonly TrainingSequence[]): Promise<readonly number[]> {
    const options = { engine, model, learningRate: 0, precision: 'mixed', store: 'mixed' } as const;
    const other = await createOnnxBackend(options);
    try {
      const { loss } = await other.forwardBackward({ sequences }, crossEntropy);
      return [loss, (await other.optimStep()).gradientNorm];
    } finally {
      await other.close();
    }
  }

  async function halfPrecision(other: InferenceBackend): Promise<number> {
    const completions = await other.sample({ prompt, count: 2, maxTokens: 16, seed: 'half' });
    const scores = await sampler.scoreTokens(
      completions.map(({ tokens }) => ({ prompt, completion: tokens })),
    );
    return Math.max(
      ...completions.map(({ behaviorLogprobs }, index) => largest(behaviorLogprobs, scores[index]!.logprobs)),
    );
  }
}

function sequenceOf(tokens: readonly number[]): TrainingSequence {
  const weight = 1 / (2 * (tokens.length - 1));
  return {
    tokens,
    mask: tokens.map((_, t) => Math.min(t, 1)),
    weights: tokens.map(() => weight),
    columns: {},
  };
}

function largest(a: ArrayLike<number>, b: ArrayLike<number>): number {
  return Math.max(...Array.from(a, (value, index) => Math.abs(value - b[index]!)));
}

function relative(a: readonly number[], b: readonly number[]): number {
  return Math.max(...a.map((value, index) => Math.abs(value - b[index]!) / Math.abs(value)));
}

const [expected, found] = results as [(typeof results)[0], (typeof results)[0]];
console.log(
  JSON.stringify({
    sameTokens: expected.tokens.join() === found.tokens.join(),
    logprobs: largest(expected.logprobs.slice(1), found.logprobs.slice(1)),
    loss: relative(expected.losses, found.losses),
    gradientNorm: relative(expected.norms, found.norms),
    float16: found.half,
    mixed: found.mixed,
  }),
);
