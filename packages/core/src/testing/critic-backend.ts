import { hasGroup } from '../backend-groups.ts';
import { ArgumentError } from '../errors.ts';
import type { CheckpointBackend, CriticBackend } from '../training.ts';
import {
  policyAndValue,
  returnsOf,
  squaredError,
  trainValues,
  valuesOf,
  valuesWithLogprobs,
} from './critic-fixtures.ts';
import {
  expectSameWeights,
  largestGap,
  long,
  policyGradient,
  relativeGap,
  scoreGap,
  scores,
  short,
  train,
} from './training-fixtures.ts';
import { afterEach, describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface CriticBackendSubject {
  /** A new backend whose value head gives 0 everywhere, gradient clipping off. Every call gives equal initial weights. */
  readonly create: () => Promise<CriticBackend>;
  /** The same without a value head. */
  readonly createWithoutHead: () => Promise<CriticBackend>;
  /** Tokens of the policy's vocabulary. At least 4, all of them valid. Default 4. Contexts of 8 tokens must fit. */
  readonly vocabularySize?: number;
  /** Path of a directory that does not exist yet, inside one that does. Omit where checkpoints are not supported. */
  readonly checkpointDirectory?: () => Promise<string>;
  /** Largest relative difference that counts as equal between two ways of computing one number. Default 1e-4. */
  readonly tolerance?: number;
}

/**
 * Contract of {@link CriticBackend}, beyond that of a `TrainingBackend`. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeCriticBackend(name: string, subject: CriticBackendSubject): void {
  const tolerance = subject.tolerance ?? 1e-4;
  const vocabularySize = subject.vocabularySize ?? 4;
  const open: CriticBackend[] = [];
  const opened = (make: () => Promise<CriticBackend>) => async () => {
    const backend = await make();
    open.push(backend);
    return backend;
  };
  const create = opened(subject.create);
  const createWithoutHead = opened(subject.createWithoutHead);
  afterEach(async () => {
    await Promise.all(open.splice(0).map((backend) => backend.close()));
  });

  describe(`${name} is a CriticBackend`, () => {
    describeValues({ create, tolerance, vocabularySize });
    describeValueLosses({ create, tolerance });
    describeSeparation({ create, createWithoutHead, tolerance });
    if (subject.checkpointDirectory) {
      describeCheckpoints({ create, createWithoutHead, directory: subject.checkpointDirectory });
    }
  });
}

type Create = () => Promise<CriticBackend>;

function describeValues(subject: { create: Create; tolerance: number; vocabularySize: number }): void {
  const { create, tolerance, vocabularySize } = subject;

  it('values the states before each token and after the last, 0 at position 0, whatever the lengths', async () => {
    const backend = await create();
    await trainValues(backend, 3);
    const sequences = [[1], [3, 1, 0, 2, 1], [2, 2]];
    const together = await backend.values(sequences);
    expect(together.map((values) => values.length)).toEqual([2, 6, 3]);
    expect(together.map((values) => values[0])).toEqual([0, 0, 0]);
    const alone = await Promise.all(sequences.map((tokens) => valuesOf(backend, tokens)));
    for (const [row, values] of together.entries()) {
      expect(largestGap(values, alone[row]!)).toBeLessThan(tolerance);
    }
  });

  it('values a state by the tokens before it alone', async () => {
    const backend = await create();
    await trainValues(backend, 3);
    const whole = await valuesOf(backend, long.tokens);
    for (let t = 1; t <= long.tokens.length; t++) {
      const prefix = await valuesOf(backend, long.tokens.slice(0, t));
      expect(relativeGap(prefix.at(-1)!, whole[t]!), `state ${t}`).toBeLessThan(tolerance);
    }
  });

  it('rejects tokens outside the vocabulary and signals that were aborted', async () => {
    const backend = await create();
    await expect(backend.values([[0, vocabularySize]])).rejects.toThrow(ArgumentError);
    const signal = AbortSignal.abort(new Error('stop'));
    await expect(backend.values([[0, 1]], { signal })).rejects.toThrow('stop');
  });
}

function describeValueLosses({ create, tolerance }: { create: Create; tolerance: number }): void {
  const targets = [returnsOf(short, 1), returnsOf(long, -0.5)];

  it('shows losses the value of the state before each token', async () => {
    const backend = await create();
    await trainValues(backend, 3);
    const values = await backend.values(targets.map(({ tokens }) => tokens));
    const result = await backend.forwardBackward({ sequences: targets }, squaredError);
    const terms = targets.flatMap(({ tokens, mask, weights, columns }, row) =>
      tokens.flatMap((_, t) =>
        mask[t] ? [weights[t]! * (values[row]![t]! - columns.returns![t]!) ** 2] : [],
      ),
    );
    const expected = terms.reduce((total, term) => total + term, 0);
    expect(relativeGap(result.loss, expected)).toBeLessThan(tolerance);
  });

  it('learns returns that are constant', async () => {
    const backend = await create();
    const first = (await backend.forwardBackward({ sequences: targets }, squaredError)).loss;
    await trainValues(backend, 150);
    const last = (await backend.forwardBackward({ sequences: targets }, squaredError)).loss;
    expect(last).toBeLessThan(first / 100);
  });

  it('gives no logprobs for a loss that reads values only, and shows it logprobs of 0', async () => {
    const backend = await create();
    const only = await backend.forwardBackward({ sequences: [short] }, valuesWithLogprobs('only'));
    expect(only.logprobs).toEqual([]);
    expect(only.metrics.logprob).toBe(0);
    const both = await backend.forwardBackward({ sequences: [short] }, valuesWithLogprobs('needed'));
    expect(both.logprobs).toHaveLength(1);
    expect(both.metrics.logprob).toBeLessThan(0);
  });

  it('adds up the gradients of policy and values, in one loss or in two', async () => {
    const [together, apart] = [await create(), await create()];
    for (const backend of [together, apart]) await trainValues(backend, 3);
    const sequences = targets.map((target) => ({
      ...target,
      columns: { ...target.columns, advantages: target.tokens.map((_, t) => t - 2) },
    }));
    await together.forwardBackward({ sequences }, policyAndValue);
    await apart.forwardBackward({ sequences }, policyGradient);
    await apart.forwardBackward({ sequences }, squaredError);
    const norms = [(await together.optimStep()).gradientNorm, (await apart.optimStep()).gradientNorm];
    expect(relativeGap(norms[1]!, norms[0]!)).toBeLessThan(tolerance);
    expect(await scoreGap(together, apart)).toBeLessThan(tolerance * 10);
    const values = [await valuesOf(together, long.tokens), await valuesOf(apart, long.tokens)];
    expect(largestGap(values[1]!, values[0]!)).toBeLessThan(tolerance * 10);
  });
}

function describeSeparation(subject: { create: Create; createWithoutHead: Create; tolerance: number }): void {
  const { create, createWithoutHead, tolerance } = subject;

  it("gives and takes the policy's weights alone", async () => {
    const [critic, plain] = [await create(), await createWithoutHead()];
    if (!hasGroup(critic, 'weights') || !hasGroup(plain, 'weights')) return;
    const before = await plain.getWeights();
    expectSameWeights(await critic.getWeights(), before);
    await trainValues(critic, 3);
    const values = await valuesOf(critic, long.tokens);
    const trained = await critic.getWeights();
    await critic.loadWeights(before);
    expectSameWeights(await critic.getWeights(), before);
    await critic.loadWeights(trained);
    expect(largestGap(await valuesOf(critic, long.tokens), values)).toBeLessThan(tolerance);
  });

  it('trains the policy as it does without a head, until a loss reads values', async () => {
    const [critic, plain] = [await create(), await createWithoutHead()];
    for (const backend of [critic, plain]) await train(backend);
    expect(await scoreGap(critic, plain)).toBe(0);
    expect(await valuesOf(critic, [1, 2])).toEqual(new Float32Array(3));
  });

  it('has no values without a head, says so, and goes on', async () => {
    const backend = await createWithoutHead();
    expect(hasGroup(backend, 'values')).toBe(false);
    expect(hasGroup(await create(), 'values')).toBe(true);
    await expect(backend.values([[0, 1]])).rejects.toThrow(ArgumentError);
    const batch = { sequences: [returnsOf(short, 1)] };
    await expect(backend.forwardBackward(batch, squaredError)).rejects.toThrow(ArgumentError);
    expect(await backend.optimStep()).toMatchObject({ gradientNorm: 0 });
  });
}

/** A maker whose backends save checkpoints too. */
function saving(create: Create): () => Promise<CriticBackend & CheckpointBackend> {
  return async () => {
    const backend = await create();
    if (hasGroup(backend, 'checkpoints')) return backend;
    throw new Error('expected a backend with checkpoints; leave out checkpointDirectory');
  };
}

function describeCheckpoints(subject: {
  create: Create;
  createWithoutHead: Create;
  directory: () => Promise<string>;
}): void {
  const { directory } = subject;
  const create = saving(subject.create);
  const createWithoutHead = saving(subject.createWithoutHead);

  it('restores values from a checkpoint bit for bit, and goes on as before', async () => {
    const path = await directory();
    const first = await create();
    await trainValues(first, 2);
    await first.saveCheckpoint(path);
    const saved = await valuesOf(first, long.tokens);
    const second = await create();
    await second.loadCheckpoint(path);
    expect(await valuesOf(second, long.tokens)).toEqual(saved);
    for (const backend of [first, second]) await trainValues(backend, 2);
    const continued = await valuesOf(second, long.tokens);
    expect(continued).toEqual(await valuesOf(first, long.tokens));
    expect(continued).not.toEqual(saved);
  });

  it('rejects a checkpoint that lacks a head, or has one too many, and keeps its own weights', async () => {
    const [critic, plain] = [await create(), await createWithoutHead()];
    await trainValues(critic, 2);
    const paths = [await directory(), await directory()] as const;
    await critic.saveCheckpoint(paths[0]);
    await plain.saveCheckpoint(paths[1]);
    const before = [await scores(plain), await scores(critic), await valuesOf(critic, long.tokens)];
    await expect(plain.loadCheckpoint(paths[0])).rejects.toThrow(ArgumentError);
    await expect(critic.loadCheckpoint(paths[1])).rejects.toThrow(ArgumentError);
    const after = [await scores(plain), await scores(critic), await valuesOf(critic, long.tokens)];
    expect(after).toEqual(before);
  });
}
