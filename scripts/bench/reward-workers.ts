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

/** Trajectories per second of four rewards, from cheap to dear, without threads and in one and several. */
export async function* rewardWorkerLines({
  runs,
  threads,
}: {
  readonly runs: number;
  readonly threads: number;
}): AsyncGenerator<Line> {
  const group = makeGroup();
  for (const [reward, computer] of Object.entries({
    processor,
    overlap,
    symbolic: await symbolic,
    verified,
  })) {
    const alone = await measure(computer, group, runs);
    yield { name: `reward-workers/${reward}`, threads: 0, ...alone, load: loadavg()[0]! };
    for (const workers of new Set([1, threads])) {
      await using pool = await createRewardWorkers<Answered>({
        module: new URL('./reward-workers-module.ts', import.meta.url),
        ...{ export: reward, workers, scope: 'episode', batchSize: 64 },
      });
      const inThreads = await measure(pool, group, runs);
      const speedup = alone.milliseconds / inThreads.milliseconds;
      yield {
        name: `reward-workers/${reward}`,
        threads: workers,
        ...inThreads,
        speedup,
        load: loadavg()[0]!,
      };
    }
  }
}

async function measure(computer: RewardComputer<Answered>, group: TrajectoryGroup<Answered>, runs: number) {
  // Threads start, and code is compiled, before anything is measured.
  for (let warm = 0; warm < 10; warm++) await computer.computeRewards(group);
  const [elapsed, used]: number[][] = [[], []];
  for (let run = 0; run < runs; run++) {
    const [begun, cpu] = [performance.now(), process.cpuUsage()];
    await computer.computeRewards(group);
    elapsed!.push(performance.now() - begun);
    const { user, system } = process.cpuUsage(cpu);
    used!.push((user + system) / 1000);
  }
  const milliseconds = median(elapsed!);
  return {
    milliseconds,
    processorMilliseconds: median(used!),
    microsecondsEach: (1000 * milliseconds) / trajectories,
    trajectoriesPerSecond: Math.round((1000 * trajectories) / milliseconds),
  };
}

/** Texts of pseudo-words, each with a formula at its end. Steps without tokens: what is sent is the text. */
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
