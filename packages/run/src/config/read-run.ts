import { isUtf8 } from 'node:buffer';
import { readFile, stat } from 'node:fs/promises';
import { dirname, extname, isAbsolute, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ArgumentError,
  FormatError,
  importPeer,
  isRecord,
  messageOf,
  RlpError,
  requireArguments,
  withPlace,
} from '@rlp/core';
import { parse } from 'yaml';
import type { RunConfig } from './run-schema.ts';

/**
 * Reads a configuration file: YAML, JSON, or TypeScript whose default export is the configuration. Checks nothing of its contents;
 * `trainRun` does.
 *
 * A path of a model or of data that begins with `./` or `../` is resolved beside the file first, then in the working directory. Other
 * relative paths are resolved the other way round. `output` is relative to the working directory.
 *
 * @throws FormatError for a file that cannot be parsed, ArgumentError for another kind of file, MissingPeerError if TypeScript
 *   needs `jiti`.
 */
export async function readRunFile(path: string): Promise<RunConfig> {
  requireArguments('readRunFile', { path: 'text' }, path);
  const ending = extname(path).toLowerCase();
  if (/^\.[cm]?[jt]s$/.test(ending)) return withPaths(await readModule(path), besideFile(path));
  if (ending === '.jsonl' || ending === '.csv' || ending === '.parquet') throw dataFileError(path);
  if (!['.yaml', '.yml', '.json'].includes(ending)) {
    if (await isFolder(path)) throw folderError(path);
    throw new ArgumentError(`${path}: expected a configuration that ends in .yaml, .json or .ts`);
  }
  const config = parsed(await textOf(path), ending, path);
  if (isRecord(config)) return withPaths(config as unknown as RunConfig, besideFile(path));
  throw new FormatError(
    `${path}: expected options by name, such as model: models/qwen, got ${kindOf(config)}`,
  );
}

const inputs = new Set(['model', 'data', 'path', 'teacher']);
const sections = new Set(['data', 'sft', 'distill', 'teacher', 'evaluation', 'params']);

/** Options that the file wrote, and no object that a program made. */
const isPlain = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && Object.getPrototypeOf(value) === Object.prototype;

/** Where a path leads. */
type Resolve = (given: string) => Promise<string>;

/** Resolves the paths in a part of a configuration. */
async function withPaths<Part extends object>(part: Part, resolved: Resolve): Promise<Part> {
  const read = Object.entries(part).map(async ([key, value]) => {
    if (typeof value === 'string' && inputs.has(key)) return [key, await resolved(value)];
    if (key === 'rewards' && isPlain(value)) return [key, await eachWithPaths(value, resolved)];
    return [key, isPlain(value) && sections.has(key) ? await withPaths(value, resolved) : value];
  });
  return Object.fromEntries(await Promise.all(read));
}

/** Rewards by name, each with its own options. */
async function eachWithPaths(rewards: Record<string, unknown>, resolved: Resolve): Promise<object> {
  const read = Object.entries(rewards).map(async ([name, reward]) => [
    name,
    isPlain(reward) ? await withPaths(reward, resolved) : reward,
  ]);
  return Object.fromEntries(await Promise.all(read));
}

/**
 * A configuration that was written in another working directory, such as that of a `run.json`, for this one. A path that leads to nothing
 * there stays as it is.
 *
 * @param directory - The working directory that relative paths of `config` begin at.
 */
export function withPathsFrom(directory: string, config: RunConfig): Promise<RunConfig> {
  requireArguments('withPathsFrom', { directory: 'text', config: 'object' }, directory, config);
  return withPaths(config, async (given) => {
    const there = join(directory, given);
    const isElsewhere = !isAbsolute(given) && resolve(there) !== resolve(given);
    return isElsewhere && (await exists(there)) ? there : given;
  });
}

