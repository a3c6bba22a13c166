import { TabularBackend } from '@rlp/backprop/tabular';
import { ArgumentError, OptionsError, type Step, TrainingError, type Trajectory } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { gae } from './advantage/gae.ts';
import { BackpropModule } from './backprop-module.ts';
import { aggregationWeights } from './loss/aggregation.ts';
import { policyLoss } from './loss/policy-loss.ts';

const half = Math.log(0.5);

function trajectory(...turns: readonly (readonly [prompt: number[], tokens: number[]])[]): Trajectory {
  const steps = turns.map(
    ([promptTokens, tokens]): Step => ({
      promptTokens,
      tokens,
      behaviorLogprobs: tokens.map(() => half),
      text: '',
      stopReason: 'stop',
    }),
  );
  return {
    id: 'one',
    task: { id: 'task', prompt: '', metadata: {} },
    steps,
    messages: [],
    response: '',
    status: 'completed',
    policyVersion: 0,
  };
}

const table = (options: object = {}) =>
  new TabularBackend({ vocabularySize: 2, contextTokens: 1, optimizer: 'sgd', learningRate: 1, ...options });

const close = (numbers: readonly number[]) => numbers.map((number) => expect.closeTo(number, 6));

/** The logits after the token 0: the row of the context 0. */
async function logitsAfterZero(backend: TabularBackend): Promise<number[]> {
  const { data } = (await backend.getWeights()).get('logits')!;
  const row = backend.table.rowOf([0, 0], 1);
  return [...data.slice(row, row + 2)];
}

describe('BackpropModule.computeAdvantages', () => {
  // By hand: δ_1 = 1 − 0.25, δ_0 = 0.99·0.25 − 0.5, A_0 = δ_0 + 0.99·0.95·δ_1.
  it('is generalized advantage estimation at γ 0.99 and λ 0.95', () => {
    const module = new BackpropModule({ backend: table() }, { normalizeAdvantages: 'none' });
    const { advantages, returns } = module.computeAdvantages([[0, 1]], [[0.5, 0.25]]);
    expect([...advantages[0]!]).toEqual(close([0.452875, 0.75]));
    expect([...returns[0]!]).toEqual(close([0.952875, 1]));
  });

  it('takes one value more than rewards as that of the state after the last', () => {
    const module = new BackpropModule({ backend: table() }, { normalizeAdvantages: 'none' });
    const { advantages } = module.computeAdvantages([[0, 1], [2]], [[0.5, 0.25, 2], [1]]);
    expect(advantages.map((row) => [...row])).toEqual([
      close([-0.2525 + 0.9405 * 2.73, 2.73]),
      [expect.closeTo(1)],
    ]);
  });

  // By hand: 1, 2 and 6 have mean 3 and unbiased deviation √7.
  it('standardises over every entry of the batch', () => {
    const module = new BackpropModule({ backend: table() }, { gaeLambda: 0, gamma: 0 });
    const { advantages, returns } = module.computeAdvantages([[1, 2], [6]], [[0, 0], [0]]);
    expect(advantages.map((row) => [...row])).toEqual([
      close([-2 / Math.sqrt(7), -1 / Math.sqrt(7)]),
      close([3 / Math.sqrt(7)]),
    ]);
    expect(returns.map((row) => [...row])).toEqual([[1, 2], [6]]);
  });

  it('names rows that do not fit', () => {
    const module = new BackpropModule({ backend: table() });
    expect(() => module.computeAdvantages([[0, 1]], [[0.5]])).toThrow(
      new ArgumentError('gae: values[0] must have 2 tokens, as rewards[0], got 1'),
    );
  });
});

