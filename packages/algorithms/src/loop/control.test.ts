import { describe, expect, it } from 'vitest';
import { banditSetup, collect } from './bandit.fixture.ts';
import { type RlOptions, resolveRlOptions } from './options.ts';

describe('the adaptive KL controller', () => {
  const control = { klControl: { target: 0.05, horizon: 200 } };

  it.each([
    ['in the loss', { loss: { klCoefficient: 0.1 }, ...control }, 'kl/reference'],
    ['in the reward', { rewardKl: { coefficient: 0.1 }, ...control }, 'kl/reward'],
  ] as const)('moves the coefficient of the KL %s, by what was measured', async (_, options, measured) => {
    const reports = await collect(banditSetup('kl-control'), { ...options, iterations: 6 });
    expect(reports[0]!.metrics['kl/coefficient']).toBe(0.1);
    for (const [index, { metrics, state }] of reports.entries()) {
      const error = Math.min(0.2, Math.max(-0.2, metrics[measured]! / 0.05 - 1));
      expect(state.klCoefficient).toBeCloseTo(metrics['kl/coefficient']! * (1 + (error * 64) / 200), 12);
      const next = reports[index + 1];
      if (next !== undefined) expect(next.metrics['kl/coefficient']).toBe(state.klCoefficient);
    }
  });

  it('makes no other graph: the coefficient travels with the batch', async () => {
    const setup = banditSetup('graphs');
    const keys = new Set<string>();
    const forwardBackward = setup.backend.forwardBackward.bind(setup.backend);
    setup.backend.forwardBackward = (batch, loss) => {
      keys.add(loss.key);
      return forwardBackward(batch, loss);
    };
    const entropyControl = { target: 1, step: 0.01 };
    await collect(setup, { loss: { klCoefficient: 0.1 }, ...control, entropyControl, iterations: 4 });
    expect(keys.size).toBe(1);
  });

  it('with a horizon without end is a fixed coefficient, to the bit', async () => {
    const run = async (options: RlOptions) => {
      const setup = banditSetup('fixed');
      await collect(setup, { loss: { klCoefficient: 0.25 }, iterations: 4, epochs: 2, ...options });
      return [...(await setup.backend.getWeights()).get('logits')!.data];
    };
    expect(await run({ klControl: { target: 1, horizon: 1e300 } })).toEqual(await run({}));
  });

  it('needs one coefficient to move', () => {
    expect(() => resolveRlOptions(control)).toThrow('klControl: needs one coefficient to move');
    const both = { loss: { klCoefficient: 0.1 }, rewardKl: { coefficient: 0.1 }, ...control };
    expect(() => resolveRlOptions(both)).toThrow('klControl: needs one coefficient to move');
  });
});

describe('the entropy controller', () => {
  it('raises the coefficient while entropy is below its target, else lowers it', async () => {
    const entropyControl = { target: 1.8, step: 0.02 };
    const reports = await collect(banditSetup('entropy-control'), { entropyControl, iterations: 10 });
    let coefficient = 0;
    for (const { metrics, state } of reports) {
      expect(metrics['entropy/coefficient']).toBeCloseTo(coefficient, 12);
      coefficient = Math.max(0, coefficient + (metrics['entropy/mean']! < 1.8 ? 0.02 : -0.02));
      expect(state.entropyCoefficient).toBeCloseTo(coefficient, 12);
    }
    expect(coefficient).toBeGreaterThan(0);
  });
});

it('a resumed run continues with the coefficients it had', async () => {
  const options = {
    rewardKl: { coefficient: 0.1 },
    klControl: { target: 0.01, horizon: 100 },
    entropyControl: { target: 2, step: 0.01 },
    iterations: 4,
  } satisfies RlOptions;
  const reports = await collect(banditSetup('resumed'), options);
  const resume = reports[1]!.state;
  const [third] = await collect(banditSetup('resumed'), { ...options, resume });
  for (const name of ['kl/coefficient', 'entropy/coefficient']) {
    expect(third!.metrics[name]).toBe(reports[2]!.metrics[name]);
  }
});

describe('tokens chosen over the whole batch of an update', () => {
  const share = 0.25;
  it.each([
    ['keep', { tokenSelection: { method: 'high-entropy', share } }],
    ['keep', { tokenSelection: { method: 'clip-covariance', share, low: -10, high: 10 } }],
    [
      'selected',
      { tokenSelection: { method: 'kl-covariance', share }, loss: { proximalKlCoefficient: 0.1 } },
    ],
  ] satisfies [string, RlOptions][])('reach the loss in the column %s: %o', async (column, options) => {
    const setup = banditSetup('selection');
    const shares: number[] = [];
    let scorings = 0;
    const { backend } = setup;
    const forwardBackward = backend.forwardBackward.bind(backend);
    backend.forwardBackward = (batch, loss) => {
      expect(loss.columns).toContain(column);
      const rows = batch.sequences.map(({ columns, mask }) =>
        Array.from(columns[column]!).filter((_, t) => mask[t] !== 0),
      );
      const flat = rows.flat();
      shares.push(flat.filter((value) => value === 1).length / flat.length);
      return forwardBackward(batch, loss);
    };
    const logprobs = backend.logprobs.bind(backend);
    backend.logprobs = (...call) => {
      scorings += 1;
      return logprobs(...call);
    };
    await collect(setup, { ...options, iterations: 1, epochs: 2, minibatches: 2 });
    expect(shares).toHaveLength(4);
    for (const value of shares) expect(value).toBeGreaterThan(0);
    expect(scorings).toBe(4); // before the first update all sequences, then each of three minibatches
  });

  it('of the KL to the proximal policy need its coefficient', () => {
    expect(() => resolveRlOptions({ tokenSelection: { method: 'kl-covariance' } })).toThrow(
      'tokenSelection:',
    );
  });
});
