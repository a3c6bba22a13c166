/**
 * Whole trainer against whole trainer: preference training and reward models of rlp beside TRL's. Prints a table.
 *
 *     pnpm tsx --conditions=@rlp/source lab/trl-preferences.ts --python PYTHON [--case TEXT,TEXT] [--exact] [--record FILE]
 *          [--model DIR] [--layers N] [--rate 1e-3] [--pairs 8] [--tokens 6-35] [--prompt 64-256] [--updates 3] [--rounds 1]
 *
 * PYTHON is an interpreter with TRL 1.16 and PyTorch: `pip install trl==1.16.0 torch`. The model is examples/models/stories260k,
 * with `--layers` its first layers only.
 * Each case makes three AdamW updates at the learning rate `--rate` on one batch of eight pairs. TRL's trainers get the same token ids.
 * `--tokens` is the range of the lengths of completions, and `--prompt` of prompts, which are a few words otherwise.
 * Times are processor time of an update with one thread, the median after the first two. Give more updates to measure them, and rounds:
 * each trains every case on both sides in turn, and the table has the medians of their times and ratios. The first round is compared.
 * An update in which TRL's own numbers stop being finite ends the comparison of its case: those before it are compared, and no weights.
 * `--exact` adds how far loss, gradient norm and weights of both are from TRL's in float64. The verdict of a case that misses a tolerance
 * is then `as near` if ours are at most as far from the exact ones as TRL's, in each figure that misses, and `apart` otherwise.
 * `--record` writes what TRL gave, in float64 with `--exact`, as the fixture of packages/algorithms/src/preference/trl.test.ts.
 * The test trains two layers: `--layers 2 --rate 3e-4 --exact`.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { RandomStream } from '@rlp/core';
import { createOnnxSampler } from '@rlp/inference';
import { loadModel, parseModelConfig, saveModel } from '@rlp/models';
import { parameterSpecs } from '@rlp/models/decoder';
import { writeSafetensors } from '@rlp/models/safetensors';
import { createEngine } from '@rlp/onnx/runtime';
import { type PreferenceJob, preferenceCases } from './trl/preference-cases.ts';
import { type PreferenceOutcome, trainPreferences } from './trl/preference-rlp.ts';
import { weightsIn } from './trl/rlp-side.ts';

const { values } = parseArgs({
  options: {
    python: { type: 'string', default: process.env.RLP_TRL_PYTHON ?? '' },
    case: { type: 'string', default: '' },
    exact: { type: 'boolean', default: false },
    model: { type: 'string', default: resolve(import.meta.dirname, '../examples/models/stories260k') },
    layers: { type: 'string' },
    rate: { type: 'string', default: '1e-3' },
    pairs: { type: 'string', default: '8' },
    tokens: { type: 'string', default: '6-35' },
    prompt: { type: 'string', default: '0-0' },
    updates: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '1' },
    record: { type: 'string' },
  },
});
const { model } = values;
const texts = [
  'Once upon a time',
  'The little dog',
  'Lily wanted to',
  'One day, a big',
  'Tom and Sam',
  'The sun was',
];
/** Of loss, gradient norm and weights. */
const tolerances = [2e-4, 5e-4, 5e-4];
/** Weights of a case that the fixture keeps. */
const keptWeights = 24;
const print = (line: string) => process.stdout.write(`${line}\n`);

/** A length of a range such as `6-35`. Lengths of `step` 0, 1, 2, … are spread over it. */
function lengthIn(range: string, step: number): number {
  const [shortest, longest] = range.split('-').map(Number);
  return shortest! + (step % (longest! - shortest! + 1));
}

/** The model's folder, or with `--layers` a copy that has only its first layers. */
async function modelIn(folder: string): Promise<string> {
  if (values.layers === undefined) return model;
  const copy = join(folder, 'model');
  const whole = await loadModel(model);
  const config = parseModelConfig({ ...whole.config.source, num_hidden_layers: Number(values.layers) });
  const names = parameterSpecs(config).map(({ name }) => name);
  const weights = new Map(names.map((name) => [name, whole.weights.get(name)!]));
  await saveModel(copy, { ...whole, config, weights });
  return copy;
}

