import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runRlTraining } from '@rlp/algorithms';
import { type PolicyLossOptions, policyLoss } from '@rlp/algorithms/loss';
import { createOnnxBackend } from '@rlp/backprop';
import { createTinkerBackend, createTinkerSampler, type TinkerBackendOptions } from '@rlp/backprop/tinker';
import {
  type InferenceEngine,
  RandomStream,
  type SampleRequest,
  type Sampler,
  type TrainingBackend,
} from '@rlp/core';
import {
  describeCheckpointBackend,
  describeInferenceEngine,
  describeSampler,
  describeTokenScorer,
  describeTrainingBackend,
} from '@rlp/core/testing';
import { SimpleTextEnvironment, taskSource } from '@rlp/env';
import { createOnnxSampler } from '@rlp/inference';
import { RolloutManager } from '@rlp/rollout';
import { afterAll, describe, expect, it } from 'vitest';
import { nll, openFixture, token, tokenizer, vocabularySize } from './tinker/tinker.fixture.ts';

const fixture = await openFixture('contracts');
const { engine, model, serve, folder } = fixture;
const server = await serve();
afterAll(async () => {
  await server.close();
  await fixture.close();
});

const create = (options: Partial<TinkerBackendOptions> = {}) =>
  createTinkerBackend({
    ...{ url: server.url, apiKey: token, vocabularySize, contextLength: 32, rank: 4, seed: 7 },
    ...{ learningRate: 1e-2, reduction: 'sum', ...options },
  });
for (const lost of ['request', 'result'] as const) {
  describeTrainingBackend(`@rlp/serve by the Tinker driver, with a ${lost} that is lost`, {
    ...{ create, vocabularySize, knows: 'logprobs of tokens' },
    createFaulty: () => createFaulty(lost),
  });
}
describeCheckpointBackend('@rlp/serve by the Tinker driver', {
  create,
  checkpointDirectory: async () => folder(),
});

/** A backend whose requests fail on demand on their way. Updates fail before they reach the server. */
async function createFaulty(lost: 'request' | 'result') {
  let failing: string | undefined;
  const fetch: TinkerBackendOptions['fetch'] = async (url, init) => {
    if (failing === undefined || !url.endsWith(failing)) return globalThis.fetch(url, init);
    if (failing === '/forward_backward' && lost === 'result') {
      failing = '/retrieve_future';
      return globalThis.fetch(url, init);
    }
    failing = undefined;
    return { status: 503, headers: { get: () => null }, text: async () => 'busy' };
  };
  const arm = (method: 'forwardBackward' | 'optimStep') => {
    failing = method === 'optimStep' ? '/optim_step' : '/forward_backward';
  };
  return { backend: await create({ fetch, attempts: 1 }), arm };
}

const shared = await create();
const sampler = createTinkerSampler({ backend: shared, tokenizer, contextLength: 32 });
const prompt = tokenizer.encode('abc');
describeSampler('@rlp/serve by the Tinker driver', {
  create: () => sampler,
  prompt,
  tooLongPrompt: Array.from({ length: 33 }, () => 3),
});
describeTokenScorer('@rlp/serve by the Tinker driver', {
  create: () => sampler,
  requests: [
    { prompt, completion: [5, 6, 7] },
    { prompt: [...prompt, 9], completion: [8, 3] },
  ],
  vocabularySize,
  entropies: 'unknown',
});
describeInferenceEngine('@rlp/serve by the Tinker driver', {
  create: () => sampler,
  publication: async (version) => {
    let publication = await shared.publish({ as: 'shared' });
    while (publication.version < version) publication = await shared.publish({ as: 'shared' });
    return publication;
  },
  impossible: (version) => ({ kind: 'checkpoint', version, path: 'missing' }),
  prompt,
});

/** The same sampler, with seeds as the driver writes them. */
function seeded(inner: Sampler & InferenceEngine): Sampler & InferenceEngine {
  return {
    ...{ accepts: inner.accepts, shares: inner.shares, vocabularySize: inner.vocabularySize },
    get policyVersion() {
      return inner.policyVersion;
    },
    sample: (request: SampleRequest) =>
      inner.sample({
        ...request,
        seed: String(RandomStream.named('tinker sampler', request.seed).integer(2 ** 31)),
      }),
    updateWeights: (publication, signal) => inner.updateWeights(publication, signal),
  };
}

