import type { Trajectory } from '@rlp/core';
import { episodeOf, type ReadEpisode } from '../shared/episode.ts';
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

/** A component as a reward function that answers at once, and its weight. */
export interface WeightedComponent {
  readonly name: ComponentName;
  readonly weight: number;
  readonly reward: (trajectory: Trajectory) => number;
}

/** An episode, and the counts of its response that all components share. */
interface EpisodeText {
  readonly episode: ReadEpisode;
  readonly scan: TextScan;
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
  const components: Readonly<Record<ComponentName, (text: EpisodeText) => number>> = {
    length: ({ scan }) => lengthScore(scan.words, { targetLength, tolerance }),
    keyword: ({ episode }) => keywordScore(episode, keywords, bonusMultiplier),
    fluency: ({ scan }) => fluencyScore(scan),
    accuracy({ episode: { response, metadata } }) {
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
      const reward = (trajectory: Trajectory) => {
        const text = textOf(trajectory);
        return text.scan.words === 0 ? 0 : compute(text);
      };
      return { name, weight, reward };
    });
}

const texts = new WeakMap<Trajectory, EpisodeText>();

/** The text of a trajectory, read once for all components. */
function textOf(trajectory: Trajectory): EpisodeText {
  const known = texts.get(trajectory);
  if (known !== undefined) return known;
  const episode = episodeOf(trajectory);
  const text = { episode, scan: scanText(episode.response) };
  texts.set(trajectory, text);
  return text;
}

/** Members of a group share their reference, so the last result is kept. */
function lastOne<Result>(compute: (text: string) => Result): (text: string) => Result {
  let last: { readonly text: string; readonly result: Result } | undefined;
  return (text) => {
    if (last?.text !== text) last = { text, result: compute(text) };
    return last.result;
  };
}
