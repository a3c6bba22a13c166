/**
 * Moves the declaration files that `tsc -p tsconfig.types.json` emitted into each package's `dist/`, beside the code.
 *
 * Relative imports change from `.ts` to `.js`, and declaration maps point at the `src/` that is published with them. Fields of
 * options get the comments of their schemas. Options that configuration files hold are also written as JSON Schemas. Fails if an
 * editor has nothing to say about an option; see `options/undocumented-options.ts`.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Compilation, compile } from './compiler.ts';
import { withFieldComments } from './options/field-comments.ts';
import { optionSchemas, undescribed } from './options/json-schemas.ts';
import { undocumentedOptions } from './options/undocumented-options.ts';
import { conclude, entriesOf, filesIn, packagesIn } from './workspace.ts';

const emitted = 'runs/check/types';

function withBuiltExtensions(declaration: string): string {
  return declaration.replaceAll(/(from |import\()(['"])(\.{1,2}\/[^'"]+)\.ts\2/g, '$1$2$3.js$2');
}

function withPublishedSources(map: string, source: string, placed: string): string {
  const parsed = JSON.parse(map) as { sources: string[] };
  return JSON.stringify({ ...parsed, sources: [relative(dirname(placed), source).replaceAll('\\', '/')] });
}

/** Sources of a package that have declarations, each with the file that the compiler emitted for it. */
function declarationsOf(directory: string): readonly (readonly [source: string, emitted: string])[] {
  return filesIn(join(directory, 'src'), '.ts')
    .filter((source) => !/\.(test|fixture)\.ts$/.test(source))
    .map((source) => [source, join(emitted, source.replace(/\.ts$/, '.d.ts'))]);
}

/** Whether a declaration describes the fields of a schema. */
function describesFields(path: string): boolean {
  if (!existsSync(path))
    throw new Error(`place-declarations: ${path} is missing; run pnpm check:types first`);
  return /\bz\.Zod\w+</.test(readFileSync(path, 'utf8'));
}

function placeDeclarations(directory: string, { checker, sourceOf }: Compilation): number {
  const placed = join(directory, 'dist');
  for (const stale of [...filesIn(placed, '.d.ts'), ...filesIn(placed, '.d.ts.map')]) rmSync(stale);
  const declarations = declarationsOf(directory);
  for (const [source, from] of declarations) {
    const to = join(placed, relative(join(directory, 'src'), source).replace(/\.ts$/, '.d.ts'));
    mkdirSync(dirname(to), { recursive: true });
    const bare = readFileSync(from, 'utf8');
    const text = describesFields(from) ? withFieldComments(bare, sourceOf(source), checker) : bare;
    writeFileSync(to, withBuiltExtensions(text));
    writeFileSync(
      `${to}.map`,
      withPublishedSources(readFileSync(`${from}.map`, 'utf8'), source, `${to}.map`),
    );
  }
  return declarations.length;
}

const directories = packagesIn('packages').map(({ directory }) => directory);
const described = directories.flatMap(declarationsOf).filter(([, from]) => describesFields(from));
const entries = packagesIn('packages').flatMap(entriesOf);
const sources = [...described.map(([source]) => source), ...entries.map(({ source }) => source)];
const compilation = compile(sources, 'source');
const placed = directories.map((directory) => placeDeclarations(directory, compilation));
const schemas = optionSchemas(compilation);
for (const { path, schema } of schemas) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(schema)}\n`);
}
const undescribedFields = schemas.flatMap(({ path, schema }) =>
  undescribed(schema, schema.title!).map((field) => `${path}: ${field} has no description`),
);
const built = compile(
  entries.map(({ types }) => types),
  'built',
);
const { problems, counts } = undocumentedOptions(compilation, built);
console.log(counts.join('\n'));
conclude(
  [...problems, ...undescribedFields],
  `${placed.reduce((sum, count) => sum + count, 0)} declaration files and ${schemas.length} schemas placed; every option of the packages that are complete has its sentence and its default`,
);
