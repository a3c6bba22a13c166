import { requireArguments } from '@rlp/core';

const languages: Readonly<Record<string, string>> = {
  py: 'python',
  python3: 'python',
  js: 'javascript',
  node: 'javascript',
  ts: 'typescript',
};

/** `Python`, `python:solution.py`, `{.python .numberLines}`. */
function languageOf(label: string): string {
  const name = /^[\s{.]*([^\s:,}]*)/.exec(label)![1]!.toLowerCase();
  return languages[name] ?? name;
}

const fence = /^([ \t]*)(`{3,})([^`]*)$/;

/**
 * The last fenced block of a Markdown text: of the given language (`py` is Python, `js` JavaScript), or else without one, such as output
 * often is; `undefined` if there is none.
 *
 * As in CommonMark, a block ends at a fence at least as long as its own without a label, and its lines lose the indentation of the
 * fence; how far that is indented does not matter, so blocks in lists are read. Linear.
 */
export function lastCodeBlock(text: string, language?: string): string | undefined {
  requireArguments('lastCodeBlock', { text: 'text', language: 'text?' }, text, language);
  const wanted = language === undefined ? undefined : languageOf(language);
  let labelled: string | undefined;
  let bare: string | undefined;
  let open: { readonly indent: number; readonly ticks: number; readonly language: string } | undefined;
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    const [, indent = '', ticks = '', label = ''] = fence.exec(line) ?? [];
    if (open === undefined) {
      if (ticks === '') continue;
      open = { indent: indent.length, ticks: ticks.length, language: languageOf(label) };
      lines = [];
    } else if (ticks.length < open.ticks || label.trim() !== '') {
      lines.push(line.slice(Math.min(open.indent, line.length - line.trimStart().length)));
    } else {
      if (wanted === undefined || open.language === wanted) labelled = lines.join('\n');
      else if (open.language === '') bare = lines.join('\n');
      open = undefined;
    }
  }
  return labelled ?? bare;
}
