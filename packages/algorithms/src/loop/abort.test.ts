import { TabularBackend } from '@rlp/backprop/tabular';
import { RewardQualityMonitor } from '@rlp/quality-monitor';
import { expect, it } from 'vitest';
import { estimators } from '../estimator/estimators.ts';
import type { ResumeOptions } from '../training/resume-options.ts';
import { banditSetup } from './bandit.fixture.ts';
import type { RlOptions } from './options.ts';
import type { RlState } from './protocol.ts';
import { runRlTraining } from './rl.ts';

const options = {
  iterations: 2,
  tasksPerIteration: 1,
  epochs: 2,
  loss: { klCoefficient: 0.05 },
  referenceUpdate: { method: 'copy', everyIterations: 1 },
  zeroVarianceGroups: 'replace',
  collectionRounds: 2,
} satisfies RlOptions;

function setUp() {
  const setup = banditSetup('abort');
  const critic = new TabularBackend({ vocabularySize: 8, contextTokens: 1, valueHead: 'linear' });
  const rewards = { ...setup.rewards };
  return { ...setup, rewards, critic, monitor: new RewardQualityMonitor(), advantages: estimators.gae() };
}

type Setup = ReturnType<typeof setUp>;

/** Calls `onCall` with every call that the loop makes, before it. */
function spyOn(setup: Setup, onCall: () => void): void {
  const { tasks, inference, backend, critic, rewards, monitor } = setup;
  for (const part of [tasks, inference, backend, critic, rewards, monitor] as object[]) {
    const methods = part as Record<string, (...call: unknown[]) => unknown>;
    for (const name of [
      'take',
      'sample',
      'updateWeights',
      'computeRewards',
      'observe',
      'saveState',
      ...learning,
    ]) {
      const method = methods[name]?.bind(part);
      if (method === undefined) continue;
      methods[name] = (...call) => {
        onCall();
        return method(...call);
      };
    }
  }
}

const learning = ['logprobs', 'values', 'forwardBackward', 'optimStep', 'publish', 'updateReference'];

/** The state after the last report. */
async function run(setup: Setup, more: ResumeOptions<RlState> = {}, signal?: AbortSignal) {
  let state = more.resume;
  for await (const report of runRlTraining({ ...setup, signal }, { ...options, ...more })) {
    state = JSON.parse(JSON.stringify(report.state)) as RlState;
  }
  return state;
}

async function weightsOf({ backend, critic }: Setup): Promise<unknown> {
  const networks = [await backend.getWeights(), await critic.getWeights()];
  return networks.map((weights) => [...weights].map(([name, { data }]) => [name, [...data]]));
}

it('stopped at any call it makes, a run goes on from its last report as if it had not been', async () => {
  const whole = setUp();
  let calls = 0;
  spyOn(whole, () => {
    calls += 1;
  });
  await run(whole);
  const expected = await weightsOf(whole);
  expect(calls).toBeGreaterThan(30);
  for (let stopAt = 0; stopAt < calls; stopAt++) {
    const setup = setUp();
    const controller = new AbortController();
    let made = 0;
    spyOn(setup, () => made++ === stopAt && controller.abort(new Error('stop')));
    const resume = await run(setup, {}, controller.signal);
    expect(controller.signal.aborted).toBe(true);
    await run(setup, { resume });
    expect(await weightsOf(setup), `stopped at call ${stopAt} of ${calls}`).toEqual(expected);
  }
});
