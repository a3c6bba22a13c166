import { defineLoss, type Loss, type TrainingBackend, type TrainingBatch } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { type PolicyColumn, policyLoss } from '../loss/policy-loss.ts';
import { banditSetup } from './bandit.fixture.ts';
import { type RlOptions, resolveRlOptions } from './options.ts';
import { policyLossOf } from './policy-update.ts';
import { runRlTraining } from './rl.ts';

/** One iteration, its sampler off by up to 1 nat: its metrics, its batches, the weights after it and how far they moved. */
async function iterate(options: RlOptions) {
  const setup = banditSetup('policy-update');
  const batches: TrainingBatch[] = [];
  const forwardBackward = setup.backend.forwardBackward.bind(setup.backend);
  setup.backend.forwardBackward = (batch, loss) => {
    batches.push(batch);
    return forwardBackward(batch, loss);
  };
  const sample = setup.inference.sample.bind(setup.inference);
  setup.inference.sample = async (request) =>
    (await sample(request)).map((completion, member) => ({
      ...completion,
      behaviorLogprobs: completion.behaviorLogprobs.map((logprob) => logprob - (member % 5) / 4),
    }));
  for await (const { metrics } of runRlTraining(setup, options)) {
    const logits = [...(await setup.backend.getWeights()).get('logits')!.data];
    return { metrics, batches, logits, moved: await distance(setup.backend, batches[0]!) };
  }
  throw new Error('no iteration');
}

/** Mean of e^δ − 1 − δ over the trained tokens, δ = ln π − ln π_proximal. */
async function distance(backend: TrainingBackend, { sequences }: TrainingBatch): Promise<number> {
  const scores = await backend.logprobs(sequences.map(({ tokens }) => tokens));
  const differences = sequences.flatMap(({ mask, columns: { proximalLogprobs } }, row) =>
    Array.from(scores[row]!.logprobs, (logprob, t) => logprob - (proximalLogprobs?.[t] ?? 0)).filter(
      (_, t) => mask[t] === 1,
    ),
  );
  return differences.reduce((sum, delta) => sum + Math.exp(delta) - 1 - delta, 0) / differences.length;
}

/** All tokens are trained, those of groups without variance as well. */
const everywhere = { loss: { entropyCoefficient: 1e-9 } } satisfies RlOptions;

describe('targetKl', () => {
  it('leaves out the updates of an iteration once the policy is 1.5 times as far away', async () => {
    const stopped = await iterate({ ...everywhere, epochs: 12, targetKl: 0.05 });
    const made = stopped.metrics['update/count']!;
    expect(stopped.metrics['update/skipped']).toBe(12 - made);
    expect(stopped.moved).toBeGreaterThan(0.075);
    const shorter = await iterate({ ...everywhere, epochs: made - 1 });
    expect(shorter.moved).toBeGreaterThan(0);
    expect(shorter.moved).toBeLessThanOrEqual(0.075);
    expect(stopped.logits).toEqual((await iterate({ ...everywhere, epochs: made })).logits);
  });

  it.each([{ targetKl: 9 }, { correctionNormalization: 'batch' }] as const)(
    'has the logprobs before the update in a run of single updates: %j',
    async (options) => {
      expect((await iterate(options)).metrics['update/count']).toBe(1);
    },
  );

  it('scores the trained tokens, which are all that a backend has to score', async () => {
    const setup = banditSetup('policy-update');
    const masks: (readonly ArrayLike<number>[])[] = [];
    const logprobs = setup.backend.logprobs.bind(setup.backend);
    setup.backend.logprobs = (sequences, options: Parameters<TrainingBackend['logprobs']>[1]) => {
      if (options?.masks !== undefined) masks.push(options.masks);
      return logprobs(sequences, options);
    };
    for await (const _ of runRlTraining(setup, { ...everywhere, iterations: 1, epochs: 3, targetKl: 100 }));
    expect(masks).toHaveLength(3); // before the first update, and before the two that follow it
    for (const rows of masks)
      for (const row of rows) expect(Array.from(row)).toEqual(Array.from(row, (_, t) => (t === 0 ? 0 : 1)));
  });

  it('makes one update however small it is, and all where it is large', async () => {
    const small = await iterate({ epochs: 3, minibatches: 2, targetKl: 1e-9 });
    expect(small.metrics).toMatchObject({ 'update/count': 1, 'update/skipped': 5 });
    const large = await iterate({ epochs: 3, minibatches: 2, targetKl: 100 });
    expect(large.metrics['update/count']).toBe(6);
    expect(large.metrics).not.toHaveProperty(['update/skipped']);
    expect(large.logits).toEqual((await iterate({ epochs: 3, minibatches: 2 })).logits);
  });
});

