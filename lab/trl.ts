/**
 * Whole trainer against whole trainer: rlp with `preset: 'trl'` beside TRL, on equal completions and rewards. Prints a table.
 *
 *     pnpm tsx --conditions=@rlp/source lab/trl.ts --python PYTHON [--case TEXT]
 *
 * PYTHON is an interpreter with TRL 1.16 and the CPU build of PyTorch: `pip install trl==1.16.0 torch`. The model is
 * examples/models/stories260k. Each case makes three AdamW updates at a learning rate of 2e-3 on one batch of 4 × 8 completions,
 * so ratios of the second and third update are far from 1. TRL's trainer has only its generation replaced, rlp's only its sampler.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { createOnnxSampler } from '@rlp/inference';
import { loadModel } from '@rlp/models';
import { createEngine } from '@rlp/onnx/runtime';
import { cases, type TrlCase } from './trl/cases.ts';
import { type Job, type Outcome, outcomeOfTrl, trainWithRlp, weightsIn } from './trl/rlp-side.ts';

const { values } = parseArgs({
  options: {
    python: { type: 'string', default: process.env.RLP_TRL_PYTHON ?? '' },
    case: { type: 'string', default: '' },
  },
});
const model = resolve(import.meta.dirname, '../examples/models/stories260k');
const texts = ['Once upon a time', 'The little dog', 'Lily wanted to', 'One day, a big'];
/** Of loss, gradient norm and weights. */
const tolerances = [1e-3, 1e-3, 1e-3];
const print = (line: string) => process.stdout.write(`${line}\n`);

/** Completions of the untrained model, cut to 11 to 48 tokens; every third ends. */
async function makeJob(): Promise<Job> {
  const engine = await createEngine({ threads: 1 });
  const loaded = await loadModel(model);
  const { tokenizer } = loaded;
  const sampler = await createOnnxSampler({ engine, model: loaded });
  const end = tokenizer.eosIds[0]!;
  const groups = await Promise.all(
    texts.map(async (text, p) => {
      const prompt = tokenizer.encode(text);
      const drawn = await sampler.sample({ prompt, count: 8, maxTokens: 48, seed: `trl ${p}` });
      const completions = drawn.map(({ tokens }, g) => {
        const length = 11 + (((p * 8 + g) * 7) % 37);

        const own = tokens.filter((token) => token !== end).slice(0, length);
        const rewards = { first: ((p * 31 + g * 17) % 23) / 22, second: ((p * 13 + g * 29) % 19) / 9 };
        return { tokens: g % 3 === 0 ? [...own, end] : own, rewards };
      });
      return { text, prompt, completions };
    }),
  );
  await engine.close();
  return { model, learningRate: 2e-3, updates: 3, maxTokens: 48, groups };
}

/** Largest difference over the updates, relative to TRL's. */
function worst(ours: Outcome, theirs: Outcome, field: 'loss' | 'norm', least: number): number {
  if (ours.updates.length !== theirs.updates.length) return Number.NaN;
  return theirs.updates.reduce((largest, update, index) => {
    const difference = Math.abs(ours.updates[index]![field] - update[field]);
    return Math.max(largest, difference / Math.max(least, Math.abs(update[field])));
  }, 0);
}

/** ‖ours − theirs‖ over ‖theirs − start‖. */
function weightsApart(ours: Outcome, theirs: Outcome, start: Outcome['weights']): number {
  let difference = 0;
  let way = 0;
  for (const [name, values] of theirs.weights) {
    const [own, first] = [ours.weights.get(name)!, start.get(name)!];
    for (let i = 0; i < values.length; i++) {
      difference += (own[i]! - values[i]!) ** 2;
      way += (values[i]! - first[i]!) ** 2;
    }
  }
  return Math.sqrt(difference / way);
}

async function compareCase(
  job: Job,
  folder: string,
  one: TrlCase,
  start: Outcome['weights'],
): Promise<boolean> {
  const theirs = await outcomeOfTrl(join(folder, 'trl'), one.name);
  if ('error' in theirs) {
    print(`| ${one.name} | TRL failed: ${theirs.error} | | |`);
    return false;
  }
  const ours = await trainWithRlp(job, one, join(folder, 'rlp', one.name));
  const figures = [
    worst(ours, theirs, 'loss', 1e-3),
    worst(ours, theirs, 'norm', 1e-6),
    weightsApart(ours, theirs, start),
  ];
  print(`| ${one.name} | ${figures.map((figure) => figure.toExponential(0)).join(' | ')} |`);
  return figures.every((figure, index) => figure < tolerances[index]!);
}

async function main(): Promise<void> {
  if (values.python === '') {
    print('name a Python with TRL: --python PYTHON, or RLP_TRL_PYTHON');
    process.exitCode = 2;
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'rlp-trl-'));
  try {
    const job = await makeJob();
    const chosen = cases.filter(({ name }) => name.includes(values.case));
    const asked = chosen.map(({ name, trainer, trl, rewards }) => ({
      name,
      trainer,
      trl: { num_iterations: job.updates, ...trl },
      ...(rewards && { rewards: Object.keys(rewards) }),
    }));
    await writeFile(join(folder, 'job.json'), JSON.stringify({ ...job, cases: asked }));
    const script = join(import.meta.dirname, 'trl/trl_side.py');
    const { stdout } = await promisify(execFile)(values.python, [script, folder], { maxBuffer: 2 ** 26 });
    print(stdout.trim().split('\n').at(-1)!);
    print('| case | loss | gradient norm | weights ÷ way moved |\n| --- | ---: | ---: | ---: |');
    const start = await weightsIn(join(model, 'model.safetensors'));
    let equal = 0;
    for (const one of chosen) equal += (await compareCase(job, folder, one, start)) ? 1 : 0;
    print(`${equal} of ${chosen.length} cases equal (${tolerances.join(', ')})`);
    process.exitCode = equal === chosen.length ? 0 : 1;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
