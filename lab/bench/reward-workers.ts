import { loadavg } from 'node:os';
import { RandomStream, type RewardComputer, type Trajectory, type TrajectoryGroup } from '@rlp/core';
import { createRewardWorkers } from '@rlp/rewards/workers';
import { type Line, median } from './report.ts';
import { overlap, processor, symbolic, verified } from './reward-workers-module.ts';

interface Answered {
  readonly answer: string;
}

const trajectories = 512;
const words = 200;

/** What one variant took, run by run. */
interface Variant {
  readonly threads: number;
  readonly computer: RewardComputer<Answered>;
  readonly elapsed: number[];
  readonly processor: number[];
}

/** Trajectories per second of four rewards, from cheap to dear, without threads and in one and several. Variants take turns. */
export async function* rewardWorkerLines({
  runs,
  threads,
}: {
  readonly runs: number;
  readonly threads: number;
}): AsyncGenerator<Line> {
  const group = makeGroup();
  const module = new URL('./reward-workers-module.ts', import.meta.url);
  const rewards = { processor, overlap, symbolic, verified };
  for (const [reward, computer] of Object.entries(rewards)) {
    const options = { module, export: reward, scope: 'episode', batchSize: 64, tokens: 'left-out' } as const;
    await using one = await createRewardWorkers<Answered>({ ...options, workers: 1 });
    await using several = await createRewardWorkers<Answered>({ ...options, workers: threads });
    const variants = [variant(0, computer), variant(1, one), variant(threads, several)];
    // Threads start, and each compiles its own code, before anything is measured.
    const warmUntil = performance.now() + 10_000;
    for (let warm = 0; warm < 40 && performance.now() < warmUntil; warm++)
      for (const { computer } of variants) await computer.computeRewards(group);
    for (let run = 0; run < runs; run++) for (const each of variants) await measure(each, group);
    yield* variants.map((each) => lineOf(reward, each, variants[0]!));
  }
}

function variant(threads: number, computer: RewardComputer<Answered>): Variant {
  return { threads, computer, elapsed: [], processor: [] };
}

async function measure({ computer, elapsed, processor }: Variant, group: TrajectoryGroup<Answered>) {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  await computer.computeRewards(group);
  elapsed.push(performance.now() - begun);
  const { user, system } = process.cpuUsage(cpu);
  processor.push((user + system) / 1000);
}

function lineOf(reward: string, { threads, elapsed, processor }: Variant, alone: Variant): Line {
  return {
    ...{ name: `reward-workers/${reward}`, threads, trajectories, load: loadavg()[0]! },
    milliseconds: median(elapsed),
    processorMilliseconds: median(processor),
    // Of runs that came after each other, so that the load of the machine is much the same.
    speedup: median(elapsed.map((time, run) => alone.elapsed[run]! / time)),
  };
}

/** Texts of pseudo-words, each with a formula at its end, and no tokens: none are sent either. */
function makeGroup(): TrajectoryGroup<Answered> {
  const random = RandomStream.named('bench', 'reward-workers');
  const word = () => Math.floor(random.uniform() * 2000).toString(36);
  const text = () => Array.from({ length: words }, word).join(' ');
  const task = {
    id: 'task',
    prompt: 'Expand.',
    metadata: { answer: `${text()} \\boxed{x^4+4x^3+6x^2+4x+1}` },
  };
  const member = (k: number): Trajectory<Answered> => ({
    ...{ id: String(k), task, steps: [], messages: [], response: `${text()} \\boxed{(x+1)^4+${k}-${k}}` },
    ...{ status: 'completed', policyVersion: 0 },
  });
  return { id: 'group', task, trajectories: Array.from({ length: trajectories }, (_, k) => member(k)) };
}
