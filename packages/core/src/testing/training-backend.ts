import { ArgumentError, TrainingError } from '../errors.ts';
import type { PublicationForm } from '../publication.ts';
import type { Loss, TrainingBackend, TrainingSequence } from '../training.ts';
import {
  broken,
  largestGap,
  long,
  negativeLogLikelihood,
  notFinite,
  policyGradient,
  relativeGap,
  scoreGap,
  scores,
  sequence,
  short,
  squaredGap,
} from './training-fixtures.ts';
import { afterEach, describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface TrainingBackendSubject {
  /** A new backend with gradient clipping off. Every call gives equal initial weights. */
  readonly create: () => Promise<TrainingBackend>;
  /** Tokens of the policy's vocabulary. At least 4, all of them valid. Default 4. Contexts of 8 tokens must fit. */
  readonly vocabularySize?: number;
  /** A directory for publications as files. Omit if the backend publishes as `shared` first. */
  readonly publications?: () => Promise<string>;
  /** Largest relative difference that counts as equal between two ways of computing one number. Default 1e-4. */
  readonly tolerance?: number;
  /**
   * `'logprobs of tokens'` for a backend that knows the policy only by the logprobs of given tokens at temperature 1. It reports entropies
   * as NaN and refuses other temperatures. Default `'distributions'`.
   */
  readonly knows?: 'distributions' | 'logprobs of tokens';
  /**
   * A backend as `create` makes it that fails on demand, for a reason other than the arguments: a server that refuses, a program that ends.
   * Omit if nothing can fail there.
   */
  readonly createFaulty?: () => Promise<FaultyBackend>;
}

/** A backend that fails on demand. */
export interface FaultyBackend {
  readonly backend: TrainingBackend;
  /** The next call of the method fails. An update is then not made. */
  readonly arm: (method: 'forwardBackward' | 'optimStep') => void;
}

/**
 * Contract of the five members of {@link TrainingBackend}. Run it on every implementation. Optional groups have
 * separate suites, `describeHostWeightsBackend`, `describeReferenceBackend`, `describeCheckpointBackend`, `describeCriticBackend`.
 *
 * @param name - Names the implementation in the report.
 */
export function describeTrainingBackend(name: string, subject: TrainingBackendSubject): void {
  const tolerance = subject.tolerance ?? 1e-4;
  const vocabularySize = subject.vocabularySize ?? 4;
  const open: TrainingBackend[] = [];
  const create = async (): Promise<TrainingBackend> => {
    const backend = await subject.create();
    open.push(backend);
    return backend;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((backend) => backend.close()));
  });

  describe(`${name} is a TrainingBackend`, () => {
    describeScores({ create, vocabularySize, tolerance, knows: subject.knows ?? 'distributions' });
    describeSteps({ create, tolerance });
    describeRefusals({ create, vocabularySize });
    describePublications(create, subject.publications);
    const { createFaulty } = subject;
    if (createFaulty === undefined) return;
    describeFailures(create, tolerance, async () => {
      const faulty = await createFaulty();
      open.push(faulty.backend);
      return faulty;
    });
  });
}

type Create = () => Promise<TrainingBackend>;

