import { TabularBackend } from '@rlp/backprop/tabular';
import { type Loss, OptionsError } from '@rlp/core';
import { RolloutManager, type RolloutOptions } from '@rlp/rollout';
import { describe, expect, it } from 'vitest';
import { estimators } from '../estimator/estimators.ts';
import { algorithmSetup } from '../loop/bandit.fixture.ts';
import { DAPOAlgorithm } from './dapo.ts';
import { DrGRPOAlgorithm } from './dr-grpo.ts';
import { GiGPOAlgorithm } from './gigpo.ts';
import { GRPOAlgorithm } from './grpo.ts';
import { GSPOAlgorithm } from './gspo.ts';
import type { AlgorithmOptions } from './options.ts';
import type { PolicyAlgorithm } from './policy-algorithm.ts';
import { PPOAlgorithm } from './ppo.ts';
import { algorithmPresets } from './presets.ts';
import { REINFORCEAlgorithm } from './reinforce.ts';
import { RLOOAlgorithm } from './rloo.ts';

const short = { rollout: { sampling: { maxTokens: 1 } } } satisfies AlgorithmOptions;

function setUp(seed = 'algorithms') {
  const setup = algorithmSetup(seed, { valueHead: 'linear' });
  const environment = { ...setup.environment, stateKey: ({ prompt }: { prompt: unknown }) => String(prompt) };
  return { ...setup, environment };
}

function withCritic(setup: Setup) {
  return { ...setup, critic: setup.backend };
}

type Setup = ReturnType<typeof setUp>;

const algorithms: Readonly<
  Record<string, (setup: Setup, options?: AlgorithmOptions) => Pick<PolicyAlgorithm, 'run' | 'train'>>
> = {
  GRPOAlgorithm: (setup, options) => new GRPOAlgorithm(setup, { ...short, ...options }),
  PPOAlgorithm: (setup, options) => new PPOAlgorithm(withCritic(setup), { ...short, ...options }),
  REINFORCEAlgorithm: (setup, options) => new REINFORCEAlgorithm(setup, { ...short, ...options }),
  RLOOAlgorithm: (setup, options) => new RLOOAlgorithm(setup, { ...short, ...options }),
  DrGRPOAlgorithm: (setup, options) => new DrGRPOAlgorithm(setup, { ...short, ...options }),
  DAPOAlgorithm: (setup, options) =>
    new DAPOAlgorithm(setup, { ...short, truncatedTrajectories: 'train', ...options }),
  GSPOAlgorithm: (setup, options) => new GSPOAlgorithm(setup, { ...short, ...options }),
  GiGPOAlgorithm: (setup, options) => new GiGPOAlgorithm(setup, { ...short, ...options }),
};

const logitsOf = async ({ backend }: Setup) => [...(await backend.getWeights()).get('logits')!.data];

/** What the losses of one run were asked to be. */
async function lossesOf(make: (setup: Setup) => Pick<PolicyAlgorithm, 'train'>): Promise<string[]> {
  const setup = setUp();
  const keys = new Set<string>();
  const forwardBackward = setup.backend.forwardBackward.bind(setup.backend);
  setup.backend.forwardBackward = (batch, loss: Loss) => {
    keys.add(loss.key);
    return forwardBackward(batch, loss);
  };
  await make(setup).train({ iterations: 1 });
  return [...keys];
}

describe.each(Object.entries(algorithms))('%s', (name, make) => {
  it('gives the same bytes again from the same seed', async () => {
    const run = async () => {
      const setup = setUp();
      const { history, state } = await make(setup).train({ iterations: 3 });
      return { history, state, logits: await logitsOf(setup) };
    };
    const first = await run();
    expect(first.state?.iteration).toBe(3);
    expect(await run()).toEqual(first);
  });

  it('samples other responses with another seed, unless the rollout has its own', async () => {
    const rewardsOf = async (options: AlgorithmOptions) => {
      const { history } = await make(setUp(), options).train({ iterations: 2, print: 'none' });
      return history.map((metrics) => metrics['reward/mean']);
    };
    const first = await rewardsOf({ seed: '1' });
    expect(await rewardsOf({ seed: '1' })).toEqual(first);
    expect(await rewardsOf({ seed: '2' })).not.toEqual(first);
    const rollout = { ...short.rollout, seed: '1' };
    expect((await rewardsOf({ seed: '2', rollout }))[0]).toBe(first[0]);
  });

  it('begins its errors with its name, and refuses what it does not know', () => {
    const { tasks, ...without } = setUp();
    expect(() => make(without as Setup)).toThrow(
      new RegExp(`${name}: invalid options[\\s\\S]*dependencies\\.tasks: must be a task source`),
    );
    expect(() => make(setUp(), { surprise: 1 } as never)).toThrow(/surprise/);
    expect(() => make(setUp(), { epochs: 0 })).toThrow(new RegExp(`${name}: invalid options[\\s\\S]*epochs`));
  });
});