const besideFile =
  (file: string): Resolve =>
  async (given) => {
    const beside = join(dirname(file), given);
    if (isAbsolute(given) || resolve(beside) === resolve(given)) return given;
    const [isBeside, isHere] = await Promise.all([beside, given].map(exists));
    const isOwn = /^\.\.?(?:[\\/]|$)/.test(given) ? isBeside || !isHere : isBeside && !isHere;
    // Without `./` the hub could be asked for it.
    return isOwn ? (/^\.|^[\\/]|:/.test(beside) ? beside : `./${beside}`) : given;
  };

/** Whether there is a file or folder of that path, without a slice such as `[0:500]`. */
const exists = (path: string) =>
  stat(path.replace(/\[[^\]]*\]$/, '')).then(
    () => true,
    () => false,
  );

/** A parser of YAML needs hundreds of times the size of its file, and a square of it for one large mapping. */
const maxBytes = 2 ** 20;

const folderError = (path: string) =>
  new ArgumentError(`${path} is a folder; give the file of a configuration`);

const isFolder = (path: string) =>
  stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );

async function textOf(path: string): Promise<string> {
  const status = await stat(path);
  if (status.isDirectory()) throw folderError(path);
  if (status.size > maxBytes) {
    throw new FormatError(
      `${path}: expected a configuration of at most 1 MiB, got ${Math.ceil(status.size / 2 ** 20)} MiB; ` +
        'put rows into a file of their own, and name it as `data`',
    );
  }
  const bytes = await readFile(path);
  // Text in UTF-16 has a zero byte beside each Latin letter, which is valid UTF-8.
  if (!bytes.includes(0) && isUtf8(bytes)) return bytes.toString();
  throw new FormatError(`${path}: expected UTF-8 text, got other bytes; save the file as UTF-8`);
}

function parsed(text: string, ending: string, path: string): unknown {
  try {
    // JSON has no mark of the byte order, but editors write one.
    return ending === '.json' ? JSON.parse(text.replace(/^\ufeff/, '')) : parse(text, { merge: true });
  } catch (cause) {
    // Besides its own error, `yaml` throws a ReferenceError for too many aliases, and runs out of stack.
    if (!(cause instanceof Error)) throw cause;
    const reason = cause.message
      .split('\n')[0]!
      .replace(/:$/, '')
      .replace(/^Source contains multiple documents; please use .*\(\)/, 'one document, got a second one');
    const format = ending === '.json' ? 'JSON' : 'YAML';
    throw new FormatError(`${path}: expected ${format}: ${reason}; correct the file`, { cause });
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return 'an empty file';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

/** What to do with rows instead of a configuration. */
function dataFileError(path: string): ArgumentError {
  return new ArgumentError(
    `${path} holds data, not a configuration: name a model and a folder too, as in ` +
      `rlp train --model DIR --data ${path} --out DIR, or write them to a .yaml file with \`model\`, \`data\` and \`output\``,
  );
}

async function readModule(path: string): Promise<RunConfig> {
  // Without a file jiti speaks of a module.
  await stat(path);
  const { createJiti } = await importPeer('a configuration in TypeScript', 'jiti', () => import('jiti'));
  const jiti = createJiti(pathToFileURL(resolve(path)).href, { interopDefault: false });
  const found = await jiti.import<{ readonly default?: RunConfig }>(resolve(path)).catch((cause: unknown) => {
    if (cause instanceof RlpError) throw cause;
    // The parser says where on a separate line.
    const [reason = '', place = ''] = messageOf(cause).split('\n');
    const [, line] = /:(\d+):\d+$/.exec(place) ?? [];
    const short = reason.trim().replace(/\.$/, '');
    const said =
      line === undefined ? (place === '' ? withPlace(short, cause) : short) : `${short} in line ${line}`;
    throw new FormatError(`${path} cannot be loaded: ${said}; correct the file`, { cause });
  });
  if (typeof found.default === 'object' && found.default !== null) return found.default;
  throw new FormatError(
    `${path}: expected the configuration as default export, as in export default defineRun({ … })`,
  );
}