function describeFailures(
  create: Create,
  tolerance: number,
  createFaulty: () => Promise<FaultyBackend>,
): void {
  it('drops the accumulated gradient if forwardBackward fails, and goes on', async () => {
    const [clean, { backend, arm }] = [await create(), await createFaulty()];
    await backend.forwardBackward({ sequences: [long] }, negativeLogLikelihood);
    arm('forwardBackward');
    const failed = backend.forwardBackward({ sequences: [short] }, negativeLogLikelihood);
    await expect(failed).rejects.toThrow();
    for (const each of [clean, backend]) each.forwardBackward({ sequences: [short] }, negativeLogLikelihood);
    const [expected, got] = [await clean.optimStep(), await backend.optimStep()];
    expect(relativeGap(got.gradientNorm, expected.gradientNorm)).toBeLessThan(tolerance);
    expect(got).toMatchObject({ updates: 1, learningRate: expected.learningRate });
    expect(await scoreGap(backend, clean)).toBeLessThan(tolerance * 10);
  });

  it('drops the accumulated gradient if optimStep fails, and counts the updates that were made', async () => {
    const [clean, { backend, arm }] = [await create(), await createFaulty()];
    await backend.forwardBackward({ sequences: [long] }, negativeLogLikelihood);
    arm('optimStep');
    await expect(backend.optimStep()).rejects.toThrow();
    for (const each of [clean, backend]) each.forwardBackward({ sequences: [short] }, negativeLogLikelihood);
    const [expected, got] = [await clean.optimStep(), await backend.optimStep()];
    expect(relativeGap(got.gradientNorm, expected.gradientNorm)).toBeLessThan(tolerance);
    expect(got).toMatchObject({ updates: 1, learningRate: expected.learningRate });
    expect(await scoreGap(backend, clean)).toBeLessThan(tolerance * 10);
  });
}

function describePublications(create: Create, directory: (() => Promise<string>) | undefined): void {
  it('raises the version with each publication, in a form that it names', async () => {
    const backend = await create();
    const [as = 'checkpoint'] = backend.publishes ?? [];
    const options = { as, directory: await directory?.() };
    const first = await backend.publish(options);
    const second = await backend.publish(options);
    expect([first.kind, second.kind]).toEqual([as, as]);
    expect(second.version).toBe(first.version + 1);
  });

  it('refuses a form that it does not publish, and files without a directory', async () => {
    const backend = await create();
    const forms = backend.publishes ?? ['checkpoint'];
    await expect(backend.publish({ as: 'pigeon' as PublicationForm })).rejects.toThrow(ArgumentError);
    for (const as of forms.filter((form) => form !== 'shared')) {
      await expect(backend.publish({ as })).rejects.toThrow(ArgumentError);
    }
  });
}

function describeScores(subject: {
  create: Create;
  vocabularySize: number;
  tolerance: number;
  knows: 'distributions' | 'logprobs of tokens';
}): void {
  const { create, vocabularySize, tolerance, knows } = subject;
  const pairs = Array.from({ length: vocabularySize }, (_, token) => [0, token]);
  const sum = (numbers: readonly number[]) => numbers.reduce((total, x) => total + x, 0);

  it('gives a distribution over the vocabulary, and its entropy in nats', async () => {
    const backend = await create();
    const scores = await backend.logprobs(pairs);
    const logprobs = scores.map((score) => score.logprobs[1]!);
    expect(sum(logprobs.map(Math.exp))).toBeCloseTo(1, 4);
    if (knows === 'logprobs of tokens') {
      return void expect(scores.every(({ entropies }) => Number.isNaN(entropies[1]!))).toBe(true);
    }
    const entropy = -sum(logprobs.map((logprob) => Math.exp(logprob) * logprob));
    for (const { entropies } of scores) expect(relativeGap(entropies[1]!, entropy)).toBeLessThan(tolerance);
  });

  it('gives zero at position 0 and one number per token, whatever the lengths beside it', async () => {
    const backend = await create();
    const sequences = [[1], [3, 1, 0, 2, 1], [2, 2]];
    const together = await backend.logprobs(sequences);
    expect(together.map(({ logprobs }) => logprobs.length)).toEqual([1, 5, 2]);
    expect(together.map(({ entropies }) => entropies.length)).toEqual([1, 5, 2]);
    expect(together.map(({ logprobs, entropies }) => [logprobs[0], entropies[0]])).toEqual(
      sequences.map(() => [0, 0]),
    );
    const [alone] = await backend.logprobs([sequences[1]!]);
    expect(largestGap(alone!.logprobs, together[1]!.logprobs)).toBeLessThan(tolerance);
  });

  it('scores the tokens of masks as it does without masks', async () => {
    const backend = await create();
    const sequences = [
      [3, 1, 0, 2, 1],
      [2, 2],
      [3, 1, 0, 1],
    ];
    const masks = [
      [0, 0, 1, 0, 1],
      [0, 0],
      [0, 1, 0, 1],
    ];
    const [all, wanted] = [await backend.logprobs(sequences), await backend.logprobs(sequences, { masks })];
    for (const [row, mask] of masks.entries()) {
      const marked = (numbers: Float32Array) => numbers.filter((_, t) => mask[t] === 1);
      for (const score of ['logprobs', 'entropies'] as const) {
        if (score === 'entropies' && knows === 'logprobs of tokens') continue;
        expect(wanted[row]![score]).toHaveLength(mask.length);
        expect(largestGap(marked(wanted[row]![score]), marked(all[row]![score]))).toBeLessThan(tolerance);
      }
    }
  });

  it('divides logits by the temperature, or refuses it by name', async () => {
    const backend = await create();
    if (knows === 'logprobs of tokens') {
      return void (await expect(backend.logprobs(pairs, { temperature: 2 })).rejects.toThrow(/temperature/));
    }
    const plain = (await backend.logprobs(pairs)).map(({ logprobs }) => logprobs[1]!);
    const hot = (await backend.logprobs(pairs, { temperature: 2 })).map(({ logprobs }) => logprobs[1]!);
    const normalizer = Math.log(sum(plain.map((logprob) => Math.exp(logprob / 2))));
    expect(
      largestGap(
        hot,
        plain.map((logprob) => logprob / 2 - normalizer),
      ),
    ).toBeLessThan(tolerance);
  });
}

