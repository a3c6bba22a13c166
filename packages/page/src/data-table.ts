import { type Html, html } from './html.ts';

/** Content of a table. */
export interface TableContent {
  readonly caption: string;
  /** Name of the region that scrolls. Default: the caption. */
  readonly label?: string | undefined;
  /** Headings of the columns. */
  readonly columns: readonly string[];
  /** Cells of the rows. */
  readonly rows: readonly (readonly (string | number | Html)[])[];
  /** What the first cell of a row is. Default `'heading'`. */
  readonly first?: 'heading' | 'cell' | undefined;
  /**
   * `'stack'`: narrow screens show each row as a card, with the names of columns before texts and numbers. The last column is long
   * text. `'cards'`: the same with the names of columns before all cells. `'numbers'`: cells are numbers. Default `'plain'`.
   */
  readonly kind?: 'plain' | 'stack' | 'cards' | 'numbers' | undefined;
  /** `'tall'`: much of a screen before it scrolls. Default `'usual'`. */
  readonly height?: 'usual' | 'tall' | undefined;
}

/** A table that scrolls, also by the keyboard. */
export function dataTable(content: TableContent): Html {
  const { caption, label = caption, columns, rows, first = 'heading', kind = 'plain', height } = content;
  const head = columns.map((name) => html`<th scope="col">${name}</th>`);
  const cellOf = (cell: string | number | Html, at: number): Html => {
    const isText = kind === 'stack' && at === columns.length - 1;
    const isNamed = kind === 'cards' || (kind === 'stack' && !isText && typeof cell !== 'object');
    const attributes = isText ? html` class="text"` : isNamed ? html` data-label="${columns[at]!}"` : html``;
    if (at === 0 && first === 'heading') return html`<th scope="row"${attributes}>${cell}</th>`;
    return html`<td${attributes}>${cell}</td>`;
  };
  const body = rows.map((cells) => html`<tr>${cells.map(cellOf)}</tr>`);
  const style = kind === 'plain' ? html`` : html` class="${kind === 'cards' ? 'stack' : kind}"`;
  return html`<div class="scroll${height === 'tall' ? ' tall' : ''}" tabindex="0" role="region" aria-label="${label}"><table${style}><caption>${caption}</caption><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}
