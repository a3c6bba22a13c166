import { plural } from '@rlp/core';
import type { MetricsRecord } from '@rlp/quality-monitor/page';
import { UsageError } from '../usage-error.ts';
import { comparison, type Seen } from './analysed.ts';

/** Batches that the detector's reference has at least. */
const referenceBatches = 4;

/** What a person should know about the rewards before reading the result. */
export function problemsOf({ rewards, responses }: Seen): string[] {
  if (rewards.size === 0) {
    return [
      'it has no rewards, so only the responses are assessed; name the field of the reward with --reward',
    ];
  }
  return [...rewards].flatMap(([name, { readable, faulty, firstFault }]) => {
    if (readable === 0 && faulty === 0)
      return [
        `${name} is missing in ${responses === 1 ? 'the only response' : `all ${responses} responses`}`,
      ];
    if (faulty === 0) return [];
    return [
      `${name} is not a number in ${faulty} of ${plural(responses, 'response')}, first in ${firstFault}; they count as missing`,
    ];
  });
}

/** That the detector of reward hacking compared nothing, if there are rewards. */
export function comparedOf(records: readonly MetricsRecord[], seen: Seen): string[] {
  const { rewards, responses, rewarded } = seen;
  const compared = records.filter(
    ({ metrics }) => 'reward_quality/suspected_reward_hacking' in metrics,
  ).length;
  if (compared > 0 || rewards.size === 0) return [];
  const batches = plural(records.length, 'batch', 'batches');
  return [
    `reward hacking was not looked for: the first batch is compared after ${referenceBatches} batches or more with ${comparison.warmUpResponses} rewarded responses together and ${comparison.delayBatches} further ones, but got ${batches} with ${responses} responses in all, ${rewarded} of them rewarded above the mean of their batch; ${remedyOf(seen)}`,
  ];
}

/** The largest batches that are enough for a comparison, or how many responses are. */
function remedyOf({ responses, rewarded }: Seen): string {
  if (rewarded === 0) return 'give responses of one batch different rewards';
  const neededWith = (size: number) =>
    size *
    (Math.max(referenceBatches, Math.ceil((comparison.warmUpResponses * responses) / (rewarded * size))) +
      comparison.delayBatches +
      1);
  const size = [16, 12, 10, 8, 6, 4].find((one) => neededWith(one) <= responses);
  if (size !== undefined) return `pass --batch-size ${size}`;
  return `analyse about ${neededWith(4)} responses with --batch-size 4`;
}

/** @throws UsageError for a second opinion that the file does not have. */
export function requireOpinion({ rewards }: Seen, name: string | undefined): void {
  if (name === undefined || rewards.has(name)) return;
  const known =
    rewards.size === 0 ? 'it has no rewards' : `its rewards are ${[...rewards.keys()].join(', ')}`;
  throw new UsageError(
    `rlp monitor analyze: expected --second-opinion to be a reward of the file, got ${name}; ${known}. Pass --reward too if they are fields of each record`,
  );
}