function describeSteps({ create, tolerance }: { create: Create; tolerance: number }): void {
  it('returns the weighted loss, mean metrics, counts and the logprobs before the update', async () => {
    const backend = await create();
    const scores = await backend.logprobs([short.tokens, long.tokens]);
    const result = await backend.forwardBackward({ sequences: [short, long] }, negativeLogLikelihood);
    const trained = [short, long].flatMap(({ tokens, mask, weights }, row) =>
      tokens.flatMap((_, t) => (mask[t] ? [[weights[t]!, -scores[row]!.logprobs[t]!] as const] : [])),
    );
    const loss = trained.reduce((total, [weight, surprise]) => total + weight * surprise, 0);
    const surprise = trained.reduce((total, [, one]) => total + one, 0) / trained.length;
    expect(relativeGap(result.loss, loss)).toBeLessThan(tolerance);
    expect(relativeGap(result.metrics.surprise!, surprise)).toBeLessThan(tolerance);
    expect(relativeGap(result.metrics.one!, 1)).toBeLessThan(tolerance);
    expect(result.tokens).toEqual({ trained: 5, total: 9 });
    expect(result.logprobs.map((row) => row.length)).toEqual([3, 6]);
    for (const [row, logprobs] of result.logprobs.entries()) {
      const { mask } = [short, long][row]!;
      const trained = (numbers: Float32Array) => numbers.filter((_, t) => mask[t] === 1);
      expect(logprobs[0]).toBe(0);
      expect(largestGap(trained(logprobs), trained(scores[row]!.logprobs))).toBeLessThan(tolerance);
    }
  });

  it('accumulates: two calls give the update of one call with both batches', async () => {
    const [together, apart] = [await create(), await create()];
    await together.forwardBackward({ sequences: [short, long] }, negativeLogLikelihood);
    await apart.forwardBackward({ sequences: [short] }, negativeLogLikelihood);
    await apart.forwardBackward({ sequences: [long] }, negativeLogLikelihood);
    const norms = [(await together.optimStep()).gradientNorm, (await apart.optimStep()).gradientNorm];
    expect(norms[0]).toBeGreaterThan(0);
    expect(relativeGap(norms[1]!, norms[0]!)).toBeLessThan(tolerance);
    expect(await scoreGap(together, apart)).toBeLessThan(tolerance * 10);
  });

  it('compares sequences of one row, or refuses to by name', async () => {
    const backend = await create();
    const sides = [short, long, sequence([2, 0, 1], 0.5), short].map((one, index) => ({
      ...one,
      columns: { side: one.tokens.map(() => (index % 2 === 0 ? 1 : -1)) },
    }));
    if (backend.tokensPerRow === undefined) {
      const refused = backend.forwardBackward({ sequences: sides }, squaredGap);
      return void (await expect(refused).rejects.toThrow(/in a row/));
    }
    const scores = await backend.logprobs(sides.map(({ tokens }) => tokens));
    const total = (index: number, of: (t: number) => number) =>
      sides[index]!.tokens.reduce((sum, _, t) => sum + (sides[index]!.mask[t] ? of(t) : 0), 0);
    const logprob = (index: number) => total(index, (t) => scores[index]!.logprobs[t]!);
    const weight = (index: number) => total(index, (t) => Number(sides[index]!.weights[t]));
    const loss = [0, 2].reduce(
      (sum, first) => sum + (weight(first) + weight(first + 1)) * (logprob(first) - logprob(first + 1)) ** 2,
      0,
    );
    const result = await backend.forwardBackward({ sequences: sides }, squaredGap);
    expect(relativeGap(result.loss, loss)).toBeLessThan(tolerance);
    expect(largestGap(result.logprobs[2]!, scores[2]!.logprobs)).toBeLessThan(tolerance);
    await backend.optimStep();
    expect((await backend.forwardBackward({ sequences: sides }, squaredGap)).loss).toBeLessThan(loss);
    const odd = backend.forwardBackward({ sequences: sides.slice(1) }, squaredGap);
    await expect(odd).rejects.toThrow(/multiple of 2/);
  });

  it('leaves weights alone until optimStep, which clears the gradient', async () => {
    const backend = await create();
    const before = await scores(backend);
    await backend.forwardBackward({ sequences: [short] }, negativeLogLikelihood);
    expect(await scores(backend)).toEqual(before);
    expect(await backend.optimStep()).toMatchObject({ updates: 1 });
    expect(await scores(backend)).not.toEqual(before);
    expect(await backend.optimStep()).toMatchObject({ gradientNorm: 0, updates: 2 });
  });

  it('runs calls in the order they are made, awaited or not', async () => {
    const [pipelined, stepwise] = [await create(), await create()];
    const futures = [
      pipelined.logprobs([long.tokens]),
      pipelined.forwardBackward({ sequences: [long] }, negativeLogLikelihood),
      pipelined.optimStep(),
      pipelined.logprobs([long.tokens]),
    ] as const;
    const after = await futures[3];
    expect(futures.map((future) => future.settled)).toEqual([true, true, true, true]);
    const before = await futures[0];
    await stepwise.forwardBackward({ sequences: [long] }, negativeLogLikelihood);
    await stepwise.optimStep();
    const expected = await stepwise.logprobs([long.tokens]);
    expect(largestGap(after[0]!.logprobs, expected[0]!.logprobs)).toBeLessThan(tolerance);
    expect(largestGap(after[0]!.logprobs, before[0]!.logprobs)).toBeGreaterThan(0);
  });

  it('makes trained tokens likelier, and those with negative advantage less likely', async () => {
    for (const advantage of [1, -1]) {
      const backend = await create();
      const batch = { sequences: [{ ...short, columns: { advantages: short.tokens.map(() => advantage) } }] };
      const before = await backend.forwardBackward(batch, policyGradient);
      await backend.optimStep();
      const [after] = await backend.logprobs([short.tokens]);
      const total = (logprobs: Float32Array) => logprobs.reduce((sum, x) => sum + x, 0);
      expect(advantage * (total(after!.logprobs) - total(before.logprobs[0]!))).toBeGreaterThan(0);
    }
  });

  it('ignores what stands where the mask is 0, and gives zero for a batch that trains nothing', async () => {
    const backend = await create();
    const nothing = sequence([1, 2, 3], Number.NaN, {
      mask: [0, 0, 0],
      columns: { advantages: [0, Number.NaN, Number.POSITIVE_INFINITY] },
    });
    const result = await backend.forwardBackward({ sequences: [nothing] }, policyGradient);
    expect(result.loss).toBeCloseTo(0, 12);
    expect(result.tokens).toEqual({ trained: 0, total: 3 });
    expect((await backend.optimStep()).gradientNorm).toBe(0);
  });
}

