import { describe, expect, it } from 'vitest';
import { smallMap } from './declaration-maps.ts';
import ts from './typescript.mjs';

const source = `/** Adds. */
export function sum(first: number, second: number): number {
  return first + second;
}
export interface Options {
  readonly size?: Array<number> | undefined;
  walk(step: Options): void;
}
export class Walker {
  readonly options: Options = {} as Options;
}
`;

/** What the compiler emits for the source: the declaration, and its map. */
function emit(): { readonly declaration: string; readonly map: string } {
  const options = {
    declaration: true,
    declarationMap: true,
    emitDeclarationOnly: true,
    noLib: true,
    types: [],
  };
  const host = ts.createCompilerHost(options);
  const written = new Map<string, string>();
  const file = ts.createSourceFile('walker.ts', source, ts.ScriptTarget.ES2023);
  const program = ts.createProgram(['walker.ts'], options, {
    ...host,
    getSourceFile: (path, ...rest) => (path === 'walker.ts' ? file : host.getSourceFile(path, ...rest)),
    writeFile: (path, text) => written.set(path, text),
  });
  program.emit();
  return { declaration: written.get('walker.d.ts')!, map: written.get('walker.d.ts.map')! };
}

/** Where an editor goes in the source from a word of the declaration. */
function definitionOf(word: string, placed: string, map: string): string {
  const files = new Map([
    ['/dist/walker.d.ts', placed],
    ['/dist/walker.d.ts.map', map],
    ['/src/walker.ts', source],
  ]);
  const service = ts.createLanguageService({
    getScriptFileNames: () => ['/dist/walker.d.ts'],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) =>
      files.has(path) ? ts.ScriptSnapshot.fromString(files.get(path)!) : undefined,
    getCurrentDirectory: () => '/',
    getCompilationSettings: () => ({ noLib: true }),
    getDefaultLibFileName: () => '/lib.d.ts',
    useCaseSensitiveFileNames: () => true,
    fileExists: (path) => files.has(path),
    readFile: (path) => files.get(path),
  });
  const { getSourceMapper } = service as unknown as {
    readonly getSourceMapper: () => {
      tryGetSourcePosition(at: { readonly fileName: string; readonly pos: number }): { readonly pos: number };
    };
  };
  const { pos } = getSourceMapper().tryGetSourcePosition({
    fileName: '/dist/walker.d.ts',
    pos: placed.indexOf(word),
  });
  return source.slice(pos, pos + word.length);
}

describe('smallMap', () => {
  const { declaration, map } = emit();
  const placed = declaration.replace('readonly size', '/** Numbers to add. Default none. */ readonly size');
  const small = smallMap(map, {
    emitted: declaration,
    placed,
    source: '/src/walker.ts',
    path: '/dist/walker.d.ts',
  });

  it.each(['sum', 'Options', 'size', 'walk', 'Walker', 'options'])('leads from %s to its source', (name) => {
    expect(definitionOf(name, placed, small)).toBe(name);
  });

  it('leaves out what nobody goes to', () => {
    expect(small.length).toBeLessThan(0.8 * map.length);
    expect(JSON.parse(small)).toMatchObject({ sources: ['../src/walker.ts'], file: 'walker.d.ts' });
  });
});
