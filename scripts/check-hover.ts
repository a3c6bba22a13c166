/**
 * Fails when an editor has nothing to say about an option. Every field of an exported `*Options`, `*Config` or `*Dependencies`
 * type needs a sentence, in the source and in the built declarations. The sentence states the default.
 *
 * Fields written in place inside a type count too. Prints how many fields of each package are documented.
 */

import ts from 'typescript';
import { type Compilation, compile } from './compiler.ts';
import { states } from './options/field-defaults.ts';
import { type Field, fieldsOf } from './options/fields.ts';
import { foreignTargets } from './options/foreign-targets.ts';
import { conclude, type Entry, entriesOf, packagesIn } from './workspace.ts';

/** Packages of which every field is documented. Grows until it is all of them. */
const complete = [
  '@rlp/algorithms',
  '@rlp/backprop',
  '@rlp/core',
  '@rlp/data',
  '@rlp/env',
  '@rlp/http',
  '@rlp/onnx',
  '@rlp/rollout',
  '@rlp/sandbox',
];

const packages = packagesIn('packages');

function optionTypes({ checker, exportsOf }: Compilation, path: string): ts.Symbol[] {
  const exported = exportsOf(path).map((name) =>
    name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name,
  );
  const types = ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias;
  return exported.filter(({ name, flags }) => flags & types && /(?:Options|Config|Dependencies)$/.test(name));
}

/** Fields of all options types of some entries, each once, by path. */
function fieldsByPath(compilation: Compilation, paths: readonly string[]): Map<string, Field> {
  const { checker } = compilation;
  const types = new Set(paths.flatMap((path) => optionTypes(compilation, path)));
  const fields = [...types].flatMap((type) =>
    fieldsOf(checker.getDeclaredTypeOfSymbol(type), type.name, checker),
  );
  return new Map(fields.map((field) => [field.path, field]));
}

function reading(from: 'source' | 'built') {
  const pathOf = (entry: Entry) => (from === 'source' ? entry.source : entry.types);
  const entries = packages.flatMap(entriesOf);
  const compilation = compile(entries.map(pathOf), from);
  return packages.map((own) => fieldsByPath(compilation, entriesOf(own).map(pathOf)));
}

const source = reading('source');
const built = reading('built');
const problems: string[] = foreignTargets(source);
const counts = packages.map(({ manifest: { name } }, k) => {
  const undocumented = [...source[k]!.values(), ...built[k]!.values()].filter(({ text }) => text === '');
  const silent = [...source[k]!.values()].filter(
    ({ text, fallback }) => text !== '' && fallback !== undefined && !states(text, fallback),
  );
  if (complete.includes(name)) {
    problems.push(...new Set(undocumented.map(({ path }) => `${name}: ${path} has no sentence`)));
    problems.push(
      ...silent.map(({ path, fallback }) => `${name}: ${path} does not say "Default ${fallback}."`),
    );
  }
  const share = (fields: Map<string, Field>) =>
    `${[...fields.values()].filter(({ text }) => text !== '').length} of ${fields.size}`;
  return `${name.padEnd(22)} documented in the source ${share(source[k]!).padStart(10)}, built ${share(built[k]!).padStart(10)}, defaults unsaid ${silent.length}`;
});
console.log(counts.join('\n'));
conclude(problems, 'every option of the packages that are complete has its sentence and its default');
