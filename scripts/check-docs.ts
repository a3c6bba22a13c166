/** Fails when a public symbol has no docstring: every export of every entry of every package. */
import { relative } from 'node:path';
import ts from 'typescript';
import { moduleExports } from './compiler.ts';
import { conclude, entriesOf, packagesIn } from './workspace.ts';

const entries = packagesIn('packages').flatMap(entriesOf);
const { checker, exportsOf } = moduleExports(entries.map(({ source }) => source));

function locationOf(symbol: ts.Symbol): string | undefined {
  const declaration = symbol.declarations?.[0];
  if (declaration === undefined) return;
  const source = declaration.getSourceFile();
  const { line } = source.getLineAndCharacterOfPosition(declaration.getStart());
  return `${relative('.', source.fileName)}:${line + 1}`;
}

const documented = new Set<ts.Symbol>();
const problems = new Set<string>();
for (const { source, specifier } of entries) {
  for (const name of exportsOf(source)) {
    const symbol = name.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(name) : name;
    const location = locationOf(symbol);
    if (location === undefined || location.includes('node_modules')) continue;
    if (symbol.getDocumentationComment(checker).length > 0) documented.add(symbol);
    else problems.add(`${location} ${symbol.name} of ${specifier} has no docstring`);
  }
}
conclude([...problems], `${documented.size} public symbols, all documented`);
