import { dataTable, type Html, html, shortNumber } from '@rlp/page';
import type { ReportSample } from './sample.ts';

/** Answers before and after, side by side. */
export function sampleTable(samples: readonly ReportSample[]): Html {
  const hasReference = samples.some(({ reference }) => reference !== undefined);
  const rows = samples.map(({ prompt, reference = '', before, after, rewardBefore, rewardAfter }) => [
    html`<pre>${prompt}</pre>`,
    ...(hasReference ? [html`<pre>${reference}</pre>`] : []),
    html`<pre>${before}</pre>${mark(rewardBefore)}`,
    html`<pre>${after}</pre>${mark(rewardAfter, rewardBefore)}`,
  ]);
  return dataTable({
    ...{ caption: 'Samples before and after training', label: 'Samples', kind: 'cards', height: 'tall' },
    columns: ['Prompt', ...(hasReference ? ['Reference'] : []), 'Before', 'After'],
    ...{ rows, first: 'cell' },
  });
}

/** A reward, and by sign and colour how it compares with the one before. */
function mark(reward: number | null | undefined, compared?: number | null): Html {
  if (reward === undefined) return html``;
  if (reward === null) return html`<span class="mark level">reward: none</span>`;
  const change = compared === undefined || compared === null ? 0 : reward - compared;
  const [kind, sign] = change > 0 ? ['up', '▲ '] : change < 0 ? ['down', '▼ '] : ['level', ''];
  return html`<span class="mark ${kind}">${sign}reward ${shortNumber(reward)}</span>`;
}
