/** Titles of metrics in charts, in the order in which they are drawn, and whether they are shares. */
export const chartTitles: Readonly<
  Record<string, { readonly title: string; readonly axis: 'share' | 'fit' }>
> = {
  suspected_reward_hacking: { title: 'Suspected reward hacking', axis: 'share' },
  reward_behaviour_changed: { title: 'Change of rewarded responses', axis: 'share' },
  suspected_format_gaming: { title: 'Tags without content', axis: 'share' },
  format_compliance_rate: { title: 'Responses with tags', axis: 'share' },
  empty_content_rate: { title: 'Empty responses', axis: 'share' },
  repetition_rate: { title: 'Repetition', axis: 'share' },
  unique_responses_ratio: { title: 'Different responses in a batch', axis: 'share' },
  window_diversity: { title: 'Different responses in the window', axis: 'share' },
  lexical_diversity: { title: 'Different words', axis: 'share' },
  coherence: { title: 'Reads like text', axis: 'share' },
  avg_reasoning_length: { title: 'Length of the reasoning', axis: 'fit' },
  avg_answer_length: { title: 'Length of the answer', axis: 'fit' },
};

/** A rule in words: `reward_spike` is "Reward spike". */
export function ruleTitle(rule: string): string {
  const words = rule.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
