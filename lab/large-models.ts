/**
 * Load time, memory and speed of low-rank adaptation, and of training every weight (`--base full`), on random models of Qwen2.5's
 * shapes. One JSON line for each measurement.
 *
 *     node --conditions=@rlp/source --import tsx lab/large-models.ts make FOLDER [--size 0.5|1.5]
 *     node --conditions=@rlp/source --import tsx lab/large-models.ts train FOLDER [--base full|float32|int8|nf4] [--optimizer adamw]
 *                [--rows 1] [--length 512] [--steps 2] [--activations keep|recompute] [--keep-model] [--generate 16]
 *     node --conditions=@rlp/source --import tsx lab/large-models.ts load FOLDER [--base full|float32|int8|nf4] [--optimizer adamw]
 *
 * `loadPeak` is the largest resident memory until the backend is ready, `trainPeak` that from the second step on, `lastPeak` that to
 * the end. `estimatedMiB` and `estimatedLoadMiB` are what `estimateMemory` says.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { policyLoss } from '@rlp/algorithms/loss';
import { createOnnxBackend, estimateMemory } from '@rlp/backprop';
import { type HostTensor, RandomStream } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import {
  characterTokenizer,
  type LanguageModel,
  loadModel,
  type ModelConfig,
  parseModelConfig,
  saveModel,
} from '@rlp/models';
import { type DecoderParameter, parameterSpecs } from '@rlp/models/decoder';
import { createEngine } from '@rlp/onnx/runtime';
import { letters } from './letters.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '0.5' },
    base: { type: 'string', default: 'float32' },
    optimizer: { type: 'string', default: 'adamw' },
    rows: { type: 'string', default: '1' },
    length: { type: 'string', default: '512' },
    steps: { type: 'string', default: '2' },
    activations: { type: 'string', default: 'keep' },
    'keep-model': { type: 'boolean', default: false },
    generate: { type: 'string', default: '0' },
    threads: { type: 'string', default: '2' },
  },
});

const shapes = {
  '0.5': { hidden_size: 896, intermediate_size: 4864, num_hidden_layers: 24, num_attention_heads: 14 },
  '1.5': { hidden_size: 1536, intermediate_size: 8960, num_hidden_layers: 28, num_attention_heads: 12 },
} as const;

const vocabularyTokens = 81_571;

const chatTemplate = '{% for message in messages %}{{ message.content }}{% endfor %}';

function shapeOf(size: keyof typeof shapes) {
  const tokens = { bos_token_id: 0, eos_token_id: 1, tie_word_embeddings: true, vocab_size: 151_936 };
  const common = {
    num_key_value_heads: 2,
    max_position_embeddings: 4096,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
  };
  return parseModelConfig({ model_type: 'qwen2', hidden_act: 'silu', ...shapes[size], ...tokens, ...common });
}

/** Noise of deviation 0.02 that repeats itself, made when it is asked for, so that one tensor is in memory at a time. */
function noisy({ name, shape, role }: DecoderParameter): HostTensor {
  const random = RandomStream.named('noise', name);
  const noise = Float32Array.from({ length: 65_521 }, () => 0.07 * (random.uniform() - 0.5));
  return {
    shape,
    get data() {
      const data = new Float32Array(shape.reduce((product, length) => product * length, 1));
      if (role === 'norm') return data.fill(1);
      if (role === 'bias') return data;
      for (let at = 0; at < data.length; at += noise.length) {
        data.set(noise.subarray(0, Math.min(noise.length, data.length - at)), at);
      }
      return data;
    },
  };
}

async function make(folder: string): Promise<void> {
  const config = shapeOf(values.size as keyof typeof shapes);
  const weights = new Map(parameterSpecs(config).map((parameter) => [parameter.name, noisy(parameter)]));
  const model = {
    config,
    weights,
    // More than half as many characters as the model has tokens, so that the loop takes the tokenizer for the model's.
    tokenizer: characterTokenizer(letters(vocabularyTokens), {}, { chatTemplate }),
    chat: undefined,
    files: new Map(),
  };
  await saveModel(folder, model satisfies LanguageModel, { dtype: 'BF16' });
}

function peakMiB(): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))![1]) / 1024);
}

/** Milliseconds of steps on random sequences, elapsed and of the processor. The first one compiles the graph. */
async function timedSteps(
  backend: Awaited<ReturnType<typeof createOnnxBackend>>,
  config: ModelConfig,
  { rows, length, steps }: { readonly rows: number; readonly length: number; readonly steps: number },
) {
  const random = RandomStream.named('batch');
  const numbers = (next: () => number) => Array.from({ length }, next);
  const sequences = Array.from({ length: rows }, () => ({
    tokens: numbers(() => random.integer(config.vocabularySize)),
    mask: numbers(() => 1).with(0, 0),
    weights: numbers(() => 1 / (rows * length)),
    columns: { advantages: numbers(() => 2 * random.uniform() - 1), behaviorLogprobs: numbers(() => -11.9) },
  }));
  const loss = policyLoss({ clipHigh: 0.2, proximal: 'behavior', correction: 'none' });
  const milliseconds: number[] = [];
  const processor: number[] = [];
  for (let step = 0; step <= steps; step++) {
    // The caller's model is collected in the first step. Writing 5 begins another measurement of the peak.
    if (step === 1) writeFileSync('/proc/self/clear_refs', '5');
    const [start, used] = [performance.now(), process.cpuUsage()];
    await backend.forwardBackward({ sequences }, loss);
    await backend.optimStep();
    const { user, system } = process.cpuUsage(used);
    milliseconds.push(Math.round(performance.now() - start));
    processor.push(Math.round((user + system) / 1000));
  }
  return { milliseconds, processor };
}