function describeRefusals({ create, vocabularySize }: { create: Create; vocabularySize: number }): void {
  const bad: readonly (readonly [string, TrainingSequence])[] = [
    ['a mask of another length', { ...short, mask: [0, 1] }],
    ['weights of another length', { ...short, weights: [1, 1, 1, 1] }],
    ['a column of another length', { ...short, columns: { advantages: [1] } }],
    ['a missing column', { ...short, columns: {} }],
    ['a mask that trains the first token', { ...short, mask: [1, 1, 1], columns: { advantages: [0, 0, 0] } }],
    ['a token outside the vocabulary', sequence([0, vocabularySize], 1, { columns: { advantages: [0, 0] } })],
    ['a negative token', sequence([0, -1], 1, { columns: { advantages: [0, 0] } })],
  ];
  it.each(bad)('rejects %s, and goes on', async (_, broken) => {
    const backend = await create();
    const refused = backend.forwardBackward({ sequences: [broken] }, policyGradient);
    await expect(refused).rejects.toThrow(ArgumentError);
    expect((await backend.optimStep()).gradientNorm).toBe(0);
  });

  it('names a column that a loss reads and does not declare', async () => {
    const backend = await create();
    const careless: Loss = {
      key: 'contract/careless',
      columns: [],
      compute: (ops, { logprobs, columns }) => ({ tokenLosses: ops.mul(logprobs, columns.advantages!) }),
    };
    const refused = backend.forwardBackward({ sequences: [short] }, careless);
    await expect(refused).rejects.toThrow(ArgumentError);
    await expect(backend.forwardBackward({ sequences: [short] }, careless)).rejects.toThrow(/"advantages"/);
  });

  it('rejects an empty batch and temperatures that differ or are none', async () => {
    const backend = await create();
    await expect(backend.logprobs([long.tokens], { temperature: 0 })).rejects.toThrow(ArgumentError);
    const frozen = { sequences: [{ ...short, temperature: -1 }] };
    await expect(backend.forwardBackward(frozen, negativeLogLikelihood)).rejects.toThrow(ArgumentError);
    await expect(backend.forwardBackward({ sequences: [] }, negativeLogLikelihood)).rejects.toThrow(
      ArgumentError,
    );
    const mixed = [short, { ...long, temperature: 0.5 }];
    await expect(backend.forwardBackward({ sequences: mixed }, negativeLogLikelihood)).rejects.toThrow(
      ArgumentError,
    );
  });

  it.each([
    ['is not finite', notFinite, TrainingError],
    ['throws', broken, /broken/],
  ] as const)('refuses a loss that %s, drops the gradient and keeps the weights', async (_, loss, error) => {
    const backend = await create();
    const before = await scores(backend);
    await backend.forwardBackward({ sequences: [short] }, negativeLogLikelihood);
    const refused = backend.forwardBackward({ sequences: [short] }, loss);
    await expect(refused).rejects.toThrow(error);
    expect(await scores(backend)).toEqual(before);
    expect(await backend.optimStep()).toMatchObject({ gradientNorm: 0 });
  });

  it('rejects every call after close, which may be called twice', async () => {
    const backend = await create();
    await backend.close();
    await backend.close();
    await expect(backend.optimStep()).rejects.toThrow(/closed/);
    await expect(backend.logprobs([[0, 1]])).rejects.toThrow(/closed/);
    await expect(backend.forwardBackward({ sequences: [short] }, negativeLogLikelihood)).rejects.toThrow(
      /closed/,
    );
  });
}
