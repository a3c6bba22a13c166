import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const folder = 'docs/guides';
const guides = readdirSync(folder).filter((name) => name.endsWith('.md') && name !== 'index.md');

it.each(guides)('%s begins with a task and its result', (name) => {
  const [, opening] = readFileSync(`${folder}/${name}`, 'utf8').split('\n\n');
  expect(opening).toMatch(/^\*\*Task\.\*\* [\s\S]+\*\*Result\.\*\* /);
});
