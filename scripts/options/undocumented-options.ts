/**
 * Options about which an editor has nothing to say: a field of an exported `*Options`, `*Config` or `*Dependencies` type without
 * a sentence, in the source or in the built declarations, or a default that its sentence does not state.
 *
 * Fields written in place inside a type count too.
 */

import type { Compilation } from '../compiler.ts';
import ts from '../typescript.mjs';
import { type Entry, entriesOf, packagesIn } from '../workspace.ts';
import { states } from './field-defaults.ts';
import { type Field, fieldsOf } from './fields.ts';
import { foreignTargets } from './foreign-targets.ts';

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

/** Fields of every package's options types. */
function fieldsIn(compilation: Compilation, pathOf: (entry: Entry) => string): Map<string, Field>[] {
  return packages.map((own) => fieldsByPath(compilation, entriesOf(own).map(pathOf)));
}

/** What an editor cannot say about options, and how many fields of each package it can. */
interface Undocumented {
  readonly problems: readonly string[];
  readonly counts: readonly string[];
}

function documented(found: readonly Map<string, Field>[], where: string): Undocumented {
  const problems: string[] = [];
  const counts = packages.map(({ manifest: { name } }, k) => {
    const fields = [...found[k]!.values()];
    const silent = fields.filter(({ text }) => text === '');
    problems.push(...silent.map(({ path }) => `${name}: ${path} has no sentence in ${where}`));
    return `${name.padEnd(22)} documented in ${where} ${fields.length - silent.length} of ${fields.length}`;
  });
  return { problems, counts };
}

/** Options without a sentence in the source, with a default unsaid, or whose names in other libraries lead nowhere. */
export function undocumentedInSource(source: Compilation): Undocumented {
  const found = fieldsIn(source, (entry) => entry.source);
  const { problems, counts } = documented(found, 'the source');
  const unsaid = packages.flatMap(({ manifest: { name } }, k) =>
    [...found[k]!.values()]
      .filter(({ text, fallback }) => text !== '' && fallback !== undefined && !states(text, fallback))
      .map(({ path, fallback }) => `${name}: ${path} does not say "Default ${fallback}."`),
  );
  return { problems: [...foreignTargets(found), ...problems, ...unsaid], counts };
}

/** Options without a sentence in the built declarations. */
export function undocumentedAsBuilt(built: Compilation): Undocumented {
  return documented(
    fieldsIn(built, (entry) => entry.types),
    'the built declarations',
  );
}