/** Prompts and completions of the untrained model; every third completion ends. */
async function makeJob(folder: string): Promise<PreferenceJob> {
  const longest = Number(values.tokens.split('-')[1]);
  const engine = await createEngine({ threads: 1 });
  const loaded = await loadModel(model);
  const sampler = await createOnnxSampler({ engine, model: loaded });
  const end = loaded.tokenizer.eosIds[0]!;
  const pairs = await Promise.all(
    Array.from({ length: Number(values.pairs) }, async (_, p) => {
      const prompt = loaded.tokenizer.encode(texts[p % texts.length]!);
      const maxTokens = lengthIn(values.prompt, 53 * p) - prompt.length;
      if (maxTokens > 0) {
        const [more] = await sampler.sample({ prompt, count: 1, maxTokens, seed: `prompt ${p}` });
        prompt.push(...more!.tokens);
      }
      const drawn = await sampler.sample({
        prompt,
        count: 2,
        maxTokens: longest + 5,
        seed: `preference ${p}`,
      });
      const [chosen, rejected] = drawn.map(({ tokens }, side) => {
        const own = tokens
          .filter((token) => token !== end)
          .slice(0, lengthIn(values.tokens, p * 11 + side * 17));
        return (p + side) % 3 === 0 ? [...own, end] : own;
      });
      return { prompt, chosen: chosen!, rejected: rejected! };
    }),
  );
  await engine.close();
  const random = RandomStream.named('reward head');
  const head = Float32Array.from({ length: loaded.config.hiddenSize }, () => (random.uniform() - 0.5) / 5);
  return {
    model: await modelIn(folder),
    learningRate: Number(values.rate),
    updates: Number(values.updates),
    undesirable: 5,
    distilled: 1,
    teacherScale: 0.8,
    pairs,
    head: [...head],
  };
}

/** Updates before the first one in which a side has no finite number. */
function finiteUpdates(...sides: readonly PreferenceOutcome[]): number {
  const updates = Math.max(...sides.map((side) => side.updates.length));
  const areFinite = (index: number) =>
    sides.every(
      ({ updates }) => Number.isFinite(updates[index]?.loss) && Number.isFinite(updates[index]?.norm),
    );
  const first = Array.from({ length: updates }, (_, index) => areFinite(index)).indexOf(false);
  return first < 0 ? updates : first;
}

/** ‖ours − theirs‖ and ‖theirs − start‖. */
function weightsApart(
  ours: PreferenceOutcome,
  theirs: PreferenceOutcome,
  start: PreferenceOutcome['weights'],
) {
  let [difference, way] = [0, 0];
  for (const [name, values] of theirs.weights) {
    const [own, first] = [ours.weights.get(name)!, start.get(name)!];
    for (let i = 0; i < values.length; i++) {
      difference += (own[i]! - values[i]!) ** 2;
      way += (values[i]! - first[i]!) ** 2;
    }
  }
  return { difference: Math.sqrt(difference), way: Math.sqrt(way) };
}

/** Weights at places that a stream draws, by tensor. */
function sampled({ weights }: PreferenceOutcome): [name: string, place: number, value: number][] {
  const names = [...weights.keys()].sort();
  const random = RandomStream.named('kept weights');
  return Array.from({ length: keptWeights }, () => {
    const name = names[Math.floor(random.uniform() * names.length)]!;
    const tensor = weights.get(name)!;
    const place = Math.floor(random.uniform() * tensor.length);
    return [name, place, tensor[place]!];
  });
}

interface TrlReport {
  readonly error?: string;
  readonly updates: PreferenceOutcome['updates'];
  readonly seconds: PreferenceOutcome['seconds'];
}

