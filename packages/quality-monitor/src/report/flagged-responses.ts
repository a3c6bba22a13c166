import type { Finding } from '@rlp/core';
import { type Html, html } from '@rlp/page';
import { hackingRule } from '../hacking/alarm.ts';

/** Responses shown, of the newest findings. */
const most = 40;

/** Characters shown of a response. */
export const longestShown = 1200;

/** Responses that findings quote, newest first, with the conspicuous parts highlighted. */
export function flaggedResponses(findings: readonly Finding[]): Html {
  const flagged = findings
    .toReversed()
    .flatMap((finding) => (finding.samples ?? []).map((response) => ({ finding, response })))
    .slice(0, most);
  if (flagged.length === 0) return html``;
  const rows = flagged.map(
    ({ finding: { iteration, severity, rule }, response }) =>
      html`<tr><th scope="row">${iteration}</th><td><span class="badge badge-${severity}">${rule}</span></td><td class="text"><pre>${highlighted(response, rule)}</pre></td></tr>`,
  );
  return html`<section><h2>Flagged responses</h2><div class="scroll" tabindex="0" role="region" aria-label="Flagged responses"><table><caption>Responses quoted by alerts, newest first</caption><thead><tr><th scope="col">Step</th><th scope="col">Why</th><th scope="col">Response</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

/** Marks the parts of a response that the rule concerns. */
function highlighted(response: string, rule: string): Html {
  if (response.trim() === '') return html`<mark>(empty)</mark>`;
  const shown = response.length > longestShown ? `${response.slice(0, longestShown)}…` : response;
  if (rule === 'excessive_repetition' || rule === hackingRule) return repeatedMarked(shown);
  if (rule === 'format_gaming') return betweenTagsMarked(shown);
  return html`${shown}`;
}

/** Marks the words of three-word sequences that occurred before. */
function repeatedMarked(text: string): Html {
  const parts = text.split(/(\s+)/);
  const words = parts.map((part, at) => ({ part, at })).filter(({ part }) => part.trim() !== '');
  const seen = new Set<string>();
  const marked = new Set<number>();
  for (let start = 0; start + 3 <= words.length; start++) {
    const sequence = words.slice(start, start + 3);
    const key = sequence.map(({ part }) => part.toLowerCase()).join(' ');
    if (seen.has(key)) for (const { at } of sequence) marked.add(at);
    seen.add(key);
  }
  return html`${parts.map((part, at) => (marked.has(at) ? html`<mark>${part}</mark>` : html`${part}`))}`;
}

/** Marks the text between tags. */
function betweenTagsMarked(text: string): Html {
  const parts = text.split(/(<\/?[\w-]+>)/);
  return html`${parts.map((part) => (part.trim() === '' || part.startsWith('<') ? html`${part}` : html`<mark>${part}</mark>`))}`;
}
