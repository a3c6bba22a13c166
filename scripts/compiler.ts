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
