/**
 * Fails when publint or attw finds fault with a package as it would be published: with the tarball that pnpm packed.
 *
 * One process for all of them: both tools' own command lines pack each package again and start a compiler for each. attw takes
 * as much time as the rest together, and how types resolve changes seldom: it runs at night and before a release only.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { checkPackage, createPackageFromTarballData, type Problem } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { tarballOf, tarballs } from './tarball.ts';
import { conclude, type Package, packagesIn } from './workspace.ts';

function pack(): void {
  const { status, stdout, stderr } = spawnSync(
    `pnpm --filter "./packages/*" pack --pack-destination ${tarballs}`,
    { shell: true, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`check-packages: pnpm pack failed:\n${stdout}${stderr}`);
}

/** The packages are ESM only, so how CommonJS and TypeScript's old resolution see them does not count. */
function concerns(problem: Problem): boolean {
  return !('resolutionKind' in problem) || !['node10', 'node16-cjs'].includes(problem.resolutionKind);
}

async function typeProblems(directory: string, tarball: Uint8Array): Promise<string[]> {
  const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)));
  if (!analysis.types) return [`${directory}: the package holds no types`];
  return analysis.problems
    .filter(concerns)
    .map(({ kind, ...where }) => `${directory}: types: ${kind} ${JSON.stringify(where)}`);
}

async function problemsOf({ directory, manifest }: Package): Promise<string[]> {
  const tarball = readFileSync(tarballOf(manifest));
  const { messages, pkg } = await publint({
    pack: { tarball: new Uint8Array(tarball).buffer },
    strict: true,
  });
  return [
    ...messages.map((message) => `${directory}: ${formatMessage(message, pkg, { color: false })}`),
    ...(process.env.RLP_SLOW_TESTS ? await typeProblems(directory, tarball) : []),
  ];
}

pack();
const packages = packagesIn('packages');
const problems: string[] = [];
for (const found of packages) problems.push(...(await problemsOf(found)));
conclude(problems, `${packages.length} packages, fit to be published`);
