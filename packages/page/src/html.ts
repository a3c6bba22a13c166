/** HTML text that is already escaped. Only {@link html} and constants of this package create it. */
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

/** A name, such as that of a metric, that may break after `/` and `_`. */
export function breakable(name: string): Html {
  return { html: escapeHtml(name).replace(/[/_]/g, '$&<wbr>') };
}

/** A template that escapes its parts unless they are HTML. What a model wrote stays text. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return { html: strings.reduce((whole, string, index) => whole + render(parts[index - 1]!) + string) };
}
