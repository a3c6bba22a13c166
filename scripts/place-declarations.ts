/**
 * Moves the declaration files that `tsc -p tsconfig.types.json` emitted into each package's `dist/`, beside the code.
 *
 * Only what an entry reaches is placed. Relative imports change from `.ts` to `.js`, and declaration maps point at the `src/`
 * that is published with them. Fields of options get the comments of their schemas. Options that configuration files hold are
 * also written as JSON Schemas. Fails if an editor has nothing to say about an option of the source; see
 * `options/undocumented-options.ts`.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Compilation, compile } from './compiler.ts';
import { smallMap } from './declaration-maps.ts';
import { withFieldComments } from './options/field-comments.ts';
import { optionSchemas, undescribed } from './options/json-schemas.ts';
import { undocumentedInSource } from './options/undocumented-options.ts';
import { conclude, entriesOf, filesIn, type Package, packagesIn } from './workspace.ts';

const emitted = 'runs/check/types';

/** An import of a file beside it: what leads to it with the quote, and its path without extension. */
const relativeImport = /((?:from |import\(|import )['"])(\.{1,2}\/[^'"]+)\.ts(?=['"])/g;

/** JavaScript's arrays of numbers, and no type of a library whose name ends as theirs does. */
const typedArray =
  /(?<![\w.$])((?:Float(?:16|32|64)|(?:Uint|Int)(?:8|16|32)|Uint8Clamped|Big(?:Uint|Int)64)Array)<(ArrayBuffer(?:Like)?)>/g;

/** With the extensions of built files, and types of arrays that TypeScript before 5.7 reads, too: there they have no argument. */
function asPublished(declaration: string): string {
  return declaration
    .replaceAll(relativeImport, '$1$2.js')
    .replaceAll(typedArray, (_, array: string, buffer: string) =>
      buffer === 'ArrayBuffer' ? `ReturnType<typeof ${array}.of>` : array,
    );
}

/** The file that the compiler emitted for a source. */
function emittedFor(source: string): string {
  const path = join(emitted, source.replace(/\.ts$/, '.d.ts'));
  if (!existsSync(path))
    throw new Error(`place-declarations: ${path} is missing; run pnpm check:types first`);
  return path;
}

/** Adds a source, and the sources whose declarations its declaration imports. */
function addReached(source: string, found: Set<string>): void {
  if (found.has(source)) return;
  found.add(source);
  const declaration = readFileSync(emittedFor(source), 'utf8');
  for (const [, , target] of declaration.matchAll(relativeImport))
    addReached(join(dirname(source), `${target}.ts`), found);
}

/** Sources of a package whose declarations its entries reach, each with the file that the compiler emitted for it. */
function declarationsOf(own: Package): readonly (readonly [source: string, emitted: string])[] {
  const found = new Set<string>();
  for (const { source } of entriesOf(own)) addReached(source, found);
  return [...found].map((source) => [source, emittedFor(source)]);
}

/** Whether a declaration describes the fields of a schema. */
function describesFields(path: string): boolean {
  return /\bz\.Zod\w+</.test(readFileSync(path, 'utf8'));
}

/** Types that the compiler inferred, with the module that they come from. */
const inferredType = /\bNodeJS\.ProcessEnv\b|\bimport\("([^"]+)"\)[.\w]*/g;

/** Types of Node that the compiler inferred. Some versions of `@types/node` lack them, and pages have none. */
function inferredOfNode(): string[] {
  return packages
    .flatMap(declarationsOf)
    .flatMap(([source, from]) =>
      [...readFileSync(from, 'utf8').matchAll(inferredType)]
        .filter(([, module]) => module === undefined || isBuiltin(module))
        .map(([found]) => `${source}: write the type in place of ${found}, which was inferred`),
    );
}

function placeDeclarations(own: Package, { checker, sourceOf }: Compilation): number {
  const { directory } = own;
  const built = join(directory, 'dist');
  for (const stale of [...filesIn(built, '.d.ts'), ...filesIn(built, '.d.ts.map')]) rmSync(stale);
  const declarations = declarationsOf(own);
  for (const [source, from] of declarations) {
    const to = join(built, relative(join(directory, 'src'), source).replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(to), { recursive: true });
    const emitted = readFileSync(from, 'utf8');
    const placed = describesFields(from) ? withFieldComments(emitted, sourceOf(source), checker) : emitted;
    writeFileSync(to, asPublished(placed));
    const map = readFileSync(`${from}.map`, 'utf8');
    writeFileSync(`${to}.map`, smallMap(map, { emitted, placed, source, path: to }));
  }
  return declarations.length;
}

const packages = packagesIn('packages');
const described = packages.flatMap(declarationsOf).filter(([, from]) => describesFields(from));
const entries = packages.flatMap(entriesOf);
const sources = [...described.map(([source]) => source), ...entries.map(({ source }) => source)];
const compilation = compile(sources, 'source');
const placed = packages.map((own) => placeDeclarations(own, compilation));
const schemas = optionSchemas(compilation);
for (const { path, schema } of schemas) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(schema)}\n`);
}
const undescribedFields = schemas.flatMap(({ path, schema }) =>
  undescribed(schema, schema.title!).map((field) => `${path}: ${field} has no description`),
);
const { problems, counts } = undocumentedInSource(compilation);
console.log(counts.join('\n'));
conclude(
  [...problems, ...undescribedFields, ...inferredOfNode()],
  `${placed.reduce((sum, count) => sum + count, 0)} declaration files and ${schemas.length} schemas placed; every option has its sentence and its default`,
);
