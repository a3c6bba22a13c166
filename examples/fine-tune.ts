/**
 * Fine-tune a model on your JSONL
 *
 * Supervised fine-tuning with LoRA on rows of questions and answers. The program measures the perplexity of held-out answers
 * before and after. It writes the adapter in PEFT's files and a merged Hugging Face checkpoint.
 *
 * ```sh
 * pnpm recipe examples/fine-tune.ts
 * pnpm recipe examples/fine-tune.ts --model path/to/Qwen2.5-0.5B-Instruct --data my.jsonl --rate 1e-4
 * ```
 *
 * The default model knows only children's stories, and the default data are word problems. The perplexity falls from 143.9 to 11.0.
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Demonstration, demonstrationSequences, runSftTraining } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { ArgumentError, type Tokenizer, type TokenScorer } from '@rlp/core';
import { demonstrationsFrom } from '@rlp/data';
import { loadDataset } from '@rlp/data/datasets';
import { createOnnxSampler } from '@rlp/inference';
import { loadModel, saveModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';

/** The rows of a file as prompts and the completions to imitate. */
async function demonstrationsOf(path: string) {
  const rows: { readonly prompt: string; readonly completion: string }[] = [];
  for await (const shown of demonstrationsFrom(await loadDataset(path))) {
    if ('messages' in shown) throw new ArgumentError(`${path}: expected questions and answers, got messages`);
    const completion = ` ${shown.completion.replaceAll(/<<.*?>>/g, '')}`;
    rows.push({ prompt: `Question: ${shown.prompt}\nAnswer:`, completion });
  }
  return rows;
}

/** `exp` of the mean negative log-likelihood per token. */
async function perplexity(
  scorer: TokenScorer,
  tokenizer: Tokenizer,
  rows: readonly { readonly prompt: string; readonly completion: string }[],
): Promise<number> {
  const requests = rows.map(({ prompt, completion }) => ({
    prompt: tokenizer.encode(prompt),
    completion: tokenizer.encode(completion, { specialTokens: 'none' }),
  }));
  const logprobs = (await scorer.scoreTokens(requests)).flatMap((scores) => [...scores.logprobs]);
  return Math.exp(-logprobs.reduce((sum, logprob) => sum + logprob, 0) / logprobs.length);
}

/** What to train and for how long. */
export interface FineTuneOptions {
  readonly folder: string;
  readonly data: string;
  readonly out: string;
  readonly learningRate: number;
  readonly epochs: number;
}

/** Fine-tunes a model. Returns the held-out perplexity before and after. */
export async function fineTune({ folder, data, out, learningRate, epochs }: FineTuneOptions) {
  const rows = await demonstrationsOf(data);
  const engine = await createEngine();
  try {
    const model = await loadModel(folder);
    const { tokenizer } = model;
    const context = model.config.contextLength;
    const fits = (row: { prompt: string; completion: string }) =>
      tokenizer.encode(row.prompt + row.completion).length < context;
    const usable = rows.filter(fits);
    const heldOut = usable.slice(0, 20);
    const training: readonly Demonstration[] = usable.slice(20);
    const backend = await createOnnxBackend({
      engine,
      model,
      learningRate,
      lora: { rank: 16, alpha: 32 },
      reference: 'none',
    });
    const sampler = await createOnnxSampler({ engine, model });
    const before = await perplexity(sampler, tokenizer, heldOut);
    const sequences = training.flatMap((shown) => demonstrationSequences(shown, { tokenizer }));
    const updates = runSftTraining({ backend, sequences }, { epochs, sequencesPerBatch: 16 });
    for await (const { iteration, metrics } of updates)
      if (iteration % 10 === 0) console.log(`update ${iteration}: loss ${metrics['loss/sft']?.toFixed(3)}`);
    await sampler.updateWeights(await backend.publish({ as: 'shared' }));
    const after = await perplexity(sampler, tokenizer, heldOut);
    await backend.saveCheckpoint(join(out, 'adapter'));
    await saveModel(join(out, 'merged'), { ...model, weights: await backend.getWeights() });
    return { before, after, rows: usable.length };
  } finally {
    await engine.close();
  }
}

if (import.meta.filename === process.argv[1]) {
  const { values } = parseArgs({
    options: {
      new: { type: 'boolean', default: false },
      model: { type: 'string', default: join(import.meta.dirname, 'models/stories260k') },
      data: { type: 'string', default: join(import.meta.dirname, 'data/word-problems.jsonl') },
      out: { type: 'string', default: 'runs/fine-tune' },
      rate: { type: 'string', default: '1e-2' },
      epochs: { type: 'string', default: '5' },
    },
  });
  const { model: folder, data, out } = values;
  const earlier = ['adapter', 'merged'].map((name) => join(out, name)).filter(existsSync);
  if (earlier.length > 0 && !values.new) {
    throw new ArgumentError(
      `${out} holds an earlier run; start another with --out DIR, or delete it with --new`,
    );
  }
  for (const path of earlier) rmSync(path, { recursive: true });
  const { before, after, rows } = await fineTune({
    ...{ folder, data, out },
    learningRate: Number(values.rate),
    epochs: Number(values.epochs),
  });
  console.log(
    `${rows} rows. Perplexity of held-out answers: ${before.toFixed(1)} before, ${after.toFixed(1)} after.`,
  );
  console.log(`Adapter: ${join(out, 'adapter')}. Merged model: ${join(out, 'merged')}.`);
}
