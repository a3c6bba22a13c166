import type { Finding, FindingExample } from '@rlp/core';
import { dataTable, type Html, html, shortNumber } from '@rlp/page';
import { ruleTitle } from './titles.ts';

/** Responses shown, of the newest findings. */
const most = 40;

/** Characters shown of a response. */
export const longestShown = 1200;

/** Responses that findings quote, newest first, with what gave them away highlighted. */
export function flaggedResponses(findings: readonly Finding[]): Html {
  const flagged = findings
    .toReversed()
    .flatMap((finding) =>
      (finding.samples ?? []).map((response, at) => ({ finding, response, example: finding.examples?.[at] })),
    )
    .slice(0, most);
  if (flagged.length === 0) return html``;
  const rows = flagged.map(({ finding, response, example }) => {
    const { iteration, severity, rule } = finding;
    return [
      iteration,
      html`<span class="badge badge-${severity}">${ruleTitle(rule)}</span>`,
      example === undefined ? '' : rewardsOf(example),
      html`${promptOf(example?.prompt)}<pre>${highlighted(response, finding)}</pre>`,
    ];
  });
  const table = dataTable({
    ...{ caption: 'Responses quoted by alerts, newest first', label: 'Flagged responses' },
    ...{ columns: ['Step', 'Why', 'Reward', 'Response'], rows, kind: 'stack', height: 'tall' },
  });
  return html`<section><h2>Flagged responses</h2>${table}</section>`;
}

/** The reward, and the components that are not the reward itself. */
function rewardsOf({ reward, components }: FindingExample): string {
  const shown = (value: number | null) => (value === null ? 'none' : shortNumber(value));
  const parts = Object.entries(components).filter(([name]) => name !== 'total');
  const isWhole = parts.length === 1 && parts[0]![1] === reward;
  const listed = isWhole ? [] : parts.map(([name, value]) => `${name} ${shown(value)}`);
  return [shown(reward), ...listed].join(', ');
}

function promptOf(prompt: string | undefined): Html {
  if (prompt === undefined || prompt.trim() === '') return html``;
  return html`<details><summary>Prompt</summary><pre>${shortened(prompt)}</pre></details>`;
}

function shortened(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}

/** Marks the parts of a response that the finding concerns. */
function highlighted(response: string, { rule, phrases = [] }: Finding): Html {
  if (response.trim() === '') return html`<mark>(empty)</mark>`;
  const shown = shortened(response);
  if (phrases.length > 0) return phrasesMarked(shown, phrases);
  if (rule === 'excessive_repetition') return repeatedMarked(shown);
  if (rule === 'format_gaming') return betweenTagsMarked(shown);
  return html`${shown}`;
}

/** Marks phrases of whole words, without regard to case and the kind of space. */
function phrasesMarked(text: string, phrases: readonly string[]): Html {
  const escaped = phrases.map((phrase) => phrase.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const patterns = escaped.map((phrase) => phrase.replaceAll(/\s+/g, '\\s+'));
  const whole = String.raw`(?<![\p{L}\p{N}])(${patterns.join('|')})(?![\p{L}\p{N}])`;
  const parts = text.split(new RegExp(whole, 'giu'));
  return partsMarked(parts, (_, at) => at % 2 === 1);
}

/** Marks the words of three-word sequences that occurred before. */
function repeatedMarked(text: string): Html {
  const parts = text.split(/(\s+)/);
  const words = [...parts.keys()].filter((at) => parts[at]!.trim() !== '');
  const seen = new Set<string>();
  const marked = new Set<number>();
  for (let start = 0; start + 3 <= words.length; start++) {
    const sequence = words.slice(start, start + 3);
    const key = sequence.map((at) => parts[at]!.toLowerCase()).join(' ');
    if (seen.has(key)) for (const at of sequence) marked.add(at);
    seen.add(key);
  }
  return partsMarked(parts, (_, at) => marked.has(at));
}

/** Marks the text between tags. */
function betweenTagsMarked(text: string): Html {
  return partsMarked(text.split(/(<\/?[\w-]+>)/), (part) => part.trim() !== '' && !part.startsWith('<'));
}

function partsMarked(parts: readonly string[], isMarked: (part: string, at: number) => boolean): Html {
  return html`${parts.map((part, at) => (isMarked(part, at) ? html`<mark>${part}</mark>` : html`${part}`))}`;
}
