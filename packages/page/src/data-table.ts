import { type Html, html } from './html.ts';

/** Content of a table. */
export interface TableContent {
  readonly caption: string;
  /** Name of the region that scrolls. Default: the caption. */
  readonly label?: string | undefined;
  /** Headings of the columns. */
  readonly columns: readonly string[];
  /** Rows of the body, `tr` each. */
  readonly rows: readonly Html[];
  /** `'stack'`: narrow screens show each row as a card. `'numbers'`: cells are numbers. Default `'plain'`. */
  readonly kind?: 'plain' | 'stack' | 'numbers' | undefined;
  /** `'tall'`: much of a screen before it scrolls. Default `'usual'`. */
  readonly height?: 'usual' | 'tall' | undefined;
}

/** A table that scrolls, also by the keyboard. */
export function dataTable({ caption, label, columns, rows, kind = 'plain', height }: TableContent): Html {
  const head = columns.map((name) => html`<th scope="col">${name}</th>`);
  const style = kind === 'plain' ? html`` : html` class="${kind}"`;
  return html`<div class="scroll${height === 'tall' ? ' tall' : ''}" tabindex="0" role="region" aria-label="${label ?? caption}"><table${style}><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
}