async function grpo(backend: TrainingBackend, policy: Sampler & InferenceEngine) {
  const rollouts = new RolloutManager(
    { environment: new SimpleTextEnvironment(), sampler: policy, tokenizer },
    { groupSize: 4, sampling: { maxTokens: 4 }, seed: 'same' },
  );
  const tasks = ['a', 'b', 'c'].map((text) => ({ id: text, prompt: text, metadata: undefined }));
  const curve: number[] = [];
  for await (const { metrics } of runRlTraining(
    {
      ...{ rollouts, backend, inference: policy, tasks: taskSource(tasks, { seed: 'same' }) },
      rewards: {
        computeRewards: async ({ trajectories }) =>
          trajectories.map((trajectory) => {
            const sampled = trajectory.steps.flatMap(({ tokens }) => tokens ?? []);
            const reward = sampled.filter((one) => one % 2 === 0).length / Math.max(1, sampled.length);
            return { trajectory, reward, components: { even: reward } };
          }),
      },
    },
    { iterations: 4, tasksPerIteration: 3 },
  )) {
    curve.push(metrics['reward/mean']!, metrics['loss/policy']!, metrics['gradient/norm']!);
  }
  return curve;
}

const adam = { beta1: 0.9, beta2: 0.95, epsilon: 1e-12 };
let stores = 0;
const inProcess = () =>
  createOnnxBackend({
    ...{ engine, model, store: `here ${stores++}`, learningRate: 1e-2, optimizer: adam, reference: 'none' },
    ...{ maxGradientNorm: 'off', lora: { rank: 4, alpha: 32, seed: 7 } },
  });

describe('training over the wire', () => {
  it('is GRPO in process: the same rewards, losses and gradients to 1e-5', async () => {
    const [here, there] = [await inProcess(), await create()];
    const store = `here ${stores - 1}`;
    const ours = await createOnnxSampler({ engine, model, store });
    const theirs = createTinkerSampler({ backend: there, tokenizer, contextLength: 32 });
    const [expected, got] = [await grpo(here, seeded(ours)), await grpo(there, theirs)];
    expect(got).toHaveLength(expected.length);
    for (const [i, value] of expected.entries()) expect(Math.abs(got[i]! - value)).toBeLessThan(1e-5);
    expect(new Set(expected).size).toBeGreaterThan(6);
    await Promise.all([ours.close(), here.close(), there.close()]);
  });

  it('is supervised training in process, to 1e-5', async () => {
    const [here, there] = [await inProcess(), await create({ reduction: 'probe' })];
    const tokens = tokenizer.encode('abcdefgh');
    const sequence = {
      tokens,
      mask: tokens.map((_, t) => (t > 0 ? 1 : 0)),
      weights: tokens.map((_, t) => 0.1 + t / 20),
      columns: {},
    };
    for (let update = 0; update < 6; update++) {
      const [ours, theirs] = [here, there].map((backend) =>
        backend.forwardBackward({ sequences: [sequence] }, nll),
      );
      expect(Math.abs((await theirs!).loss - (await ours!).loss)).toBeLessThan(1e-5);
      const norms = await Promise.all([here.optimStep(), there.optimStep()]);
      expect(norms[1].gradientNorm / norms[0].gradientNorm).toBeCloseTo(1, 4);
    }
    await Promise.all([here.close(), there.close()]);
  });
});

/** Ways of the driver, by the options of the policy loss. `passes` says how many an update takes. */
const behavior = { proximal: 'behavior', correction: 'none' } as const;
const column = { proximal: 'column', correction: 'none' } as const;
const losses: readonly (readonly [passes: 1 | 2, options: PolicyLossOptions])[] = [
  [1, { correction: 'none' }],
  [1, { ...behavior, surrogate: 'policy-gradient' }],
  [1, { ...behavior, surrogate: 'importance-sampling' }],
  [1, behavior],
  [1, { ...behavior, clipLow: 1, clipHigh: 0.1 }],
  [1, { ...behavior, clipLow: 1e-6, clipHigh: 1e-6 }],
  [1, { ...behavior, surrogate: 'cispo' }],
  [1, { ...behavior, surrogate: 'cispo', clipLow: 0.05, clipHigh: 0.1 }],
  [1, column],
  [1, { ...column, correction: 'token-truncate' }],
  [1, { ...column, surrogate: 'cispo', keep: 'column' }],
  [2, { correctionCap: 1e9 }],
  [2, { ...behavior, ratio: 'sequence' }],
  [2, { ...behavior, surrogate: 'sapo' }],
  [2, { ...behavior, surrogate: 'gmpo' }],
  [2, { ...behavior, surrogate: 'window' }],
  [2, { ...behavior, dualClip: 3 }],
  [2, { ...behavior, ratioCap: 1.1 }],
  [2, { ...behavior, logRatioCap: 0.1 }],
  [2, { ...column, proximalKlCoefficient: 0.1 }],
];