describe('an algorithm that compares within groups', () => {
  const grouped = Object.entries(algorithms).filter(
    ([name]) => name !== 'PPOAlgorithm' && name !== 'REINFORCEAlgorithm',
  );
  it.each(grouped)('%s refuses groups of one', (name, make) => {
    expect(() => make(setUp(), { rollout: { groupSize: 1 } })).toThrow(
      new RegExp(`^${name}: invalid options.*\n  - rollout\\.groupSize: must be at least 2`),
    );
  });

  it('REINFORCE with the group mean as baseline is one', () => {
    const reinforce = { baseline: 'group-mean' } as const;
    expect(() => new REINFORCEAlgorithm(setUp(), { reinforce, rollout: { groupSize: 1 } })).toThrow(
      'rollout.groupSize: must be at least 2',
    );
    expect(new REINFORCEAlgorithm(setUp(), { reinforce }).rollouts.options.groupSize).toBe(8);
  });
});

it.each([GRPOAlgorithm, PPOAlgorithm, DrGRPOAlgorithm, GiGPOAlgorithm])(
  '%o says what it needs if it is given nothing',
  (Algorithm) => {
    for (const nothing of [undefined, null]) {
      expect(() => new Algorithm(nothing as never)).toThrow(
        new RegExp(`^${Algorithm.name}: invalid options.*\n  - dependencies: `),
      );
    }
  },
);

describe('an algorithm that is given its collector', () => {
  /** The same dependencies, with the collector that the algorithm would have made. */
  const collected = (setup: Setup, rollout: AlgorithmOptions['rollout'] = short.rollout) => {
    const { environment, tokenizer, ...rest } = setup;
    const rollouts = new RolloutManager({ environment, tokenizer, sampler: rest.sampler }, rollout);
    return { ...rest, rollouts };
  };

  it('learns the same as with the environment', async () => {
    const [one, other] = [setUp(), setUp()];
    const own = await new GRPOAlgorithm(one, short).train({ iterations: 3, print: 'none' });
    const algorithm = new GRPOAlgorithm(collected(other));
    expect(await algorithm.train({ iterations: 3, print: 'none' })).toEqual(own);
    expect(await logitsOf(other)).toEqual(await logitsOf(one));
    expect(() => algorithm.rollouts).toThrow('GRPOAlgorithm: groups come from the `rollouts`');
  });

  it('is PPO with its critic, and GiGPO by the keys of the steps', async () => {
    const { sampling } = short.rollout;
    const makers = [
      [
        (setup: Setup) => new PPOAlgorithm(withCritic(setup), short),
        (setup: Setup) =>
          new PPOAlgorithm({ ...collected(setup, { sampling, groupSize: 1 }), critic: setup.backend }),
      ],
      [
        (setup: Setup) => new GiGPOAlgorithm(setup, short),
        (setup: Setup) => new GiGPOAlgorithm(collected(setup)),
      ],
      [
        (setup: Setup) => new REINFORCEAlgorithm(setup, short),
        (setup: Setup) => new REINFORCEAlgorithm(collected(setup, { sampling, groupSize: 1 })),
      ],
    ] as const;
    for (const [withEnvironment, withCollector] of makers) {
      const [one, other] = [setUp(), setUp()];
      const own = await withEnvironment(one).train({ iterations: 2, print: 'none' });
      expect(await withCollector(other).train({ iterations: 2, print: 'none' })).toEqual(own);
      expect(await logitsOf(other)).toEqual(await logitsOf(one));
    }
    const uncritical = collected(setUp()) as never;
    expect(() => new PPOAlgorithm(uncritical)).toThrow(
      'dependencies.critic: must be a backend with a value head',
    );
  });

  it.each(Object.entries(algorithms))(
    '%s hands its options to a function that makes one',
    async (_, make) => {
      const [one, other] = [setUp(), setUp()];
      const own = await make(one, short).train({ iterations: 2, print: 'none' });
      const { environment, tokenizer, ...rest } = other;
      const rollouts = (options: RolloutOptions) =>
        new RolloutManager({ environment, tokenizer, sampler: rest.sampler }, options);
      const given = { ...rest, rollouts } as never;
      expect(await make(given, short).train({ iterations: 2, print: 'none' })).toEqual(own);
      expect(await logitsOf(other)).toEqual(await logitsOf(one));
    },
  );

  it('tells Dr. GRPO its longest answer', async () => {
    const logits = async (rollout: AlgorithmOptions['rollout'], given?: object) => {
      const setup = setUp();
      await new DrGRPOAlgorithm(collected(setup, rollout), given).train({ iterations: 1, print: 'none' });
      return logitsOf(setup);
    };
    const { maxTokens } = short.rollout.sampling;
    const told = await logits(short.rollout);
    expect(told).toEqual(await logits(short.rollout, { aggregationConstant: maxTokens }));
    expect(told).not.toEqual(await logits(short.rollout, { aggregationConstant: 2 * maxTokens }));
  });

  it.each([
    [{ environment: setUp().environment }, {}, /environment/],
    [{ rollouts: 7 }, {}, /rollouts: must be a collector of groups/],
    [{ tasks: 7 }, {}, /tasks: must be a task source/],
    [{}, { rollout: { groupSize: 4 } }, /`rollout` has no effect on `rollouts`/],
    [{}, { rollout: { groupSize: 1 } }, /`rollout` has no effect on `rollouts`/],
    [{}, { rollout: { group_size: 4 } as object }, /`rollout` has no effect on `rollouts`/],
    [
      collected(setUp(), { groupSize: 1 }),
      {},
      /^GRPOAlgorithm: `rollouts` makes groups of 1; groupSize must/,
    ],
    [{ rollouts: {} }, {}, /rollouts: must be a collector of groups/],
    [{ rollouts: { collectGroups() {} } }, {}, /rollouts: must have `options` with the `sampling`/],
    [{ rollouts: async () => collected(setUp()).rollouts }, {}, /`rollouts` returned a promise; a collector/],
    [{ critic: setUp().backend }, {}, /critic: only PPOAlgorithm learns from a critic/],
    [{}, { critic: { clip: 0.2 } }, /the option `critic` has no effect without a critic/],
    [{}, { advantages: estimators.remax() }, /greedy rollouts, which `rollouts` does not make/],
  ])('refuses %#', (wrong, options, message) => {
    expect(() => new GRPOAlgorithm({ ...collected(setUp()), ...wrong } as never, options)).toThrow(message);
  });
});

