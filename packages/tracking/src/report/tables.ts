import type { MetricRow } from '../metric-rows.ts';
import { type Html, html } from './html.ts';
import type { ReportSample } from './sample.ts';
import { shortNumber } from './scale.ts';

/** Longer tables are thinned to about as many rows. */
const mostRows = 300;

/** Every value of a run, one row per step. */
export function valueTable(run: string, rows: readonly MetricRow[], names: readonly string[]): Html {
  const stride = Math.ceil(rows.length / mostRows);
  const shown = rows.filter((_, index) => index % stride === 0 || index === rows.length - 1);
  const note = stride > 1 ? html`<p class="empty">Every ${stride}th of ${rows.length} rows.</p>` : html``;
  const head = names.map((name) => html`<th scope="col">${name}</th>`);
  const body = shown.map(({ step, metrics }) => {
    const cells = names.map(
      (name) => html`<td>${metrics[name] === undefined ? '' : shortNumber(metrics[name])}</td>`,
    );
    return html`<tr><th scope="row">${step}</th>${cells}</tr>`;
  });
  return html`${note}<div class="scroll" tabindex="0" role="region" aria-label="Values of ${run}"><table class="numbers"><caption>Values of ${run}</caption><thead><tr><th scope="col">step</th>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Answers before and after, side by side. */
export function sampleTable(samples: readonly ReportSample[]): Html {
  const hasReference = samples.some(({ reference }) => reference !== undefined);
  const rows = samples.map(
    ({ prompt, reference, before, after, rewardBefore, rewardAfter }) =>
      html`<tr><td><pre>${prompt}</pre></td>${hasReference ? html`<td><pre>${reference ?? ''}</pre></td>` : ''}<td><pre>${before}</pre>${mark(rewardBefore)}</td><td><pre>${after}</pre>${mark(rewardAfter, rewardBefore)}</td></tr>`,
  );
  return html`<div class="scroll tall" tabindex="0" role="region" aria-label="Samples"><table><caption>Samples before and after training</caption><thead><tr><th scope="col">Prompt</th>${hasReference ? html`<th scope="col">Reference</th>` : ''}<th scope="col">Before</th><th scope="col">After</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** A reward, and by sign and colour how it compares with the one before. */
function mark(reward: number | null | undefined, compared?: number | null): Html {
  if (reward === undefined) return html``;
  if (reward === null) return html`<span class="mark level">reward: none</span>`;
  const change = compared === undefined || compared === null ? 0 : reward - compared;
  const [kind, sign] = change > 0 ? ['up', '▲ '] : change < 0 ? ['down', '▼ '] : ['level', ''];
  return html`<span class="mark ${kind}">${sign}reward ${shortNumber(reward)}</span>`;
}
