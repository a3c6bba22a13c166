/** The TypeScript compiler with the repository's own settings. */
import { dirname } from 'node:path';
import ts from 'typescript';

/** Options of `tsconfig.json`. */
export function compilerOptions(): ts.CompilerOptions {
  const { config, error } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  if (error) throw new Error(ts.flattenDiagnosticMessageText(error.messageText, '\n'));
  return ts.parseJsonConfigFileContent(
    { ...config, include: [], files: [] },
    ts.sys,
    dirname('tsconfig.json'),
  ).options;
}

/** The symbols that modules export. */
export interface ModuleExports {
  readonly checker: ts.TypeChecker;
  /** Symbols of one of the modules, as it names them: possibly aliases. */
  exportsOf(path: string): readonly ts.Symbol[];
}

/** Compiles modules and looks at what they export. */
export function moduleExports(paths: readonly string[]): ModuleExports {
  const program = ts.createProgram({ rootNames: paths, options: compilerOptions() });
  const checker = program.getTypeChecker();
  return {
    checker,
    exportsOf(path) {
      const source = program.getSourceFile(path);
      const symbol = source && checker.getSymbolAtLocation(source);
      return symbol === undefined ? [] : checker.getExportsOfModule(symbol);
    },
  };
}