describe('losses that the server has itself', () => {
  const tokens = tokenizer.encode('abcdefgh');
  const columnOf = (of: (t: number) => number) => tokens.map((_, t) => of(t));
  const rows = [0, 1, 2].map((b) => ({
    tokens: tokens.map((token, t) => (t === 0 ? token : tokens[(t + b) % tokens.length]!)),
    mask: columnOf((t) => (t > b ? 1 : 0)),
    weights: columnOf((t) => 0.1 + t / 20),
    columns: {
      advantages: columnOf((t) => Math.sin(3 * t + b)),
      behaviorLogprobs: columnOf((t) => -2.3 + Math.cos(5 * t + b)),
      proximalLogprobs: columnOf((t) => -2.3 + Math.sin(7 * t + b)),
      keep: columnOf((t) => (t % 5 === 2 ? 0 : 1)),
    },
  }));
  const asked: string[] = [];
  const fetch = (...[url, init]: Parameters<typeof globalThis.fetch>) => {
    asked.push(new URL(String(url)).pathname.replace('/api/v1', ''));
    return globalThis.fetch(url, init);
  };

  it.each(losses)('take %i pass and make the same update: %o', async (passes, options) => {
    const loss = policyLoss(options);
    const [quick, slow] = [await create({ fetch }), await create({ nativeLosses: 'off' })];
    const update = async (backend: TrainingBackend) => {
      const { loss: value, metrics } = await backend.forwardBackward({ sequences: rows }, loss);
      return [(await backend.optimStep()).gradientNorm, value, ...Object.values(metrics)];
    };
    const [first, expected] = [await update(quick), await update(slow)];
    expect(expected[0]).toBeGreaterThan(1e-3);
    for (const [i, value] of expected.entries()) {
      expect(Math.abs(first[i]! - value)).toBeLessThan(1e-6 * Math.max(1, Math.abs(value)));
    }
    asked.length = 0;
    await update(quick);
    expect(asked.filter((path) => path.startsWith('/forward'))).toHaveLength(passes);
    await Promise.all([quick.close(), slow.close()]);
  });

  it('are taken back where a later batch has a loss that is not finite', async () => {
    const loss = policyLoss(behavior);
    const [backend, fresh] = [await create(), await create()];
    await backend.forwardBackward({ sequences: rows }, loss);
    const advantages = columnOf(() => 1e300);
    const broken = rows.map((one) => ({
      ...one,
      weights: advantages,
      columns: { ...one.columns, advantages },
    }));
    await expect(backend.forwardBackward({ sequences: broken }, loss)).rejects.toThrow(/not finite/);
    const norms = [backend, fresh].map(async (one) => {
      one.forwardBackward({ sequences: rows.slice(1) }, loss);
      return (await one.optimStep()).gradientNorm;
    });
    const [got, expected] = await Promise.all(norms);
    expect(Math.abs(got! - expected!)).toBeLessThan(1e-5);
    await Promise.all([backend.close(), fresh.close()]);
  });
});

const python = process.env.RLP_TINKER_PYTHON;
if (python === undefined) {
  console.log('serve: the Python client is skipped: set RLP_TINKER_PYTHON to a Python with tinker');
}

describe.skipIf(python === undefined)('the Python client', () => {
  it('trains, samples, saves and continues', async () => {
    const run = promisify(execFile);
    const script = fileURLToPath(new URL('./tinker/python-client.py', import.meta.url));
    const { stdout } = await run(python!, [script], {
      env: { ...process.env, TINKER_BASE_URL: server.url, TINKER_API_KEY: token, TINKER_TELEMETRY: '0' },
      timeout: 120_000,
    });
    const found = JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, number[]>;
    expect(found.losses!.at(-1)).toBeLessThan(found.losses![0]! - 0.5);
    expect(found.resumed).toEqual(found.trained);
    expect(found.rewards!.at(-1)).toBeGreaterThan(found.rewards![0]! + 0.2);
    expect(found.custom).toHaveLength(1);
  }, 150_000);
});