describe('PPOAlgorithm', () => {
  it('says what to do without a critic', () => {
    expect(() => new PPOAlgorithm(setUp() as never)).toThrow(
      'dependencies.critic: must be a backend with a value head; pass `critic: backend`',
    );
  });

  it('takes a critic of its own', async () => {
    const critic = new TabularBackend({ vocabularySize: 8, contextTokens: 1, valueHead: 'linear' });
    const { history } = await new PPOAlgorithm({ ...setUp(), critic }, short).train({ iterations: 2 });
    expect(history[1]).toMatchObject({ 'update/count': 4, 'update/critic-count': 4 });
    expect(history[1]!['value/mean']).not.toBe(0);
  });

  it('takes another estimator that needs the critic', async () => {
    const advantages = estimators.bilevelGae();
    const { history } = await new PPOAlgorithm(withCritic(setUp()), { ...short, advantages }).train({
      iterations: 1,
    });
    expect(history[0]).toHaveProperty(['value/explained-variance']);
  });
});

describe('GiGPOAlgorithm', () => {
  it('needs an environment that tells states apart', () => {
    const { environment, ...rest } = setUp();
    const { stateKey, ...keyless } = environment;
    expect(() => new GiGPOAlgorithm({ ...rest, environment: keyless })).toThrow(
      'the environment has no `stateKey`',
    );
    const grpo = { ...rest, environment: keyless };
    const advantages = estimators.gigpo();
    return expect(new GRPOAlgorithm(grpo, { ...short, advantages }).train({ iterations: 1 })).rejects.toThrow(
      'has no stateKey',
    );
  });
});

it('GiGPOAlgorithm names every wrong option in one error, those of gigpo too', () => {
  const wrong = { epochs: 0, gigpo: { discont: 0.9, weight: -1, anchors: { match: 'alike' } } } as object;
  const make = () => new GiGPOAlgorithm(setUp(), wrong);
  expect(make).toThrow(OptionsError);
  for (const part of ['epochs', 'did you mean gigpo.discount?', 'gigpo.weight', 'gigpo.anchors.match'])
    expect(make).toThrow(part);
});

