import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createOnnxBackend } from '@rlp/backprop';
import type { Loss, TrainingSequence } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig, saveModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { expect, it } from 'vitest';

const run = promisify(execFile);
const python = process.env.RLP_PEFT_PYTHON ?? '';

async function peftProblem(): Promise<string | undefined> {
  if (python === '') return 'RLP_PEFT_PYTHON names no Python with peft and transformers';
  try {
    await run(python, ['-c', 'import peft, transformers']);
    return undefined;
  } catch (error) {
    return `${python} cannot import peft and transformers: ${String(error).trim().split('\n').at(-1)}`;
  }
}

const problem = await peftProblem();
if (problem !== undefined) console.log(`PEFT's check of our adapters is skipped: ${problem}`);

interface PeftLogits {
  readonly plain: readonly (readonly (readonly number[])[])[];
  readonly adapted: readonly (readonly (readonly number[])[])[];
  readonly versions: string;
}

const negativeLogLikelihood: Loss = {
  key: 'negative-log-likelihood',
  columns: [],
  compute: (ops, { logprobs }) => ({ tokenLosses: ops.neg(logprobs) }),
};

const rows = [
  [1, 4, 2, 3, 5, 0, 1, 7],
  [3, 3, 2, 6],
];

const sequences = rows.map(
  (tokens): TrainingSequence => ({
    tokens,
    mask: tokens.map((_, t) => Math.min(t, 1)),
    weights: tokens.map(() => 0.1),
    columns: {},
  }),
);

const tokenizer = characterTokenizer('abcdefgh');
const llama = {
  hidden_size: 32,
  intermediate_size: 48,
  num_hidden_layers: 2,
  num_attention_heads: 4,
  num_key_value_heads: 2,
  head_dim: 8,
  max_position_embeddings: 32,
};
const gpt2 = { n_embd: 32, n_layer: 2, n_head: 4, n_positions: 32 };

function modelOf(type: string) {
  const config = parseModelConfig({
    model_type: type,
    vocab_size: tokenizer.vocabularySize,
    initializer_range: 0.2,
    ...(type === 'gpt2' ? gpt2 : llama),
  });
  return createModel({ config, tokenizer, seed: type });
}

/** Largest difference of any logit. */
function compare(ours: readonly Float32Array[], theirs: PeftLogits['adapted']): number {
  const differences = theirs.map((positions, row) =>
    positions.flat().reduce((worst, logit, i) => Math.max(worst, Math.abs(logit - ours[row]![i]!)), 0),
  );
  return Math.max(...differences);
}

const types = ['llama', 'qwen2', 'qwen3', 'gpt2'];
const variants = ['lora', 'dora', 'modules'] as const;

it
  .skipIf(problem !== undefined)
  .each(types.flatMap((type) => variants.map((variant) => [type, variant] as const)))(
  'PEFT loads the adapter of a %s by %s and computes the same logits',
  async (type, variant) => {
    const folder = await mkdtemp(join(tmpdir(), 'rlp-peft-'));
    const engine = await createEngine({ thread: 'inline', threads: 1 });
    try {
      const model = modelOf(type);
      await saveModel(join(folder, 'base'), model);
      const whole = [
        type === 'gpt2' ? 'wte' : 'embed_tokens',
        'lm_head',
        type === 'gpt2' ? 'ln_f' : 'model.norm',
      ];
      const lora = {
        ...{ rank: 3, alpha: 12, baseModel: join(folder, 'base') },
        ...(variant === 'modules' ? { modulesToSave: whole } : { variant }),
      };
      const backend = await createOnnxBackend({ engine, model, lora, learningRate: 0.02 });
      for (let update = 0; update < 3; update++) {
        await backend.forwardBackward({ sequences }, negativeLogLikelihood);
        await backend.optimStep();
      }
      await backend.saveCheckpoint(join(folder, 'adapter'));
      await backend.publish({ as: 'shared' });
      const sampler = await createOnnxSampler({ engine, model });
      // Logits of a position come with the token after it, so each row gets one more.
      const requests = rows.map((row) => ({ prompt: row.slice(0, 1), completion: [...row.slice(1), 0] }));
      const ours = await sampler.scoreLogits(requests, {});
      const script = join(import.meta.dirname, '../packages/backprop/fixtures/check_adapter.py');
      // PEFT finds the base model by what the adapter says of it.
      const paths = [join(folder, 'adapter')];
      const { stdout } = await run(python, [script, ...paths, JSON.stringify(rows)]);
      const theirs = JSON.parse(stdout.trim().split('\n').at(-1)!) as PeftLogits;
      const logits = ours.map((scores) => scores.logits);
      const worst = compare(logits, theirs.adapted);
      const change = compare(logits, theirs.plain);
      console.log(
        `${type} ${variant}: logits differ by at most ${worst.toExponential(1)} (${theirs.versions}); ` +
          `training moved them by up to ${change.toFixed(2)}`,
      );
      expect(worst).toBeLessThan(1e-4);
      expect(change).toBeGreaterThan(0.1);
      await backend.close();
    } finally {
      await engine.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
  120_000,
);
