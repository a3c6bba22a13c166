/**
 * A long GRPO run with the quality monitor: memory, open files, threads and the lag of the event loop have to stay flat.
 *
 *     node --expose-gc --conditions=@rlp/source --import tsx lab/soak.ts [--iterations 20000]
 *
 * Readings are taken at 40 places of the run, each after a garbage collection. The first quarter warms up. Of the rest a line is
 * fitted through each series, and its rise from end to end is compared with a limit. Exits with 1 if one rises more.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { GRPOAlgorithm } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { RewardQualityAssessor, RewardQualityMonitor } from '@rlp/quality-monitor';
import { rewardFunctions } from '@rlp/rewards';

const { values } = parseArgs({ options: { iterations: { type: 'string', default: '20000' } } });
const iterations = Number(values.iterations);
const readingEvery = Math.max(1, Math.floor(iterations / 40));
const checkpointEvery = Math.max(1, Math.floor(iterations / 20));
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Rise over the run that is allowed, and the unit. */
const limits = {
  rss: { most: 40, unit: 'MiB' },
  heap: { most: 8, unit: 'MiB' },
  files: { most: 0.5, unit: 'files' },
  threads: { most: 0.5, unit: 'threads' },
  lag: { most: 20, unit: 'ms (p99)' },
} as const;

type Reading = Readonly<Record<keyof typeof limits, number>>;

const lag = monitorEventLoopDelay({ resolution: 5 });

function reading(): Reading {
  globalThis.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const threads = /^Threads:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  const now = {
    rss: rss / 2 ** 20,
    heap: heapUsed / 2 ** 20,
    files: readdirSync('/proc/self/fd').length,
    threads: Number(threads),
    lag: lag.percentile(99) / 1e6,
  };
  lag.reset();
  return now;
}

/** Rise from the first to the last reading along the line that fits best. */
function rise(series: readonly number[]): number {
  const n = series.length;
  const [center, mean] = [(n - 1) / 2, series.reduce((sum, value) => sum + value, 0) / n];
  let products = 0;
  let squares = 0;
  for (const [index, value] of series.entries()) {
    products += (index - center) * (value - mean);
    squares += (index - center) ** 2;
  }
  return (products / squares) * (n - 1);
}

function tinyModel() {
  const tokenizer = characterTokenizer('abcdefgh', { end: '.' });
  const config = parseModelConfig({
    model_type: 'llama',
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    intermediate_size: 32,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    max_position_embeddings: 64,
    eos_token_id: 0,
  });
  return createModel({ config, tokenizer, seed: 'soak' });
}

async function soak(folder: string): Promise<Reading[]> {
  const engine = await createEngine({ threads: 1 });
  const model = tinyModel();
  const backend = await createOnnxBackend({ engine, model, learningRate: 1e-3 });
  const sampler = await createOnnxSampler({ engine, model });
  const environment = new SimpleTextEnvironment({ prompts: ['a', 'b', 'c', 'd'] });
  const algorithm = new GRPOAlgorithm(
    {
      environment,
      tokenizer: model.tokenizer,
      tasks: taskSource(environment.tasks),
      sampler,
      backend,
      rewards: rewardFunctions({
        early: ({ response }) => [...response].filter((letter) => letter < 'e').length / 8,
      }),
      monitor: new RewardQualityMonitor({ assessor: new RewardQualityAssessor({ tags: 'none' }) }),
    },
    { tasksPerIteration: 4, rollout: { groupSize: 4, sampling: { maxTokens: 8 } } },
  );
  const readings: Reading[] = [];
  lag.enable();
  for await (const { iteration } of algorithm.run({ iterations })) {
    if ((iteration + 1) % checkpointEvery === 0) await backend.saveCheckpoint(join(folder, 'checkpoint'));
    if ((iteration + 1) % readingEvery === 0) readings.push(reading());
  }
  lag.disable();
  await Promise.all([sampler.close(), backend.close()]);
  await engine.close();
  return readings;
}

const folder = await mkdtemp(join(tmpdir(), 'rlp-soak-'));
try {
  if (globalThis.gc === undefined) throw new Error('soak: start node with --expose-gc');
  const readings = (await soak(folder)).slice(Math.floor(40 / 4));
  print(`${iterations} iterations, readings after the first quarter:`);
  for (const name of Object.keys(limits) as (keyof typeof limits)[]) {
    const series = readings.map((each) => each[name]);
    const { most, unit } = limits[name];
    const rising = rise(series);
    const verdict = rising <= most ? 'flat' : 'RISES';
    print(
      `${name}: ${verdict}, ${rising.toFixed(2)} ${unit} (limit ${most}), from ${Math.min(...series).toFixed(1)} to ${Math.max(...series).toFixed(1)}`,
    );
    if (rising > most) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
