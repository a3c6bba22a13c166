/** Declaration maps, as small as "go to definition" allows. */
import { dirname, relative } from 'node:path';
import { decode, encode, type SourceMapSegment } from '@jridgewell/sourcemap-codec';
import ts from './typescript.mjs';

/** Where a declaration file declares its names, in order, parameters left out: nobody goes to them. */
function declaredNames(declaration: string): ts.LineAndCharacter[] {
  const file = ts.createSourceFile('declaration.d.ts', declaration, ts.ScriptTarget.ES2023, true);
  const names: ts.LineAndCharacter[] = [];
  const visit = (node: ts.Node): void => {
    const name = ts.isParameter(node) ? undefined : ts.getNameOfDeclaration(node as ts.Declaration);
    if (name !== undefined) names.push(file.getLineAndCharacterOfPosition(name.getStart()));
    ts.forEachChild(node, visit);
  };
  visit(file);
  return names;
}

/** A declaration file, before and after comments were put before its fields, and where it comes from and goes to. */
export interface PlacedDeclaration {
  readonly emitted: string;
  readonly placed: string;
  readonly source: string;
  readonly path: string;
}

/**
 * A compiler's map of a declaration file, which leads to the source that is published with it.
 *
 * An editor looks up the places of declared names only. The compiler also maps every word of every type.
 */
export function smallMap(map: string, { emitted, placed, source, path }: PlacedDeclaration): string {
  const { mappings, ...rest } = JSON.parse(map) as { mappings: string };
  const after = declaredNames(placed);
  const columns = new Map(
    declaredNames(emitted).map(({ line, character }, k) => [`${line}:${character}`, after[k]!.character]),
  );
  const kept = decode(mappings).map((segments, line) =>
    segments.flatMap(([column, ...target]): SourceMapSegment[] => {
      const moved = columns.get(`${line}:${column}`);
      return moved === undefined ? [] : [[moved, ...target] as SourceMapSegment];
    }),
  );
  const sources = [relative(dirname(path), source).replaceAll('\\', '/')];
  return JSON.stringify({ ...rest, sources, mappings: encode(kept) });
}
