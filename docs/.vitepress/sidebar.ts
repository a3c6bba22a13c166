/** The site's table of contents. Titles come from the pages themselves. */
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { DefaultTheme } from 'vitepress';
import { apiPageOf } from '../../scripts/site/api.ts';
import { pages, recipePage, recipes } from '../../scripts/site/pages.ts';
import { entriesOf, packagesIn } from '../../scripts/workspace.ts';

type Item = DefaultTheme.SidebarItem;

/** Pages of a section in reading order; what is not listed follows by name. */
const order: Readonly<Record<string, readonly string[]>> = {
  start: ['index', 'own-model', 'own-reward', 'own-data'],
  concepts: ['index', 'episodes', 'policies', 'masks-and-weights'],
  guides: [
    'index',
    'score-chat-logs',
    'fine-tune-on-jsonl',
    'learn-from-preferences',
    'train-an-agent-with-tools',
    'train-the-agent-you-have',
    'sample-ahead-while-training',
    'from-a-laptop-to-a-cluster',
    'serve-a-model',
    'simulate-a-user',
    'give-an-agent-a-world',
    'write-a-reward',
    'write-an-environment',
    'write-a-loss-or-estimator',
    'write-a-backend',
    'watch-for-reward-hacking',
    'read-an-alarm',
    'embed-in-a-server',
    'embed-in-a-page',
    'train-in-a-page',
    'train-on-a-gpu',
  ],
  reference: ['index', 'options', 'presets'],
  '.': [
    'troubleshooting',
    'metrics',
    'performance',
    'scalability',
    'quality-monitor',
    'verification',
    'answer-checking',
    'reward-hacks',
  ],
  math: ['index'],
  'coming-from': ['index', 'trl', 'verl'],
};

function itemsOf(section: string): Item[] {
  const place = (name: string) => {
    const index = order[section]?.indexOf(name) ?? -1;
    return index < 0 ? Infinity : index;
  };
  return pages()
    .filter(({ path }) => dirname(path) === section && path !== 'index.md')
    .map(({ source, path }) => ({
      name: basename(path, '.md'),
      text: titleOf(source),
      link: `/${path.replace(/(index)?\.md$/, '')}`,
    }))
    .toSorted((a, b) => place(a.name) - place(b.name) || a.name.localeCompare(b.name))
    .map(({ text, link }) => ({ text, link }));
}

function titleOf(source: string): string {
  return /^# (.*)$/m.exec(readFileSync(source, 'utf8'))?.[1]?.replaceAll('`', '') ?? basename(source, '.md');
}

const api: Item[] = packagesIn('packages')
  .flatMap(entriesOf)
  .map(({ specifier }) => ({ text: specifier, link: `/reference/api/${apiPageOf(specifier)}` }));

const packages: Item[] = packagesIn('packages').map(({ directory, manifest }) => ({
  text: manifest.name,
  link: `/reference/packages/${basename(directory)}`,
}));

const recipeItems: Item[] = recipes().map((file) => ({
  text: basename(file, '.ts').replaceAll('-', ' '),
  link: `/${recipePage(file).replace(/\.md$/, '')}`,
}));

/** The same on every page; long lists are folded. */
export const sidebar: Item[] = [
  { text: 'Start', items: itemsOf('start') },
  { text: 'Concepts', items: itemsOf('concepts') },
  { text: 'Guides', items: itemsOf('guides') },
  { text: 'Recipes', collapsed: true, items: [...itemsOf('recipes'), ...recipeItems] },
  {
    text: 'Reference',
    collapsed: true,
    items: [
      ...itemsOf('reference'),
      { text: 'Packages', collapsed: true, items: packages },
      { text: 'API', collapsed: true, items: api },
    ],
  },
  { text: 'Mathematics', collapsed: true, items: itemsOf('math') },
  { text: 'Coming from …', collapsed: true, items: itemsOf('coming-from') },
  { text: 'Help and results', items: itemsOf('.') },
  { text: 'Project', collapsed: true, items: [...itemsOf('project'), ...itemsOf('decisions')] },
];