/** A process of preference_side.py, and the next line that it prints. */
function startTrl(folder: string, ...more: readonly string[]) {
  const script = join(import.meta.dirname, 'trl/preference_side.py');
  const child = spawn(values.python, [script, folder, ...more]);
  let said = '';
  child.stderr.on('data', (text) => (said = `${said}${text}`.slice(-2000)));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => {
    const { done, value } = await lines.next();
    if (done) throw new Error(`${script} ended early: ${said}`);
    return value as string;
  };
  return {
    versions: line(),
    train: async (index: number) => {
      child.stdin.write(`${index}\n`);
      await line();
    },
    end: () => child.kill(),
  };
}

async function outcomeOfTrl(path: string, name: string): Promise<PreferenceOutcome | undefined> {
  const report = JSON.parse(await readFile(`${path}.json`, 'utf8')) as TrlReport;
  if (report.error === undefined) {
    return {
      updates: report.updates,
      weights: await weightsIn(`${path}.safetensors`),
      seconds: report.seconds,
    };
  }
  print(`| ${name} | TRL failed: ${report.error} | | | | |`);
  return undefined;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}

/** Differences of loss, gradient norm and weights, relative to `other`. Weights are not compared once numbers are not finite. */
function figuresOf(one: PreferenceOutcome, other: PreferenceOutcome, start: PreferenceOutcome['weights']) {
  const updates = finiteUpdates(one, other);
  const worst = (field: 'loss' | 'norm', least: number) =>
    other.updates.slice(0, updates).reduce((largest, update, index) => {
      const difference = Math.abs(one.updates[index]![field] - update[field]);
      return Math.max(largest, difference / Math.max(least, Math.abs(update[field])));
    }, 0);
  const { difference, way } = weightsApart(one, other, start);
  const weights = updates === other.updates.length ? [difference / way] : [];
  return { updates, figures: [worst('loss', 1e-3), worst('norm', 1e-6), ...weights] };
}

/** Whether ours agree with TRL's within the tolerances, and if not, whether they are as near to the exact ones as TRL's. */
type Verdict = 'equal' | 'as near' | 'apart';

function verdictOf(
  figures: readonly number[],
  exact?: Readonly<Record<'ours' | 'theirs', readonly number[]>>,
): Verdict {
  const missed = figures.flatMap((figure, index) => (figure < tolerances[index]! ? [] : [index]));
  if (missed.length === 0) return 'equal';
  return exact && missed.every((index) => exact.ours[index]! <= exact.theirs[index]!) ? 'as near' : 'apart';
}

/** Both sides of a case, trained one after the other. */
interface Round {
  readonly ours: PreferenceOutcome;
  readonly theirs: PreferenceOutcome;
}

/** Prints the line of a case. */
function compareCase(
  name: string,
  rounds: readonly Round[],
  exact: PreferenceOutcome | undefined,
  start: PreferenceOutcome['weights'],
): Verdict {
  const { ours, theirs } = rounds[0]!;
  const { figures, updates } = figuresOf(ours, theirs, start);
  const milliseconds = ({ seconds }: PreferenceOutcome) => 1000 * median(seconds.slice(2));
  const speed = [
    median(rounds.map((round) => milliseconds(round.theirs))).toFixed(1),
    median(rounds.map((round) => milliseconds(round.ours))).toFixed(1),
    median(rounds.map((round) => milliseconds(round.theirs) / milliseconds(round.ours))).toFixed(2),
  ];
  const fromExact = exact && {
    theirs: figuresOf(theirs, exact, start).figures,
    ours: figuresOf(ours, exact, start).figures,
  };
  const verdict = verdictOf(figures, fromExact);
  const short = (figure: number | undefined) => figure?.toExponential(0) ?? '–';
  const shown = [
    ...tolerances.map((_, index) => short(figures[index])),
    ...speed,
    ...(fromExact ? [fromExact.theirs, fromExact.ours].map((own) => own.map(short).join(', ')) : []),
    updates < theirs.updates.length ? `${verdict}, ${updates} updates` : verdict,
  ];
  print(`| ${name} | ${shown.join(' | ')} |`);
  return verdict;
}

