import type { Finding, FindingNote } from '@rlp/core';

/** Rules of the assessor. The names appear in log files. */
export const pathologies = [
  'reward_saturation_high',
  'reward_saturation_low',
  'variance_collapse',
  'format_gaming',
  'excessive_repetition',
  'diversity_collapse',
  'degenerate_outputs',
  'reward_spike',
] as const;

/** One of {@link pathologies}. */
export type Pathology = (typeof pathologies)[number];

/** Whether a rule is one of the assessor's. */
export function isPathology(rule: string): rule is Pathology {
  return pathologies.some((one) => one === rule);
}

/** Formats a finding as one line: `[SEVERITY] rule: message`. */
export function formatFinding({
  severity,
  rule,
  message,
}: Pick<Finding, 'severity' | 'rule' | 'message'>): string {
  return `[${severity.toUpperCase()}] ${rule}: ${message}`;
}

/** Meaning of each pathology, why it matters, an example and what helps. */
export const pathologyNotes: Readonly<Record<Pathology, FindingNote>> = {
  reward_saturation_high: {
    what: 'The model consistently receives the maximum reward.',
    why: 'Training has plateaued, or the reward is too easy.',
    example: 'All of the last 1,000 responses earn 1.0.',
    mitigation: [
      'Adjust reward scaling',
      'Add more challenging reward components',
      'Check if the task is too easy',
    ],
  },
  reward_saturation_low: {
    what: 'The model consistently receives the minimum reward.',
    why: 'The reward is too hard, so better and worse responses earn the same.',
    example: '950 of the last 1,000 responses earn 0.',
    mitigation: [
      'Adjust reward scaling',
      'Add reward components that are easier to earn',
      'Check if the task is too hard',
    ],
  },
  variance_collapse: {
    what: 'All rewards have become nearly identical.',
    why: 'The training signal is gone. Good and bad outputs earn the same.',
    example: 'Every response earns 0.5, whether right or wrong.',
    mitigation: [
      'Investigate mode collapse of the model',
      'Increase temperature or exploration',
      'Check the diversity of the reward functions',
    ],
  },
  format_gaming: {
    what: 'Correct tags around minimal or nonsensical content.',
    why: 'Classic reward hacking. The model learns form without substance.',
    example: '<reasoning>ok</reasoning><answer>1</answer>',
    mitigation: [
      'Add rewards for content quality',
      'Increase the weight of accuracy or semantic rewards',
      'Add minimum length requirements to the reward',
    ],
  },
  excessive_repetition: {
    what: 'Word sequences repeat many times within responses.',
    why: 'The model generates repetitive text of low quality.',
    example: 'the answer is the answer is the answer is the answer is',
    mitigation: [
      'Adjust sampling parameters (temperature, top-p)',
      'Add repetition penalties',
      'Check for degenerate model states',
    ],
  },
  diversity_collapse: {
    what: 'Many responses are identical or nearly so.',
    why: 'The model is stuck in a few output modes.',
    example: 'Every task is answered with “Let us think step by step.”',
    mitigation: [
      'Increase the temperature',
      'Add diversity bonuses to the reward',
      'Check for optimization issues',
    ],
  },
  degenerate_outputs: {
    what: 'Empty tags, missing content, malformed responses.',
    why: 'Generation itself fails.',
    example: '<reasoning></reasoning><answer></answer>',
    mitigation: ['Check model stability', 'Verify generation parameters', 'Investigate tokenizer issues'],
  },
  reward_spike: {
    what: 'Single rewards lie far outside the range seen before.',
    why: 'A bug in a reward function, an unusual input, or the first success of an exploit.',
    example: 'One response earns 50 while the others earn 0 to 1.',
    mitigation: [
      'Read the responses with the outlying rewards',
      'Check the reward function for unexpected inputs',
      'Clip or rescale the reward',
    ],
  },
};
