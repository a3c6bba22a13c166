/**
 * `pnpm run docs`: builds the documentation site into `runs/site/html`, offline. Fails on dead links.
 *
 * `--pages` only gathers the pages, checks their links and writes `llms.txt`, which takes a second. The whole build also writes the API reference
 * from the packages' declarations, so `pnpm build` has to run first.
 */
import { rmSync } from 'node:fs';
import { writePages } from './site/pages.ts';
import { conclude } from './workspace.ts';

const folder = 'runs/site/pages';
rmSync('runs/site', { recursive: true, force: true });
const problems = writePages(folder);
if (problems.length === 0 && !process.argv.includes('--pages')) {
  const { writeApi } = await import('./site/api.ts');
  const { build } = await import('vitepress');
  await writeApi(`${folder}/reference/api`);
  await build('docs');
  const { buildPlayground } = await import('../examples/playground/build.ts');
  await buildPlayground('runs/site/html/playground');
}
conclude(problems, 'the documentation site is in runs/site/html');
