/**
 * The documentation for language models, as https://llmstxt.org has it: `llms.txt` lists the pages with a sentence each, and
 * `llms-full.txt` holds their whole text. Both lie at the root of the site.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A page of the site as it was written: its path, such as `guides/write-a-reward.md`. */
export interface SitePage {
  readonly path: string;
  readonly text: string;
}

/** Folders of the site in the order of the list, each with its heading. Other pages are left out. */
const sections: readonly (readonly [folder: string, heading: string])[] = [
  ['start', 'Start'],
  ['concepts', 'Concepts'],
  ['guides', 'Guides'],
  ['recipes', 'Recipes: whole programs'],
  ['reference', 'Reference'],
  ['math', 'Mathematics'],
  ['coming-from', 'Coming from other libraries'],
  ['', 'More'],
];

const introduction = `# rlp

> Reinforcement learning of language models in TypeScript: rollouts, rewards, verifiers, algorithms, training and sampling on ONNX
> Runtime, and a monitor for reward hacking. Packages are named @rlp/*. They are ESM and need Node 20.19 or later.
`;

/** Markdown without front matter, comments, and the formatting that a list does not need. */
const plain = (text: string) => text.replace(/^---\n[\s\S]*?\n---\n/, '').trim();

function titleOf({ path, text }: SitePage): string {
  return /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? path;
}

/** First sentence below the title. */
function summaryOf({ text }: SitePage): string {
  const paragraphs = plain(text).split(/\n\s*\n/);
  const first = paragraphs.find((paragraph) => /^[A-Z*]/.test(paragraph)) ?? '';
  const words = first
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/^\*\*Task\.\*\* /, '')
    .replaceAll('**', '');
  return /^.*?[.!?](?= |$)/.exec(words)?.[0] ?? words;
}

const addressOf = (path: string) => `/${path.replace(/(?:index)?\.md$/, '')}`;

/** Pages of each section, in the order of their paths. A page belongs to the first section that has its folder. */
function inSections(pages: readonly SitePage[]) {
  const left = pages.filter(({ path }) => path !== 'index.md').toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const found = sections.map(([folder, heading]) => {
    const isHere = ({ path }: SitePage) =>
      folder === '' ? !path.includes('/') : path.startsWith(`${folder}/`);
    return { heading, pages: left.filter(isHere) };
  });
  return found.filter(({ pages: own }) => own.length > 0);
}

/** Contents of `llms.txt` and `llms-full.txt`. */
export function languageModelTexts(pages: readonly SitePage[]): {
  readonly list: string;
  readonly full: string;
} {
  const found = inSections(pages);
  const list = found.map(({ heading, pages: own }) => {
    const lines = own.map((page) =>
      `- [${titleOf(page)}](${addressOf(page.path)}): ${summaryOf(page)}`.replace(/: $/, ''),
    );
    return `## ${heading}\n\n${lines.join('\n')}\n`;
  });
  const whole = found.flatMap(({ pages: own }) =>
    own.map((page) => `<!-- ${addressOf(page.path)} -->\n\n${plain(page.text)}\n`),
  );
  const note = 'The text of all these pages in one file: [llms-full.txt](/llms-full.txt)\n';
  return { list: [introduction, note, ...list].join('\n'), full: [introduction, ...whole].join('\n') };
}

/** Writes both files into the folder that the site serves as it is. */
export function writeLanguageModelTexts(paths: readonly string[], folder: string): void {
  const pages = paths.map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
  const { list, full } = languageModelTexts(pages);
  for (const [name, text] of [
    ['llms.txt', list],
    ['llms-full.txt', full],
  ] as const) {
    const target = join(folder, 'public', name);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}
