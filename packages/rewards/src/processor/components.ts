import type { RewardFunction, Trajectory } from '@rlp/core';
import { type ReadEpisode, readEpisode } from '../shared/episode.ts';
import {
  agreementScore,
  confidenceScore,
  fluencyScore,
  keywordScore,
  lengthScore,
  wordSet,
} from '../stock/text/text-components.ts';
import { scanText, type TextScan } from '../stock/text/text-scan.ts';
import type { ResolvedRewardConfig } from './config.ts';

/** Names of the components, in the order of the weights. */
export const componentNames = ['length', 'keyword', 'fluency', 'accuracy'] as const;

/** Name of a component. */
export type ComponentName = (typeof componentNames)[number];

/** A component as a function of an episode with words. */
type Component = (episode: ReadEpisode, scan: TextScan) => number;

/** A component and its weight. */
export interface WeightedComponent {
  readonly name: ComponentName;
  readonly weight: number;
  readonly score: (episode: ReadEpisode) => number;
}

const agreement = { similarityThreshold: 0.7, punctuation: 'ignored' } as const;
const bonusMultiplier = 1;
const tolerance = 0.2;

/** The components that a config asks for. Each is 0 for a response without words. */
export function textComponents(
  { lengthWeight, keywordWeight, perplexityWeight, accuracyWeight, ...config }: ResolvedRewardConfig,
  reference: (metadata: ReadEpisode['metadata']) => string | undefined,
): readonly WeightedComponent[] {
  const { keywords, targetLength } = config;
  const wordsOf = lastOne((text: string) => wordSet(text, agreement.punctuation));
  const scanOf = oncePerObject(({ response }: ReadEpisode) => scanText(response));
  const components: Readonly<Record<ComponentName, Component>> = {
    length: (_, { words }) => lengthScore(words, { targetLength, tolerance }),
    keyword: (episode) => keywordScore(episode, keywords, bonusMultiplier),
    fluency: (_, scanned) => fluencyScore(scanned),
    accuracy({ response, metadata }) {
      const expected = reference(metadata);
      if (expected === undefined) return confidenceScore(response);
      return agreementScore(response, wordsOf(expected), agreement);
    },
  };
  const weights = [lengthWeight, keywords.length > 0 ? keywordWeight : 0, perplexityWeight, accuracyWeight];
  return componentNames
    .map((name, k) => ({ name, weight: weights[k]!, compute: components[name] }))
    .filter(({ weight }) => weight > 0)
    .map(({ name, weight, compute }) => {
      const score = (episode: ReadEpisode) => {
        const scanned = scanOf(episode);
        return scanned.words === 0 ? 0 : compute(episode, scanned);
      };
      return { name, weight, score };
    });
}

/** A component as a reward function. */
export function rewardOfComponent({ score }: WeightedComponent): RewardFunction {
  return (trajectory) => score(readable(trajectory));
}

/** The text of a trajectory, read once. @throws `TypeError` if it cannot be read. */
export const readable: (trajectory: Trajectory) => ReadEpisode = oncePerObject(({ task, response }) => {
  const { prompt, metadata } = task;
  const episode = readEpisode({
    prompt,
    response,
    metadata: typeof metadata === 'object' && metadata !== null ? (metadata as object) : {},
  });
  if (typeof episode === 'string') throw new TypeError(episode);
  return episode as ReadEpisode;
});

/** All components read the same episode. What is computed from it is kept as long as it lives. */
function oncePerObject<Given extends object, Result>(
  compute: (given: Given) => Result,
): (given: Given) => Result {
  const results = new WeakMap<Given, Result>();
  return (given) => {
    if (!results.has(given)) results.set(given, compute(given));
    return results.get(given)!;
  };
}

/** Members of a group share their reference, so the last result is kept. */
function lastOne<Result>(compute: (text: string) => Result): (text: string) => Result {
  let last: { readonly text: string; readonly result: Result } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
}
