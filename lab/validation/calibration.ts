import { type MonitorBatch, RandomStream } from '@rlp/core';
import { rewardHackingDetector } from '@rlp/quality-monitor';

/** Rewards that have nothing to do with the responses. */
export const rewardKinds = ['normal', 'heavy-tailed', '0 or 1', 'autoregressive'] as const;

/** One of {@link rewardKinds}. */
export type RewardKind = (typeof rewardKinds)[number];

/** How often there was an alarm where there was nothing to find. */
export interface Calibration {
  readonly kind: RewardKind;
  readonly batchSize: number;
  /** Alarms per batch that the detector was asked for, at most, and that it gave. */
  readonly stated: number;
  readonly measured: number;
  readonly batches: number;
}

/**
 * Counts alarms on responses of random words, independent and of one distribution all along, with rewards independent of them.
 *
 * Rewards: standard normal; Student's t with two degrees of freedom; 1 for half of the responses; normal around a level that
 * wanders about 0 from batch to batch (first-order autoregression, coefficient 0.9).
 */
export function calibration(
  kind: RewardKind,
  { batchSize, stated, runs, batches }: { batchSize: number; stated: number; runs: number; batches: number },
): Calibration {
  let alarms = 0;
  for (let run = 0; run < runs; run++) {
    const random = RandomStream.named('calibration', kind, batchSize, run);
    const detector = rewardHackingDetector({ falseAlarmRate: stated });
    const rewards = rewardsOf(kind, random);
    let wasOn = false;
    for (let iteration = 0; iteration < batches; iteration++) {
      const { metrics } = detector.observe(batchOf(iteration, rewards(batchSize), random));
      const isOn = metrics.suspected_reward_hacking! >= 0.5;
      if (isOn && !wasOn) alarms += 1;
      wasOn = isOn;
    }
  }
  return { kind, batchSize, stated, measured: alarms / (runs * batches), batches: runs * batches };
}

function rewardsOf(kind: RewardKind, random: RandomStream): (count: number) => number[] {
  let level = 0;
  return (count) => {
    level = 0.9 * level + random.normal();
    return Array.from({ length: count }, () => {
      if (kind === '0 or 1') return random.uniform() < 0.5 ? 1 : 0;
      if (kind === 'heavy-tailed') return random.normal() / Math.sqrt(-Math.log(1 - random.uniform()));
      return random.normal() + (kind === 'autoregressive' ? level : 0);
    });
  };
}

function batchOf(iteration: number, rewards: readonly number[], random: RandomStream): MonitorBatch {
  const trajectories = rewards.map((reward, at) => ({
    trajectory: {
      id: `${iteration}-${at}`,
      task: { id: `${iteration}-${at}`, prompt: textOf(8, random), metadata: undefined },
      steps: [],
      messages: [],
      response: textOf(Math.ceil(30 * Math.exp(0.5 * random.normal())), random),
      status: 'completed' as const,
      policyVersion: 0,
    },
    reward,
    components: { reward },
  }));
  return { iteration, trajectories };
}

const marks = ['.', ',', ';', ':', '!', '?', '-', ' *', '\n-', ' #'];

/** Words by Zipf's law, some with a mark or a number behind. */
function textOf(words: number, random: RandomStream): string {
  return Array.from({ length: words }, () => {
    const rank = Math.floor(Math.exp(random.uniform() * Math.log(3000)));
    const chance = random.uniform();
    if (chance < 0.1) return nameOf(rank) + marks[random.integer(marks.length)]!;
    return chance < 0.15 ? `${nameOf(rank)} ${random.integer(1000)}` : nameOf(rank);
  }).join(' ');
}

const names = new Map<number, string>();

function nameOf(rank: number): string {
  const name = names.get(rank) ?? newName(rank);
  names.set(rank, name);
  return name;
}

function newName(rank: number): string {
  const random = RandomStream.named('word', rank);
  return Array.from(
    { length: 2 + random.integer(4) },
    () => syllables[random.integer(syllables.length)]!,
  ).join('');
}

const syllables = [
  'ba',
  'de',
  'fi',
  'go',
  'lu',
  'ma',
  'ne',
  'pi',
  'ro',
  'su',
  'ta',
  've',
  'zi',
  'kor',
  'len',
];
