/** The repository's packages and source files, as the checks see them. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The parts of a `package.json` that checks read. */
export interface Manifest {
  readonly name: string;
  readonly version?: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** One package of `packages/` or `examples/`. */
export interface Package {
  /** Relative to the repository's root, such as `packages/core`. */
  readonly directory: string;
  readonly manifest: Manifest;
}

/** A public entry of a package. */
export interface Entry {
  /** As one imports it, such as `@rlp/core/testing`. */
  readonly specifier: string;
  readonly source: string;
  readonly types: string;
  readonly built: string;
}

export function readManifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, 'utf8')) as Manifest;
}

/** Packages of a folder, in alphabetical order. `examples` is one package. */
export function packagesIn(folder: 'packages' | 'examples'): Package[] {
  if (!existsSync(folder)) return [];
  return ['.', ...readdirSync(folder)]
    .map((name) => join(folder, name))
    .filter((directory) => existsSync(join(directory, 'package.json')))
    .map((directory) => ({ directory, manifest: readManifest(join(directory, 'package.json')) }));
}

/** What a package lets others import, from its `exports` map. Paths are relative to the repository's root. */
export function entriesOf({ directory, manifest }: Package): Entry[] {
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, target]) => {
    if (typeof target === 'string') return [];
    const { '@rlp/source': source = '', types = '', default: built = '' } = target;
    const specifier = subpath === '.' ? manifest.name : `${manifest.name}${subpath.slice(1)}`;
    return [
      {
        specifier,
        source: join(directory, source),
        types: join(directory, types),
        built: join(directory, built),
      },
    ];
  });
}

/** Files below a folder whose names end in `extension`, build output and dependencies left out. */
export function filesIn(folder: string, extension: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((item) => {
    const path = join(folder, item.name);
    if (item.isDirectory())
      return /^(node_modules|dist|runs|\..*)$/.test(item.name) ? [] : filesIn(path, extension);
    return item.name.endsWith(extension) ? [path] : [];
  });
}

/** Every TypeScript file that is written by hand. */
export function sourceFiles(): string[] {
  return ['packages', 'examples', 'scripts', 'lab'].flatMap((folder) => filesIn(folder, '.ts'));
}

/** Whether a file is a test, or a contract suite that tests call. */
export function isTest(path: string): boolean {
  return /\.(test|fixture)\.ts$|(^|[\\/])testing[\\/]|[\\/]test-support/.test(path);
}

/** Ends a check: prints the problems, and fails if there are any. */
export function conclude(problems: readonly string[], success: string): void {
  console.log(problems.length > 0 ? problems.join('\n') : success);
  if (problems.length > 0) process.exitCode = 1;
}
