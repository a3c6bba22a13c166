import { breakable, type Html, html } from './html.ts';

/** A chart as a card: its title, the latest figures beside it if there are any, and the chart. */
export function chartFigure(title: string, chart: Html, latest?: string): Html {
  const beside = latest === undefined ? '' : html`<span class="latest">last ${latest}</span>`;
  return html`<figure><figcaption><h3>${breakable(title)}</h3>${beside}</figcaption>${chart}</figure>`;
}
