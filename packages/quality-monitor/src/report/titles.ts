import type { Pathology } from '../assessor/pathology.ts';

/** How a metric is drawn. */
export interface ChartDescription {
  readonly title: string;
  /** Whether it is a share, from 0 to 1. */
  readonly axis: 'share' | 'fit';
  /** Name of the level of evidence at which something begins. Curves without such a level are drawn only if they move. */
  readonly level?: 'alarm' | 'suspicion';
  /** Whether it says nothing about responses without tags. */
  readonly needs?: 'tags';
  /** Pathologies that are marked in it. */
  readonly marked: readonly Pathology[];
}

function share(title: string, ...marked: Pathology[]): ChartDescription {
  return { title, axis: 'share', marked };
}

function ofTags(title: string, axis: 'share' | 'fit', ...marked: Pathology[]): ChartDescription {
  return { title, axis, needs: 'tags', marked };
}

/** Metrics in the order in which they are drawn. */
const charts: Readonly<Record<string, ChartDescription>> = {
  suspected_reward_hacking: { ...share('Suspected reward hacking'), level: 'alarm' },
  reward_behaviour_changed: { ...share('Change of rewarded responses'), level: 'suspicion' },
  suspected_format_gaming: ofTags('Tags without content', 'share', 'format_gaming'),
  format_compliance_rate: ofTags('Responses with tags', 'share', 'format_gaming', 'degenerate_outputs'),
  empty_content_rate: share('Empty responses', 'degenerate_outputs'),
  repetition_rate: share('Repetition', 'excessive_repetition'),
  unique_responses_ratio: share('Different responses in a batch', 'diversity_collapse'),
  window_diversity: share('Different responses in the window', 'diversity_collapse'),
  lexical_diversity: share('Different words', 'diversity_collapse', 'excessive_repetition'),
  coherence: share('Reads like text'),
  avg_reasoning_length: ofTags('Length of the reasoning', 'fit', 'format_gaming', 'degenerate_outputs'),
  avg_answer_length: ofTags('Length of the answer', 'fit', 'format_gaming', 'degenerate_outputs'),
};

/** Prefix of the evidence of one trait. */
export const traitPrefix = 'hacking/';

/** Descriptions of the usual charts by metric, and of those of some traits. */
export function chartsOf(traits: readonly string[]): [metric: string, chart: ChartDescription][] {
  const ofTraits = traits.map((name): [string, ChartDescription] => {
    const title = `Trait: ${ruleTitle(name.slice(traitPrefix.length)).toLowerCase()}`;
    return [name, { ...share(title), level: 'suspicion' }];
  });
  return [...Object.entries(charts), ...ofTraits];
}

/** A rule in words: `reward_spike` is "Reward spike". */
export function ruleTitle(rule: string): string {
  const words = rule.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