describe('correctionNormalization', () => {
  const weightsOf = (batches: readonly TrainingBatch[]) =>
    batches.flatMap(({ sequences }) =>
      sequences.flatMap(({ mask, columns }) =>
        Array.from(columns.correctionWeights!).filter((_, t) => mask[t] === 1),
      ),
    );

  it.each(['token-truncate', 'sequence-truncate'] as const)(
    'makes the mean of %s one',
    async (correction) => {
      const setup = { loss: { correction, correctionCap: 2, entropyCoefficient: 0.01 }, minibatches: 2 };
      const { batches } = await iterate({ ...setup, correctionNormalization: 'batch' });
      const weights = weightsOf(batches);
      expect(weights).toHaveLength(64);
      expect(weights.reduce((sum, weight) => sum + weight, 0) / 64).toBeCloseTo(1, 12);
      // Eight groups of eight, whose members are off by 0, 0.25, 0.5, 0.75, 1, 0, 0.25 and 0.5; two is the cap.
      const plain = Math.min(...weights);
      for (const ratio of [1, Math.exp(0.25), Math.exp(0.5), 2]) {
        expect(weights.filter((weight) => Math.abs(weight / plain - ratio) < 1e-5)).toHaveLength(16);
      }
    },
  );

  it('needs a correction', () => {
    const options = { loss: { correction: 'none' }, correctionNormalization: 'batch' } as const;
    expect(() => resolveRlOptions(options)).toThrow('correctionNormalization');
  });
});

describe('klAggregation', () => {
  it('weighs the KL of every token, times its coefficient', async () => {
    const klAggregation = { mode: 'token-sum-norm', constant: 8 } as const;
    const { batches } = await iterate({ loss: { klCoefficient: 0.5 }, klAggregation });
    const weights = batches.flatMap(({ sequences }) =>
      sequences.map(({ weights: own, columns }) => own[1]! * columns.klCoefficients![1]!),
    );
    expect(weights).toEqual(Array(64).fill(0.5 / 8));
  });
});

describe('entropyAggregation', () => {
  const entropyAggregation = { mode: 'token-sum-norm', constant: 8 } as const;

  it('weighs the entropy of every token, times its coefficient', async () => {
    const { batches } = await iterate({ loss: { entropyCoefficient: 0.5 }, entropyAggregation });
    const weights = batches.flatMap(({ sequences }) =>
      sequences.map(({ weights: own, columns }) => own[1]! * columns.entropyCoefficients![1]!),
    );
    expect(weights).toEqual(Array(64).fill(0.5 / 8));
  });

  it('asks for no entropies where the coefficient is 0', () => {
    const options = resolveRlOptions({ entropyAggregation });
    expect(policyLossOf(options, { klForm: 'fixed' }).entropies).toBe('none');
  });
});

describe('a loss of one’s own', () => {
  const learned = async (loss: Loss<PolicyColumn>, options: RlOptions = {}) => {
    const setup = banditSetup('own loss');
    const rewards: number[] = [];
    const run = runRlTraining({ ...setup, loss }, { iterations: 12, ...options });
    for await (const { metrics } of run) rewards.push(metrics['reward/mean']!);
    return { rewards, logits: (await setup.backend.getWeights()).get('logits')!.data };
  };

  it('takes the place of the one that options describe', async () => {
    const options = { clipHigh: 0.4, klCoefficient: 0.05, proximal: 'column' } as const;
    const { proximal: _, ...loss } = options;
    const setup = banditSetup('own loss');
    for await (const _report of runRlTraining(setup, { iterations: 12, epochs: 2, loss }));
    const { logits } = await learned(policyLoss(options), { epochs: 2 });
    expect(logits).toEqual((await setup.backend.getWeights()).get('logits')!.data);
  });

  it('learns, and may want something of tokens without an advantage', async () => {
    const loss = defineLoss({
      key: 'reinforce with entropy',
      columns: ['advantages'],
      entropies: 'needed',
      compute: (ops, { logprobs, entropies, columns }) => ({
        tokenLosses: ops.neg(
          ops.add(ops.mul(logprobs, columns.advantages), ops.mul(ops.constant(0.001), entropies!)),
        ),
      }),
    });
    const { rewards } = await learned(loss);
    expect(rewards[0]).toBeLessThan(0.3);
    expect(rewards.at(-1)).toBeGreaterThan(0.6);
  });
});
