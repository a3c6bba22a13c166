import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { filesIn } from './workspace.ts';

const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'AGENTS.md', 'SECURITY.md'],
  ...['docs', 'packages', 'examples'].flatMap((folder) => filesIn(folder, '.md')),
];

it.each(documents)('%s links to files that exist', (document) => {
  const text = readFileSync(document, 'utf8').replaceAll(/^```[\s\S]*?^```/gm, '');
  const targets = [...text.matchAll(/\]\(([^)#\s]+)/g)].map(([, target]) => target!);
  const local = targets.filter((target) => !/^[a-z]+:/.test(target));
  expect(local.filter((target) => !existsSync(join(dirname(document), target)))).toEqual([]);
  // READMEs of packages name documents of the repository without a link.
  const named = [...text.matchAll(/`(docs\/[\w/-]+\.md)`/g)].map(([, path]) => path!);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});
