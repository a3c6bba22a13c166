/**
 * Fails when the packages install too much, need an install script, or carry files that users do not need.
 *
 * Reads the tarballs that `check-packages.ts` packed. Third-party packages are measured where pnpm installed them, so no network is
 * needed. Each set of packages is then unpacked alone, and its entries are imported: what is not in the set is not needed.
 */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { filesOfTarball, tarballOf } from './tarball.ts';
import { conclude, entriesOf, type Manifest, type Package, packagesIn, readManifest } from './workspace.ts';

interface InstallSet {
  readonly packages: readonly string[];
  readonly limitMegabytes: number;
}

const light = ['core', 'algorithms', 'env', 'rollout', 'data', 'tensor'];

const sets: readonly InstallSet[] = [
  { packages: light, limitMegabytes: 10 },
  { packages: [...light, 'rewards', 'sandbox', 'http', 'page'], limitMegabytes: 16 },
];

const installScripts = ['preinstall', 'install', 'postinstall'];

const packages = packagesIn('packages');
const byName = new Map(packages.map((found) => [found.manifest.name, found]));

/** Bytes below a folder, packages nested in it left out. */
function folderSize(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, item) => {
    if (item.name === 'node_modules') return sum;
    const path = join(folder, item.name);
    return sum + (item.isDirectory() ? folderSize(path) : statSync(path).size);
  }, 0);
}

/** A third-party package as pnpm installed it: its dependencies lie beside it. */
interface Installed {
  readonly folder: string;
  readonly manifest: Manifest & { readonly scripts?: Readonly<Record<string, string>> };
}

function addThirdParty(name: string, from: string, found: Map<string, Installed>): void {
  const folder = realpathSync(join(from, name));
  if (found.has(folder)) return;
  const manifest = readManifest(join(folder, 'package.json'));
  found.set(folder, { folder, manifest });
  const beside = resolve(folder, ...name.split('/').map(() => '..'));
  for (const dependency of Object.keys(manifest.dependencies ?? {})) addThirdParty(dependency, beside, found);
}

/** Everything that installing these packages installs. */
function closure(names: readonly string[]): { ours: Package[]; others: Installed[] } {
  const ours = new Map<string, Package>();
  const others = new Map<string, Installed>();
  const add = (name: string, from: string) => {
    const own = byName.get(name);
    if (!own) return addThirdParty(name, from, others);
    if (ours.has(name)) return;
    ours.set(name, own);
    for (const dependency of Object.keys(own.manifest.dependencies ?? {})) {
      add(dependency, join(own.directory, 'node_modules'));
    }
  };
  for (const name of names) add(name, '');
  return { ours: [...ours.values()], others: [...others.values()] };
}

