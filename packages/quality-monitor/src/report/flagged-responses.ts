import { type Html, html } from '@rlp/page';
import { hackingRule } from '../hacking/alarm.ts';
import type { AlertRecord } from '../monitor/sink.ts';

/** Responses that are shown, of the newest alerts. */
const most = 40;

/** Characters of a response that are shown. */
export const longestShown = 1200;

/** Responses that alerts are about, newest first, with what gave them away highlighted. */
export function flaggedResponses(alerts: readonly AlertRecord[]): Html {
  const flagged = alerts
    .toReversed()
    .flatMap((alert) => (alert.samples ?? []).map((response) => ({ alert, response })))
    .slice(0, most);
  if (flagged.length === 0) return html``;
  const rows = flagged.map(
    ({ alert, response }) =>
      html`<tr><th scope="row">${alert.step}</th><td><span class="badge badge-${alert.severity}">${alert.pathologyType}</span></td><td class="text"><pre>${highlighted(response, alert.pathologyType)}</pre></td></tr>`,
  );
  return html`<section><h2>Flagged responses</h2><div class="scroll" tabindex="0" role="region" aria-label="Flagged responses"><table><caption>Responses that alerts are about, newest first</caption><thead><tr><th scope="col">Step</th><th scope="col">Why</th><th scope="col">Response</th></tr></thead><tbody>${rows}</tbody></table></div></section>`;
}

/** The response with the parts marked that the rule is about. */
function highlighted(response: string, rule: string): Html {
  if (response.trim() === '') return html`<mark>(empty)</mark>`;
  const shown = response.length > longestShown ? `${response.slice(0, longestShown)}…` : response;
  if (rule === 'excessive_repetition' || rule === hackingRule) return repeatedMarked(shown);
  if (rule === 'format_gaming') return betweenTagsMarked(shown);
  return html`${shown}`;
}

/** Marks every word that stands in a sequence of three which occurred before. */
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

/** Marks what stands between tags: that is what there is too little of. */
function betweenTagsMarked(text: string): Html {
  const parts = text.split(/(<\/?[\w-]+>)/);
  return html`${parts.map((part) => (part.trim() === '' || part.startsWith('<') ? html`${part}` : html`<mark>${part}</mark>`))}`;
}
