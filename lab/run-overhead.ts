/**
 * What `trainRun` costs beside the same parts wired by hand: GRPO with the quickstart's model, no evaluations.
 *
 *     node --conditions=@rlp/source --import tsx lab/run-overhead.ts [--iterations 40] [--rounds 3]
 *
 * Sides in turn, a process each, one JSON line for each: the medians of an iteration's elapsed time and of what the caller's
 * thread works in it, in milliseconds, and the characters of all responses, which are equal if both did the same work. An
 * iteration begins with the first response that is scored. The last line has the ratio of elapsed times, and what the thread
 * works more under `trainRun` as a share of an iteration.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GRPOAlgorithm } from '@rlp/algorithms';
import { createOnnxBackend } from '@rlp/backprop';
import { arithmeticTasks, SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler, InferenceModule } from '@rlp/inference';
import { characterTokenizer, createModel, parseModelConfig } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { createDefaultMonitor } from '@rlp/quality-monitor';
import { rewardFunctions } from '@rlp/rewards';
import { trainRun } from '@rlp/run';

const { values } = parseArgs({
  options: {
    side: { type: 'string' },
    iterations: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '3' },
  },
});
const iterations = Number(values.iterations);
const [tasksPerIteration, groupSize, maxTokens] = [32, 8, 40];
const sampling = { maxTokens };
const rollout = { groupSize, sampling };
const common = { tasksPerIteration, loss: { clipLow: 0.2, clipHigh: 0.28 }, referenceKl: 'always' } as const;
const learning = { learningRate: 3e-4, tokensPerMicroBatch: 8192 };
const rows = arithmeticTasks({ count: 2000, digits: 2, seed: '0' }).map((task) => ({ ...task, answer: '' }));

const medianOf = (numbers: readonly number[]) =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;

/** A reward that keeps the time at which it first scores a response of an iteration. */
function timedReward() {
  let scored = 0;
  let characters = 0;
  const times: { readonly elapsed: number; readonly busy: number }[] = [];
  const digits = ({ response }: { readonly response: string }) => {
    if (scored++ % (tasksPerIteration * groupSize) === 0) {
      times.push({ elapsed: performance.now(), busy: performance.eventLoopUtilization().active });
    }
    characters += response.length;
    return (response.match(/\d/g)?.length ?? 0) / maxTokens;
  };
  /** Medians of all iterations but the first ones, which compile graphs. */
  const medians = () => {
    const between = (kind: 'elapsed' | 'busy') =>
      medianOf(times.slice(5).map((time, at) => time[kind] - times[at + 4]![kind]));
    return { elapsed: between('elapsed'), busy: between('busy'), characters };
  };
  return { digits, medians };
}

function newModel() {
  const tokenizer = characterTokenizer('0123456789+=,', { begin: '<s>', end: '</s>' });
  const config = parseModelConfig({
    ...{ model_type: 'llama', architectures: ['LlamaForCausalLM'], vocab_size: tokenizer.vocabularySize },
    ...{ hidden_size: 128, num_hidden_layers: 4, num_attention_heads: 4, intermediate_size: 352 },
    ...{ max_position_embeddings: 64, tie_word_embeddings: true },
  });
  return createModel({ config, tokenizer, seed: '0' });
}

const sides = {
  async run({ digits }: ReturnType<typeof timedReward>): Promise<void> {
    const output = mkdtempSync(join(tmpdir(), 'run-overhead-'));
    await trainRun({
      ...{ seed: '0', model: newModel(), data: rows, rewards: digits, evaluation: 'none', output },
      algorithm: { name: 'grpo', iterations, ...common, rollout },
      backend: learning,
      sampler: { maxSequences: 256 },
    });
    rmSync(output, { recursive: true });
  },
  async parts({ digits }: ReturnType<typeof timedReward>): Promise<void> {
    const [engine, model] = [await createEngine(), newModel()];
    const backend = await createOnnxBackend({ engine, model, ...learning });
    const sampler = await InferenceModule.create({
      backend: createOnnxSampler({ engine, model, maxSequences: 256 }),
    });
    const algorithm = new GRPOAlgorithm(
      {
        ...{ backend, sampler, tokenizer: model.tokenizer, environment: new SimpleTextEnvironment() },
        tasks: taskSource(rows, { seed: '0' }),
        rewards: rewardFunctions({ digits }),
        monitor: createDefaultMonitor({ console: 'off' }),
      },
      { seed: '0', ...common, rollout: { seed: '0', ...rollout } },
    );
    for await (const { iteration, metrics } of algorithm.run({ iterations })) {
      console.error(iteration, metrics['reward/mean']);
    }
    await engine.close();
  },
};

type Side = keyof typeof sides;

async function measured(side: Side): Promise<object> {
  const reward = timedReward();
  await sides[side](reward);
  return { side, ...reward.medians() };
}

function inProcess(side: Side): { readonly elapsed: number; readonly busy: number } {
  const flags = ['--conditions=@rlp/source', '--import', 'tsx', fileURLToPath(import.meta.url)];
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [...flags, '--side', side, '--iterations', String(iterations)],
    { encoding: 'utf8' },
  );
  const line = stdout.trim().split('\n').at(-1);
  if (!line) throw new Error(`run-overhead: ${side} printed no figures:\n${stderr}`);
  console.log(line);
  return JSON.parse(line);
}

if (values.side !== undefined) console.log(JSON.stringify(await measured(values.side as Side)));
else {
  const rounds = Array.from({ length: Number(values.rounds) }, () => ({
    parts: inProcess('parts'),
    run: inProcess('run'),
  }));
  const median = (of: (round: (typeof rounds)[number]) => number) =>
    Number(medianOf(rounds.map(of)).toFixed(4));
  const elapsedRatio = median(({ parts, run }) => run.elapsed / parts.elapsed);
  console.log(
    JSON.stringify({
      elapsedRatio,
      busyShare: median(({ parts, run }) => (run.busy - parts.busy) / parts.elapsed),
    }),
  );
}