describe('BackpropModule.computePpoLoss and update', () => {
  // By hand: at logits 0 the probability is 1/2 and the ratio 1, so the loss is −A and its slope by the logits −A·(e − p).
  it('moves the logits by what the gradient is on paper', async () => {
    const backend = table();
    const module = new BackpropModule({ backend });
    const loss = await module.computePpoLoss([trajectory([[0], [1]])], [2]);
    expect(loss).toMatchObject({ value: -2, metrics: { 'ratio/mean': 1, 'kl/reference': 0 } });
    expect(await logitsAfterZero(backend)).toEqual([0, 0]);
    expect(await module.update(loss)).toMatchObject({ gradientNorm: expect.closeTo(Math.SQRT2), updates: 1 });
    expect(await logitsAfterZero(backend)).toEqual([-1, 1]);
  });

  it('is the same step as the one made from the parts', async () => {
    const trajectories = [trajectory([[0], [1, 0]], [[0, 1, 0, 1], [1]]), trajectory([[1], [0, 0]])];
    const rewards = [[0, 1], [0.5]];
    const values = [[0.1, 0.2], [0.3]];
    const [whole, parts] = [table(), table()];
    const module = new BackpropModule({ backend: whole }, { normalizeAdvantages: 'none' });
    for (let round = 0; round < 2; round++) {
      const loss = await module.computePpoLoss(trajectories, module.computeAdvantages(rewards, values));
      await module.update(loss);
    }

    const { advantages } = gae({ rewards, values }, { discount: 0.99, lambda: 0.95 });
    const [[first, second], [third]] = [
      [...advantages[0]!] as [number, number],
      [...advantages[1]!] as [number],
    ];
    const rows = [
      { tokens: [0, 1, 0, 1, 1], mask: [0, 1, 1, 0, 1], advantages: [0, first, first, 0, second] },
      { tokens: [1, 0, 0], mask: [0, 1, 1], advantages: [0, third, third] },
    ];
    const weights = aggregationWeights(
      rows.map(({ mask }) => mask),
      { mode: 'token-mean' },
    );
    const ppo = policyLoss({
      clipLow: 0.2,
      clipHigh: 0.2,
      proximal: 'behavior',
      correction: 'none',
      klCoefficient: 0.1,
    });
    for (let round = 0; round < 2; round++) {
      const sequences = rows.map(({ tokens, mask, advantages: given }, index) => ({
        tokens,
        mask,
        weights: weights[index]!,
        columns: {
          advantages: given,
          behaviorLogprobs: mask.map((counts) => counts * half),
          referenceLogprobs: mask.map((counts) => counts * half),
        },
      }));
      await parts.forwardBackward({ sequences }, ppo);
      await parts.optimStep();
    }
    const [ours, theirs] = [await whole.getWeights(), await parts.getWeights()];
    expect([...ours.get('logits')!.data]).toEqual(close([...theirs.get('logits')!.data]));
    expect(ours.get('logits')!.data.some((logit) => logit !== 0)).toBe(true);
  });

  it('takes advantages per sampled token', async () => {
    const module = new BackpropModule({ backend: table() }, { klCoefficient: 0 });
    const turns = trajectory([[0], [1, 0]], [[0, 1, 0, 1], [1]]);
    expect((await module.computePpoLoss([turns], [[1, 2, 6]])).value).toBeCloseTo(-3);
  });

  it('sums the losses that one update is made of', async () => {
    const backend = table();
    const module = new BackpropModule({ backend });
    const losses = [
      await module.computePpoLoss([trajectory([[0], [1]])], [1]),
      await module.computePpoLoss([trajectory([[0], [1]])], [1]),
    ];
    await expect(module.update(losses[0]!)).rejects.toThrow(
      'expected all 2 losses computed since the last update',
    );
    await module.update(losses);
    expect(await logitsAfterZero(backend)).toEqual([-1, 1]);
    await expect(module.update(losses)).rejects.toThrow('2 of 2 losses were applied before, lost');
  });

  it('makes no update of losses whose gradient went with one that is not finite', async () => {
    const module = new BackpropModule({ backend: table() }, { klCoefficient: 0 });
    const good = await module.computePpoLoss([trajectory([[0], [1]])], [1]);
    const bad = trajectory([[0], [1]]);
    const steps = bad.steps.map((step) => ({ ...step, behaviorLogprobs: [Number.NaN] }));
    await expect(module.computePpoLoss([{ ...bad, steps }], [1])).rejects.toThrow(TrainingError);
    await expect(module.update(good)).rejects.toThrow('1 of 1 losses were applied before');
  });

  it.each([
    ['advantages must have one entry per trajectory, 1, got 2', [1, 2]],
    ['advantages[0] must have 1 numbers, one per step, or 2, one per sampled token, got 3', [[1, 2, 3]]],
    ['advantages[0][0] must be a finite number', [[Number.NaN]]],
  ])('refuses advantages that do not fit: %s', async (message, advantages) => {
    const module = new BackpropModule({ backend: table() });
    await expect(module.computePpoLoss([trajectory([[0], [1, 1]])], advantages)).rejects.toThrow(message);
  });

  it('refuses options that it does not know', () => {
    expect(() => new BackpropModule({ backend: table() }, { klCoef: 1 } as object)).toThrow(OptionsError);
  });

  it('refuses dependencies that are missing, of another kind or not known', () => {
    const misspelt = { backend: table(), critc: table() } as never;
    expect(() => new BackpropModule(misspelt)).toThrow(/BackpropDependencies[\s\S]*did you mean critic\?/);
    expect(() => new BackpropModule({} as never)).toThrow('backend: must be a training backend');
    expect(() => new BackpropModule({ backend: table(), critic: {} as never })).toThrow(OptionsError);
  });
});

