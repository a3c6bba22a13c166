/**
 * Fails when a package depends on one that is not below it. Fails when a file imports a package that its manifest does not
 * declare, or a file of another package. Fails when files import each other in a circle, be it for types only. Biome's rule for
 * circles takes four seconds.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join } from 'node:path';
import ts from './typescript.mjs';
import { conclude, entriesOf, filesIn, isTest, type Package, packagesIn, readManifest } from './workspace.ts';

/** From the ground up. A package sees the floors below its own. Rooms on one floor do not know each other. */
const floors = [
  ['core'],
  ['onnx', 'tensor', 'data', 'answers', 'sandbox', 'http', 'page'],
  ['models', 'env', 'rewards', 'quality-monitor', 'tracking', 'viewer'],
  ['inference', 'backprop'],
  ['rollout'],
  ['algorithms', 'serve'],
  ['run', 'create-rlp'],
  ['cli'],
];

/** `create-rlp` is called by npm's own rules. */
const nameOf = (name: string) => (name === 'create-rlp' ? name : `@rlp/${name}`);

const floorOf = new Map(floors.flatMap((names, floor) => names.map((name) => [nameOf(name), floor])));

function upwardDependencies({ manifest }: Package): string[] {
  const floor = floorOf.get(manifest.name);
  if (floor === undefined) return [`${manifest.name} has no floor; add it to scripts/check-layers.ts`];
  return Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
    .filter((name) => name.startsWith('@rlp/') && (floorOf.get(name) ?? Infinity) >= floor)
    .map((name) => `${manifest.name} depends on ${name}, which is not below it`);
}

const rootDevelopment = Object.keys(
  (readManifest('package.json').devDependencies ?? {}) as Record<string, string>,
).filter((name) => !name.startsWith('@rlp/'));

/** `@scope/name/sub` → `@scope/name`. Files of the package and modules of Node are not dependencies. */
function packageOf(specifier: string): string | undefined {
  if (/^[./#]/.test(specifier) || specifier.startsWith('node:') || builtinModules.includes(specifier)) return;
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

const imports = new Map<string, readonly string[]>();

/** What a file imports, as it is written. */
function importsOf(file: string): readonly string[] {
  const known = imports.get(file);
  if (known !== undefined) return known;
  const { importedFiles } = ts.preProcessFile(readFileSync(file, 'utf8'), true, true);
  const found = importedFiles.map(({ fileName }) => fileName);
  imports.set(file, found);
  return found;
}

function forbiddenImports({ directory, manifest }: Package): string[] {
  const atRunTime = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
  const inDevelopment = new Set([
    ...atRunTime,
    manifest.name,
    ...Object.keys(manifest.devDependencies ?? {}),
    ...rootDevelopment,
  ]);
  const isOfAnother = (path: string) => path.startsWith('packages/') && !path.startsWith(`${directory}/`);
  // A template is another project.
  const own = filesIn(directory, '.ts').filter((file) => !file.startsWith(`${directory}/template/`));
  return own.flatMap((file) => {
    const isPublished = file.startsWith(`${directory}/src/`) && !isTest(file);
    const declared = isPublished ? atRunTime : inDevelopment;
    const imported = importsOf(file);
    const others = imported
      .filter((path) => path.startsWith('.') && isOfAnother(join(dirname(file), path)))
      .map((path) => `${file} imports ${path}, a file of another package: import one of its entries`);
    const undeclared = [...new Set(imported.map(packageOf))]
      .filter((name) => name !== undefined && !declared.has(name))
      .map((name) => `${file} imports ${name}, which ${manifest.name} does not declare`);
    return [...others, ...undeclared];
  });
}

/** Circles of files that import each other, each once. */
function importCircles(packages: readonly Package[]): string[] {
  const folders = ['packages', 'examples', 'scripts', 'lab', 'docs/.vitepress'];
  const files = [
    ...readdirSync('.').filter((file) => /\.(tsx?|mjs)$/.test(file)),
    ...['.ts', '.tsx', '.mjs'].flatMap((extension) =>
      folders.flatMap((folder) => filesIn(folder, extension)),
    ),
  ];
  const known = new Set(files);
  const entries = new Map(
    packages.flatMap(entriesOf).map(({ specifier, source }) => [specifier, source] as const),
  );
  const circles: string[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    path.push(file);
    for (const name of importsOf(file)) {
      const target = name.startsWith('.') ? join(dirname(file), name) : entries.get(name);
      if (target !== undefined && known.has(target)) visit(target);
    }
    done.add(path.pop()!);
  };
  files.forEach(visit);
  return circles.map((circle) => `files import each other: ${circle}`);
}

const packages = packagesIn('packages');
const lab: Package = { directory: 'lab', manifest: readManifest('lab/package.json') };
conclude(
  [
    ...packages.flatMap(upwardDependencies),
    ...[...packages, ...packagesIn('examples'), lab].flatMap(forbiddenImports),
    ...importCircles(packages),
  ],
  `${packages.length} packages on ${floors.length} floors, every import declared and downwards, no circles`,
);