/** What is trained, and how. */
function settings() {
  const base = values.base as 'full' | 'float32' | 'int8' | 'nf4';
  const [rows, length, steps] = [Number(values.rows), Number(values.length), Number(values.steps)];
  return {
    ...{ rows, length, steps, base },
    optimizer: { kind: values.optimizer as 'adamw' | 'adamw-8bit' | 'adafactor' },
    adaptation: base === 'full' ? {} : { lora: { rank: 8, base } },
    activations: values.activations as 'keep' | 'recompute',
  };
}

/** Seconds and memory until a backend is ready, without those of starting Node.js and its modules. */
async function loadBackend(folder: string) {
  const { rows, length, base, optimizer, adaptation, activations } = settings();
  const [begun, used] = [performance.now(), process.cpuUsage()];
  const model = await loadModel(folder, { checksums: 'skip' });
  const loaded = performance.now();
  const engine = await createEngine({ threads: Number(values.threads) });
  const backend = await createOnnxBackend({
    ...{ engine, model, learningRate: 1e-4, reference: 'none', activations, optimizer, ...adaptation },
    tokensPerMicroBatch: rows * length,
  });
  const { user, system } = process.cpuUsage(used);
  const seconds = (milliseconds: number) => Number((milliseconds / 1000).toFixed(2));
  const figures = {
    ...{ size: values.size, base, optimizer: optimizer.kind, loadPeak: peakMiB() },
    ...{ readSeconds: seconds(loaded - begun), loadSeconds: seconds(performance.now() - begun) },
    loadProcessorSeconds: seconds((user + system) / 1000),
  };
  // A sampler is given the model again, so that the caller holds it all the time.
  const held = values['keep-model'] || Number(values.generate) > 0 ? model : undefined;
  return { config: model.config, held, engine, backend, figures };
}

async function load(folder: string): Promise<object> {
  const { engine, backend, figures } = await loadBackend(folder);
  await backend.close();
  await engine.close();
  return figures;
}

async function train(folder: string): Promise<object> {
  const { rows, length, steps, optimizer, adaptation, activations } = settings();
  const { config, held, engine, backend, figures } = await loadBackend(folder);
  const { milliseconds, processor } = await timedSteps(backend, config, { rows, length, steps });
  const trainPeak = peakMiB();
  const start = performance.now();
  await backend.publish({ as: 'shared' });
  const publishMs = Math.round(performance.now() - start);
  const {
    total,
    loading,
    model: copy,
  } = estimateMemory({ config, rows, length, activations, reference: 'none', optimizer, ...adaptation });
  const estimated = held ? total : total - copy;
  const generated =
    held && Number(values.generate) > 0 ? await generate(engine, held, Number(values.generate)) : {};
  await backend.close();
  await engine.close();
  return {
    ...figures,
    ...{ activations, rows, length, milliseconds, processor, publishMs },
    ...{
      trainPeak,
      estimatedMiB: Math.round(estimated / 2 ** 20),
      estimatedLoadMiB: Math.round(loading / 2 ** 20),
    },
    ...generated,
    lastPeak: peakMiB(),
  };
}

async function generate(
  engine: Awaited<ReturnType<typeof createEngine>>,
  model: LanguageModel,
  count: number,
): Promise<object> {
  const sampler = await createOnnxSampler({ engine, model, maxSequences: count, contextLength: 256 });
  const random = RandomStream.named('prompts');
  const prompts = Array.from({ length: count }, () =>
    Array.from({ length: 32 }, () => random.integer(151_936)),
  );
  const [begun, used] = [performance.now(), process.cpuUsage()];
  const answers = await Promise.all(
    prompts.map((prompt, seed) => sampler.sample({ prompt, count: 1, maxTokens: 32, seed: `${seed}` })),
  );
  const tokens = answers.flat().reduce((sum, answer) => sum + answer.tokens.length, 0);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(used);
  await sampler.close();
  return {
    ...{ generated: tokens, tokensPerSecond: Math.round(tokens / seconds) },
    tokensPerProcessorSecond: Math.round((1e6 * tokens) / (user + system)),
  };
}

const [command, folder] = positionals;
const commands = { make, load, train };
if (folder === undefined || command === undefined || !Object.hasOwn(commands, command)) {
  throw new Error('usage: large-models.ts make|load|train FOLDER');
}
const result = await commands[command as keyof typeof commands](folder);
if (result) console.log(JSON.stringify(result));
