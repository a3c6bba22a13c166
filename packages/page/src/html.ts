/** HTML text that needs no more escaping. Only {@link html} and this package's own constants make it. */
export interface Html {
  readonly html: string;
}

type Part = string | number | Html | readonly Html[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

function render(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'html' in part ? part.html : part.map(({ html }) => html).join('');
}

/** A name of parts joined by `/` and `_`, as metrics have: it breaks after these, rather than within a word. */
export function breakable(name: string): Html {
  return { html: escapeHtml(name).replace(/[/_]/g, '$&<wbr>') };
}

/** A template whose parts are escaped unless they are HTML already: whatever a model wrote stays text. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: strings.reduce((whole, string, index) => whole + render(parts[index - 1]!) + string) };
}
