import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ArgumentError, FormatError, importPeer } from '@rlp/core';
import { parse, YAMLParseError } from 'yaml';
import type { RunConfig } from './run-schema.ts';

/**
 * Reads a configuration file: YAML, JSON, or TypeScript whose default export is the configuration. Checks nothing of its contents;
 * `trainRun` does.
 *
 * @throws FormatError for a file that cannot be parsed, ArgumentError for another kind of file, MissingPeerError if TypeScript
 *   needs `jiti`.
 */
export async function readRunFile(path: string): Promise<RunConfig> {
  const ending = extname(path).toLowerCase();
  if (/^\.[cm]?[jt]s$/.test(ending)) return readModule(path);
  if (ending === '.jsonl' || ending === '.csv' || ending === '.parquet') throw dataFileError(path);
  if (!['.yaml', '.yml', '.json'].includes(ending)) {
    throw new ArgumentError(`${path}: expected a configuration that ends in .yaml, .json or .ts`);
  }
  const text = await readFile(path, 'utf8');
  try {
    return (ending === '.json' ? JSON.parse(text) : parse(text, { merge: true })) as RunConfig;
  } catch (cause) {
    if (!(cause instanceof YAMLParseError || cause instanceof SyntaxError)) throw cause;
    const [reason] = cause.message.split('\n');
    throw new FormatError(`${path}: expected ${ending === '.json' ? 'JSON' : 'YAML'}: ${reason}`, { cause });
  }
}

/** What to do with rows instead of a configuration. */
function dataFileError(path: string): ArgumentError {
  return new ArgumentError(
    `${path} holds data, not a configuration: name a model and a folder too, as in ` +
      `rlp train --model DIR --data ${path} --out DIR, or write them to a .yaml file with \`model\`, \`data\` and \`output\``,
  );
}

async function readModule(path: string): Promise<RunConfig> {
  const { createJiti } = await importPeer('a configuration in TypeScript', 'jiti', () => import('jiti'));
  const jiti = createJiti(pathToFileURL(resolve(path)).href, { interopDefault: false });
  const found = await jiti.import<{ readonly default?: RunConfig }>(resolve(path));
  if (typeof found.default === 'object' && found.default !== null) return found.default;
  throw new FormatError(
    `${path}: expected the configuration as default export, as in export default defineRun({ … })`,
  );
}