describe('ReMax', () => {
  it('collects the greedy trajectory of every task besides', async () => {
    const setup = setUp();
    const temperatures: (number | undefined)[] = [];
    const sample = setup.sampler.sample.bind(setup.sampler);
    setup.sampler.sample = (request) => {
      temperatures.push(request.temperature);
      return sample(request);
    };
    const options = { ...short, tasksPerIteration: 3, advantages: estimators.remax() };
    const { history } = await new GRPOAlgorithm(setup, options).train({ iterations: 1 });
    expect(temperatures.toSorted()).toEqual([0, 0, 0, 1, 1, 1]);
    expect(history[0]).toMatchObject({ 'trajectories/count': 24 });
  });
});

describe('the loss of an algorithm', () => {
  it('is its own', async () => {
    const [reinforce] = await lossesOf((setup) => new REINFORCEAlgorithm(setup, short));
    expect(reinforce).toContain('"surrogate":"policy-gradient"');
    const [gspo] = await lossesOf((setup) => new GSPOAlgorithm(setup, short));
    expect(gspo).toContain('"ratio":"sequence"');
    expect(gspo).toContain('"proximal":"column"');
    const [dapo] = await lossesOf((setup) => algorithms.DAPOAlgorithm!(setup));
    expect(dapo).toContain('"clipLow":0.2,"clipHigh":0.28');
    const [ppo] = await lossesOf((setup) => new PPOAlgorithm(withCritic(setup), short));
    expect(ppo).toMatch(/"clipLow":0.2,"clipHigh":0.2.*with \{"coefficient":0.5,.*"clipForm":"bounds"\}/);
  });

  it('is divided by the longest possible answer in Dr. GRPO', async () => {
    const weights = async (maxTokens: number) => {
      const setup = setUp();
      const seen: number[] = [];
      const forwardBackward = setup.backend.forwardBackward.bind(setup.backend);
      setup.backend.forwardBackward = (batch, loss) => {
        seen.push(...batch.sequences.map((sequence) => Math.max(...Array.from(sequence.weights))));
        return forwardBackward(batch, loss);
      };
      const rollout = { groupSize: 4, sampling: { maxTokens } };
      const options = { tasksPerIteration: 2, loss: { entropyCoefficient: 0.01 }, rollout };
      await new DrGRPOAlgorithm(setup, options).train({ iterations: 1 });
      return seen[0];
    };
    expect(await weights(1)).toBeCloseTo(1 / 8, 12);
    expect(await weights(5)).toBeCloseTo(1 / 40, 12);
  });
});

describe('a preset', () => {
  const cases = Object.entries(algorithmPresets).flatMap(([algorithm, presets]) =>
    Object.keys(presets).map((name) => [algorithm, name] as const),
  );
  it.each(cases)('%s %s runs', async (algorithm, preset) => {
    const make = {
      grpo: GRPOAlgorithm,
      ppo: PPOAlgorithm,
      rloo: RLOOAlgorithm,
      reinforce: REINFORCEAlgorithm,
    };
    const options = { ...short, tasksPerIteration: 8, preset } as never;
    const setup = algorithm === 'ppo' ? withCritic(setUp()) : setUp();
    const run = new make[algorithm as keyof typeof make](setup as never, options);
    const { history } = await run.train({ iterations: 1 });
    expect(history[0]!['update/count']).toBeGreaterThan(0);
  });

  it('gives way to what the caller says, field by field', async () => {
    const options = { ...short, preset: 'verl', minibatches: 1, loss: { clipHigh: 0.3 } } as const;
    const [key] = await lossesOf((setup) => new GRPOAlgorithm(setup, options));
    expect(key).toContain('"clipLow":0.2,"clipHigh":0.3,"dualClip":3');
    expect(key).toContain('"proximal":"current"');
  });

  it('gives the numbers of the options it stands for', async () => {
    const run = async (options: ConstructorParameters<typeof GRPOAlgorithm>[1]) => {
      const setup = setUp();
      await new GRPOAlgorithm(setup, { ...short, ...options }).train({ iterations: 3 });
      return logitsOf(setup);
    };
    const written = {
      proximal: 'behavior',
      advantage: { scale: 'none' },
      loss: { surrogate: 'importance-sampling', logRatioLimit: 1e6, correction: 'none' },
      aggregation: { mode: 'token-sum-norm', constant: 1 },
    } as const;
    expect(await run({ preset: 'tinker' })).toEqual(await run(written));
    expect(await run({ preset: 'tinker' })).not.toEqual(await run({}));
  });

  it('that is not there is refused with those that are', () => {
    expect(() => new RLOOAlgorithm(setUp(), { preset: 'tinker' as never })).toThrow(
      /preset: .*"rlp", "trl", "verl", "skyrl", "openrlhf"/,
    );
  });
});
