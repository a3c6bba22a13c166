import type { RewardConfig, RewardEpisode } from './index.ts';

/** The example values of textpolicy's README. */
export const textpolicyConfig: RewardConfig = {
  lengthWeight: 0.2,
  keywordWeight: 0.3,
  perplexityWeight: 0.3,
  accuracyWeight: 0.2,
  targetLength: 50,
  keywords: ['quantum', 'computer', 'algorithm'],
};

/** Three episodes; the last one has a reference. */
export const episodes: RewardEpisode[] = [
  { prompt: 'Explain quantum computing', response: 'Quantum computers run an algorithm on qubits.' },
  { prompt: 'What is ML?', response: 'Maybe it is statistics. I think so.' },
  { prompt: 'Capital?', response: 'Paris', metadata: { groundTruth: 'Paris' } },
];
