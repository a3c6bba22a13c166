/** Public symbols without a docstring: every export of every entry of every package. */
import { relative } from 'node:path';
import type { Compilation } from '../compiler.ts';
import ts from '../typescript.mjs';
import type { Entry } from '../workspace.ts';

function locationOf(symbol: ts.Symbol): string | undefined {
  const declaration = symbol.declarations?.[0];
  if (declaration === undefined) return;
  const source = declaration.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(declaration.getStart());
  return `${relative('.', source.fileName)}:${line + 1}`;
}

/** What is public, and which of it says nothing about itself. */
export function docstrings({ checker, exportsOf }: Compilation, entries: readonly Entry[]) {
  const documented = new Set<ts.Symbol>();
  const problems = new Set<string>();
  for (const { types, specifier } of entries) {
    for (const name of exportsOf(types)) {
      const symbol = name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name;
      const location = locationOf(symbol);
      if (location === undefined || location.includes('node_modules')) continue;
      if (symbol.getDocumentationComment(checker).length > 0) documented.add(symbol);
      else problems.add(`${location} ${symbol.name} of ${specifier} has no docstring`);
    }
  }
  return { documented: documented.size, problems: [...problems] };
}
