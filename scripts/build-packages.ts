/**
 * Builds every package to its `dist/`, as the package's script `build` does, but in one process. Most of the time of a build is
 * the start of its tools.
 */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { build } from 'tsup';
import { type Manifest, packagesIn } from './workspace.ts';

const root = process.cwd();

/** What a package's script runs after tsup. */
function runRest({ name, scripts = {} }: Manifest & { readonly scripts?: Record<string, string> }): void {
  const [bundler, ...rest] = (scripts.build ?? '').split(' && ');
  if (bundler !== 'tsup') throw new Error(`build-packages: the build of ${name} must begin with tsup`);
  for (const command of rest) {
    const { status } = spawnSync(command, { shell: true, stdio: 'inherit' });
    if (status !== 0) throw new Error(`build-packages: ${name}: "${command}" failed`);
  }
}

for (const { directory, manifest } of packagesIn('packages')) {
  process.chdir(resolve(root, directory));
  // The settings depend on the package in the working directory.
  const { default: settings } = (await import(`../tsup.config.ts?${directory}`)) as { default: object };
  await build({ ...settings, config: false });
  runRest(manifest);
}