describe('a BackpropModule with a critic', () => {
  // By hand: V = 0 and R = 1 give ½, with slope −1.
  it('teaches it the returns, with the policy where they are one model', async () => {
    const backend = table({ valueHead: 'linear' });
    const module = new BackpropModule({ backend, critic: backend }, { normalizeAdvantages: 'none' });
    const estimate = module.computeAdvantages([[1]], [[0]]);
    const loss = await module.computePpoLoss([trajectory([[0], [1]])], estimate);
    expect(loss).toMatchObject({ value: -0.5, metrics: { 'loss/value': 0.5 } });
    expect(await module.update(loss)).toMatchObject({ updates: 1 });
    expect([...(await backend.values([[0, 1]]))[0]!]).toEqual([0, 1, 0]);
    expect(await logitsAfterZero(backend)).toEqual([-0.5, 0.5]);
  });

  it('lets a critic of its own make an update of its own', async () => {
    const [backend, critic] = [table(), table({ valueHead: 'linear' })];
    const module = new BackpropModule({ backend, critic }, { valueCoefficient: 0.5 });
    const loss = await module.computePpoLoss([trajectory([[0], [1]])], { advantages: [[1]], returns: [[2]] });
    expect(await module.update(loss)).toMatchObject({ updates: 1, critic: { updates: 1 } });
    expect([...(await critic.values([[0, 1]]))[0]!]).toEqual([0, 1, 0]);
    expect(await logitsAfterZero(critic)).toEqual([0, 0]);
  });

  it('needs returns', async () => {
    const backend = table({ valueHead: 'linear' });
    const module = new BackpropModule({ backend, critic: backend });
    await expect(module.computePpoLoss([trajectory([[0], [1]])], [1])).rejects.toThrow(
      'a critic learns from returns',
    );
  });
});

describe('BackpropModule.updateRefModel', () => {
  it.each([
    [{ method: 'copy' } as const, 1],
    [{ method: 'ema' } as const, 0.01],
    [{ method: 'ema', decay: 0.25 } as const, 0.75],
  ])('moves the reference policy: %j', async (update, share) => {
    const backend = table();
    const module = new BackpropModule({ backend }, { klCoefficient: 0 });
    await module.update(await module.computePpoLoss([trajectory([[0], [1]])], [2]));
    await module.updateRefModel(update);
    const [scores] = await backend.logprobs([[0, 1]], { policy: 'reference' });
    // The logits moved from 0 to −1 and 1; `share` of the way, the token's probability is σ(2·share).
    expect(scores!.logprobs[1]).toBeCloseTo(-Math.log1p(Math.exp(-2 * share)), 5);
  });
});
