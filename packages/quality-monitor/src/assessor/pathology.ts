import type { Finding, FindingNote } from '@rlp/core';

/** Formats a finding as one line: `[SEVERITY] rule: message`. */
export function formatFinding(finding: Pick<Finding, 'severity' | 'rule' | 'message'>): string {
  return `[${finding.severity.toUpperCase()}] ${finding.rule}: ${finding.message}`;
}

function note(what: string, why: string, example: string, ...mitigation: string[]): FindingNote {
  return { what, why, example, mitigation };
}

const notes = {
  reward_saturation_high: note(
    'The model consistently receives the maximum reward.',
    'Training has plateaued, or the reward is too easy.',
    'All of the last 1,000 responses earn 1.0.',
    'Adjust reward scaling',
    'Add more challenging reward components',
    'Check if the task is too easy',
  ),
  reward_saturation_low: note(
    'The model consistently receives the minimum reward.',
    'The reward is too hard, so better and worse responses earn the same.',
    '950 of the last 1,000 responses earn 0.',
    'Adjust reward scaling',
    'Add reward components that are easier to earn',
    'Check if the task is too hard',
  ),
  variance_collapse: note(
    'All rewards have become nearly identical.',
    'The training signal is gone. Good and bad outputs earn the same.',
    'Every response earns 0.5, whether right or wrong.',
    'Investigate mode collapse of the model',
    'Increase temperature or exploration',
    'Check the diversity of the reward functions',
  ),
  format_gaming: note(
    'Correct tags around minimal or nonsensical content.',
    'Classic reward hacking. The model learns form without substance.',
    '<reasoning>ok</reasoning><answer>1</answer>',
    'Add rewards for content quality',
    'Increase the weight of accuracy or semantic rewards',
    'Add minimum length requirements to the reward',
  ),
  excessive_repetition: note(
    'Word sequences repeat many times within responses.',
    'The model generates repetitive text of low quality.',
    'the answer is the answer is the answer is the answer is',
    'Adjust sampling parameters (temperature, top-p)',
    'Add repetition penalties',
    'Check for degenerate model states',
  ),
  diversity_collapse: note(
    'Many responses are identical or nearly so.',
    'The model is stuck in a few output modes.',
    'Every task is answered with “Let us think step by step.”',
    'Increase the temperature',
    'Add diversity bonuses to the reward',
    'Check for optimization issues',
  ),
  degenerate_outputs: note(
    'Empty tags, missing content, malformed responses.',
    'Generation itself fails.',
    '<reasoning></reasoning><answer></answer>',
    'Check model stability',
    'Verify generation parameters',
    'Investigate tokenizer issues',
  ),
  reward_spike: note(
    'Single rewards lie far outside the range seen before.',
    'A bug in a reward function, an unusual input, or the first success of an exploit.',
    'One response earns 50 while the others earn 0 to 1.',
    'Read the responses with the outlying rewards',
    'Check the reward function for unexpected inputs',
    'Clip or rescale the reward',
  ),
} satisfies Record<string, FindingNote>;

/** One of {@link pathologies}. */
export type Pathology = keyof typeof notes;

/** Meaning of each pathology, why it matters, an example and what helps. */
export const pathologyNotes: Readonly<Record<Pathology, FindingNote>> = notes;

/** Rules of the assessor. The names appear in log files. */
export const pathologies = Object.keys(notes) as readonly Pathology[];

/** Whether a rule is one of the assessor's. */
export function isPathology(rule: string): rule is Pathology {
  return Object.hasOwn(pathologyNotes, rule);
}