/** Unpacks the packages alone and imports their entries in plain Node. */
function importAlone(ours: readonly Package[]): string[] {
  const root = mkdtempSync(join(tmpdir(), 'rlp-install-'));
  const link = (name: string, target: string) => {
    const path = join(root, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  };
  const linked = new Set<string>();
  for (const { directory, manifest } of ours) {
    for (const [name, content] of filesOfTarball(tarballOf(manifest))) {
      const path = join(root, 'node_modules', manifest.name, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
    for (const name of Object.keys(manifest.dependencies ?? {})) {
      if (byName.has(name) || linked.has(name)) continue;
      linked.add(name);
      link(name, realpathSync(join(directory, 'node_modules', name)));
    }
  }
  const specifiers = ours.flatMap(entriesOf).map(({ specifier }) => specifier);
  const importing = (specifier: string) => `await import(${JSON.stringify(specifier)})`;
  const code = specifiers
    .map((specifier) =>
      specifier === '@rlp/core/testing'
        ? `${importing(specifier)}.then(() => { throw new Error('it does not miss vitest'); }, missed);`
        : `${importing(specifier)};`,
    )
    .join('\n');
  // No peer is installed here. What needs one has to say so when it is made, and suites of tests when they are imported.
  const missed = `function missed(error) { if (error.name !== 'MissingPeerError') throw error; }\n`;
  const needy = `import { createIntegratedRewardSystem as create } from '@rlp/rewards';
    const made = (() => { try { return create(); } catch (error) { return error; } })();
    if (made.name !== 'MissingPeerError') throw new Error('createIntegratedRewardSystem() does not miss obscenity');`;
  writeFileSync(
    join(root, 'main.mjs'),
    `${missed}${code}\n${specifiers.includes('@rlp/rewards') ? needy : ''}`,
  );
  const { status, stderr } = spawnSync(process.execPath, ['main.mjs'], { cwd: root, encoding: 'utf8' });
  rmSync(root, { recursive: true });
  return status === 0
    ? []
    : [`${specifiers.length} entries installed alone do not load:\n${stderr.trimEnd()}`];
}

function checkSet({ packages: wanted, limitMegabytes }: InstallSet): string[] {
  const names = wanted.filter((name) => byName.has(`@rlp/${name}`));
  const { ours, others } = closure(names.map((name) => `@rlp/${name}`));
  const sizes = [
    ...ours.map(({ manifest }) => {
      const contents = [...filesOfTarball(tarballOf(manifest)).values()];
      return { name: manifest.name, bytes: contents.reduce((sum, { length }) => sum + length, 0) };
    }),
    ...others.map(({ folder, manifest }) => ({ name: manifest.name, bytes: folderSize(folder) })),
  ].toSorted((a, b) => b.bytes - a.bytes);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0) / 1e6;
  const largest = sizes.slice(0, 6).map(({ name, bytes }) => `${name} ${(bytes / 1e6).toFixed(1)}`);
  console.log(`${names.join(' + ')}: ${total.toFixed(1)} MB of ${limitMegabytes} (${largest.join(', ')}, …)`);
  const scripted = others.filter(({ manifest }) => installScripts.some((name) => manifest.scripts?.[name]));
  return [
    ...(total > limitMegabytes
      ? [`${names.join(' + ')} install ${total.toFixed(1)} MB, at most ${limitMegabytes} are allowed`]
      : []),
    ...scripted.map(
      ({ manifest }) => `${manifest.name} has an install script, which ${names.join(' + ')} must not need`,
    ),
    ...importAlone(ours),
  ];
}

/** Files that nobody needs, and links of a README or a declaration to files that the tarball lacks. */
function checkContents({ manifest }: Package): string[] {
  const files = filesOfTarball(tarballOf(manifest));
  // A template is a project of its own, with its tests.
  const needless = [...files.keys()].filter(
    (path) => /\.(test|fixture)\.|(^|\/)fixtures\//.test(path) && !path.startsWith('template/'),
  );
  const readme = (files.get('README.md')?.toString() ?? '').replaceAll(/^```[\s\S]*?^```/gm, '');
  const dead = [...readme.matchAll(/\]\(([^)#\s]+)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target) && !files.has(join(target)));
  const declared = [...files].filter(([path]) => path.endsWith('.d.ts.map'));
  const lost = declared.flatMap(([path, content]) => {
    const { sources } = JSON.parse(content.toString()) as { readonly sources: readonly string[] };
    return sources.map((source) => join(dirname(path), source)).filter((source) => !files.has(source));
  });
  return [
    ...needless.map((path) => `${manifest.name}: the tarball holds ${path}, leave it out by "files"`),
    ...lost.map((source) => `${manifest.name}: a declaration leads to ${source}, which the tarball lacks`),
    ...dead.map((target) => `${manifest.name}: README.md links to ${target}, which the tarball lacks`),
  ];
}

conclude(
  [...sets.flatMap(checkSet), ...packages.flatMap(checkContents)],
  `${sets.length} sets of packages install what they should, ${packages.length} tarballs hold what they should`,
);