/** Trains a case on both sides in turn. Ends where TRL fails. */
async function trainBoth(
  { folder, job, trl }: { folder: string; job: PreferenceJob; trl: ReturnType<typeof startTrl> },
  one: (typeof preferenceCases)[number],
  index: number,
): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    await trl.train(index);
    const theirs = await outcomeOfTrl(join(folder, 'trl', one.name), one.name);
    if (theirs === undefined) break;
    rounds.push({ theirs, ours: await trainPreferences(job, one, join(folder, 'rlp', `${index} ${round}`)) });
  }
  return rounds;
}

/** The fixture's text, with a line for each case. Numbers have seven digits. */
function fixtureOf(versions: string, { model: _, ...job }: PreferenceJob, cases: object): string {
  const said = (value: unknown) =>
    JSON.stringify(value, (_, one: unknown) => (typeof one === 'number' ? Number(one.toPrecision(7)) : one));
  const lines = Object.entries(cases).map(([name, one]) => `${said(name)}:${said(one)}`);
  const source = said(`lab/trl-preferences.ts; ${versions}`);
  return `{"source":${source},\n"job":${said(job)},\n"cases":{\n${lines.join(',\n')}}}\n`;
}

async function main(): Promise<void> {
  if (values.python === '') {
    print('name a Python with TRL: --python PYTHON, or RLP_TRL_PYTHON');
    process.exitCode = 2;
    return;
  }
  const folder = await mkdtemp(join(tmpdir(), 'rlp-trl-'));
  const job = await makeJob(folder);
  const head = { shape: [1, job.head.length], data: Float32Array.from(job.head) };
  await writeSafetensors(join(folder, 'head.safetensors'), new Map([['score.weight', head]]));
  const start = new Map<string, ArrayLike<number>>([
    ...(await weightsIn(join(model, 'model.safetensors'))),
    ['score.weight', head.data],
  ]);
  let sides: ReturnType<typeof startTrl>[] = [];
  try {
    const chosen = preferenceCases.filter(({ name }) =>
      values.case.split(',').some((text) => name.includes(text)),
    );
    const cases = chosen.map(({ name, trainer, trl }) => ({ name, trainer, trl }));
    await writeFile(join(folder, 'job.json'), JSON.stringify({ ...job, cases }));
    sides = [startTrl(folder), ...(values.exact ? [startTrl(folder, 'exact')] : [])];
    const [trl, inDouble] = sides as [ReturnType<typeof startTrl>, ReturnType<typeof startTrl>?];
    const [versions] = await Promise.all(sides.map((side) => side.versions));
    const columns = ['loss', 'gradient norm', 'weights ÷ way moved', 'ms TRL', 'ms rlp', 'TRL ÷ rlp'];
    if (values.exact) columns.push('TRL from float64', 'rlp from float64');
    print(`${versions}\n| case | ${columns.join(' | ')} | verdict |`);
    print(`| --- |${' ---: |'.repeat(columns.length)} --- |`);
    const record: Record<string, unknown> = {};
    const verdicts: Verdict[] = [];
    for (const [index, one] of chosen.entries()) {
      const rounds = await trainBoth({ folder, job, trl }, one, index);
      if (rounds.length === 0) continue;
      await inDouble?.train(index);
      const exact = inDouble && (await outcomeOfTrl(join(folder, 'exact', one.name), one.name));
      verdicts.push(compareCase(one.name, rounds, exact, start));
      const theirs = exact ?? rounds[0]!.theirs;
      // On-policy distillation is compared in expectation, and here only.
      if (one.trainer !== 'gkd') record[one.name] = { updates: theirs.updates, weights: sampled(theirs) };
    }
    const counted = (verdict: Verdict) => verdicts.filter((own) => own === verdict).length;
    const [equal, near] = [counted('equal'), counted('as near')];
    print(
      `${equal} of ${chosen.length} cases equal (${tolerances.join(', ')}), ${near} as near to float64 as TRL`,
    );
    process.exitCode = equal + near === chosen.length ? 0 : 1;
    if (values.record !== undefined) await writeFile(values.record, fixtureOf(versions!, job, record));
  } finally {
    for (const side of sides) side.end();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
