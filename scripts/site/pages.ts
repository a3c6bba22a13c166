/**
 * The pages of the site: the documents, the packages' READMEs and the recipes, with links that fit their new places.
 *
 * Documents link to each other by their paths in the repository, so that they also read well there. A page that is not on the
 * site, such as a source file, becomes a link into the repository if the manifest names one, and plain text otherwise.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { filesIn, packagesIn, readManifest } from '../workspace.ts';
import { writeLanguageModelTexts } from './llms.ts';

/** A page: where its text comes from, and its place on the site, such as `guides/write-a-reward.md`. */
export interface Page {
  readonly source: string;
  readonly path: string;
}

/** Recipes: programs of one file in `examples/`. */
export function recipes(): readonly string[] {
  return filesIn('examples', '.ts').filter(
    (path) => /^examples[\\/][^\\/]+\.ts$/.test(path) && !path.endsWith('.test.ts'),
  );
}

/** Every hand-written page. */
export function pages(): Page[] {
  return [
    ...filesIn('docs', '.md').map((source) => ({ source, path: relative('docs', source) })),
    ...packagesIn('packages').map(({ directory }) => ({
      source: join(directory, 'README.md'),
      path: `reference/packages/${basename(directory)}.md`,
    })),
    { source: 'examples/quickstart/README.md', path: 'recipes/quickstart.md' },
    ...['ARCHITECTURE', 'CONTRIBUTING', 'SECURITY'].map((name) => ({
      source: `${name}.md`,
      path: `project/${name.toLowerCase()}.md`,
    })),
  ];
}

/** Writes all pages and pictures into a folder. Returns what is wrong with their links. */
export function writePages(folder: string): string[] {
  const all = pages();
  const places = placesOf(all);
  const problems: string[] = [];
  for (const { source, path } of all) {
    const { text, missing } = rewritten(readFileSync(source, 'utf8'), source, path, places);
    problems.push(...missing.map((target) => `${source} links to ${target}, which does not exist`));
    write(join(folder, path), text);
  }
  for (const recipe of recipes()) write(join(folder, recipePage(recipe)), recipeText(recipe));
  for (const image of ['.svg', '.png'].flatMap((extension) => filesIn('docs', extension))) {
    const target = join(folder, relative('docs', image));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(image, target);
  }
  writeLanguageModelTexts([...all.map(({ path }) => path), ...recipes().map(recipePage)], folder);
  return problems;
}

/** Place of a recipe on the site. */
export const recipePage = (file: string) => `recipes/${basename(file, '.ts')}.md`;

/** A recipe's page: the comment at the head of its file, then the file. */
function recipeText(file: string): string {
  const code = readFileSync(file, 'utf8');
  const [comment = ''] = /^\/\*\*[\s\S]*?\*\//.exec(code) ?? [];
  const words = comment
    .replace(/^\/\*\*|\*\/$/g, '')
    .replaceAll(/^\s*\* ?/gm, '')
    .trim();
  const [title = '', ...rest] = words.split('\n');
  return `# ${title.replace(/\.$/, '')}\n${rest.join('\n')}\n\n\`${file}\`\n\n\`\`\`ts\n${code.slice(comment.length).trim()}\n\`\`\`\n`;
}

/** Where each file and folder of the repository is found on the site. */
function placesOf(all: readonly Page[]): ReadonlyMap<string, string> {
  const places = new Map<string, string>();
  for (const { source, path } of all) {
    places.set(normalize(source), path);
    if (/(README|index)\.md$/.test(source)) places.set(dirname(source), path);
  }
  for (const recipe of recipes()) places.set(normalize(recipe), recipePage(recipe));
  return places;
}

/** A document's text with its links turned to the site's pages. */
function rewritten(text: string, source: string, path: string, places: ReadonlyMap<string, string>) {
  const missing: string[] = [];
  const parts = text.split(/(^```[\s\S]*?^```)/m);
  const turned = parts.map((part) =>
    part.startsWith('```')
      ? part
      : part.replaceAll(/(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g, (whole, image, words, target) => {
          if (/^([a-z]+:|#|\/)/.test(target)) return whole;
          const [file, anchor] = target.split('#') as [string, string?];
          const place = normalize(join(dirname(source), file)).replace(/[\\/]$/, '');
          const suffix = anchor === undefined ? '' : `#${anchor}`;
          const page =
            places.get(place) ?? (/\.(svg|png)$/.test(place) ? relative('docs', place) : undefined);
          if (page !== undefined)
            return `${image}[${words}](${dotted(relative(dirname(path), page))}${suffix})`;
          if (!existsSync(place) && !place.startsWith('docs/reference/api/')) missing.push(target);
          if (place.startsWith('docs/')) return whole;
          return repository === undefined ? words : `[${words}](${repository}/tree/main/${place}${suffix})`;
        }),
  );
  return { text: turned.join(''), missing };
}

const dotted = (path: string) => (path.startsWith('.') ? path : `./${path}`).replaceAll('\\', '/');

/** Address of the repository, without `.git`. */
const repository = (
  readManifest('package.json') as { readonly repository?: { readonly url?: string } }
).repository?.url
  ?.replace(/^git\+/, '')
  .replace(/\.git$/, '');

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
