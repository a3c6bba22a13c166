/** The TypeScript compiler with the repository's own settings. */
import { dirname } from 'node:path';
import ts from './typescript.mjs';

/** How modules of packages are read: from the source, or as users read them, from the declarations that were built. */
type Reading = 'source' | 'built';

function compilerOptions(reading: Reading): ts.CompilerOptions {
  const { config, error } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  if (error) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: [] },
    ts.sys,
    dirname('tsconfig.json'),
  );
  return reading === 'source' ? options : { ...options, customConditions: [] };
}

/** Modules read together, each file once. */
export interface Compilation {
  readonly checker: ts.TypeChecker;
  /** Throws for a file that was not read. */
  sourceOf(path: string): ts.SourceFile;
  /** Symbols that a module exports, as it names them: possibly aliases. */
  exportsOf(path: string): readonly ts.Symbol[];
}

/** Files of libraries, which every reading shares. */
const libraries = new Map<string, ts.SourceFile | undefined>();

/** Parses each file of a library once, however many readings there are. */
function sharingHost(options: ts.CompilerOptions): ts.CompilerHost {
  const host = ts.createCompilerHost(options);
  return {
    ...host,
    getSourceFile(path, ...rest) {
      if (!path.includes('/node_modules/')) return host.getSourceFile(path, ...rest);
      if (!libraries.has(path)) libraries.set(path, host.getSourceFile(path, ...rest));
      return libraries.get(path);
    },
  };
}

/** Reads modules and all that they import. Nothing is checked. */
export function compile(paths: readonly string[], reading: Reading = 'built'): Compilation {
  const options = compilerOptions(reading);
  const program = ts.createProgram({ rootNames: paths, options, host: sharingHost(options) });
  const checker = program.getTypeChecker();
  const sourceOf = (path: string) => {
    const source = program.getSourceFile(path);
    if (source === undefined) throw new Error(`compiler: ${path} is missing; run pnpm build first`);
    return source;
  };
  return {
    checker,
    sourceOf,
    exportsOf(path) {
      const symbol = checker.getSymbolAtLocation(sourceOf(path));
      return symbol === undefined ? [] : checker.getExportsOfModule(symbol);
    },
  };
}
