import type { Pathology } from '../assessor/pathology.ts';

/** How a metric is drawn: its title, whether it is a share, and the pathologies that are marked in it. */
export interface ChartDescription {
  readonly title: string;
  readonly axis: 'share' | 'fit';
  readonly marked: readonly Pathology[];
}

function share(title: string, ...marked: Pathology[]): ChartDescription {
  return { title, axis: 'share', marked };
}

/** Metrics in the order in which they are drawn. */
export const chartTitles: Readonly<Record<string, ChartDescription>> = {
  suspected_reward_hacking: share('Suspected reward hacking'),
  reward_behaviour_changed: share('Change of rewarded responses'),
  suspected_format_gaming: share('Tags without content', 'format_gaming'),
  format_compliance_rate: share('Responses with tags', 'format_gaming', 'degenerate_outputs'),
  empty_content_rate: share('Empty responses', 'degenerate_outputs'),
  repetition_rate: share('Repetition', 'excessive_repetition'),
  unique_responses_ratio: share('Different responses in a batch', 'diversity_collapse'),
  window_diversity: share('Different responses in the window', 'diversity_collapse'),
  lexical_diversity: share('Different words', 'diversity_collapse', 'excessive_repetition'),
  coherence: share('Reads like text'),
  avg_reasoning_length: {
    ...share('Length of the reasoning', 'format_gaming', 'degenerate_outputs'),
    axis: 'fit',
  },
  avg_answer_length: { ...share('Length of the answer', 'format_gaming', 'degenerate_outputs'), axis: 'fit' },
};

/** Prefix of the evidence of one trait. */
export const traitPrefix = 'hacking/';

/** The chart of a metric. Those that are not listed are traits. */
export function chartOf(name: string): ChartDescription {
  return chartTitles[name] ?? share(`Trait: ${ruleTitle(name.slice(traitPrefix.length)).toLowerCase()}`);
}

/** A rule in words: `reward_spike` is "Reward spike". */
export function ruleTitle(rule: string): string {
  const words = rule.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
