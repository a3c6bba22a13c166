import { ArgumentError, isRecord, OptionsError, parseOptions, requireArguments } from '@rlp/core';
import { parse } from 'yaml';
import { type RunConfig, runSchema } from './run-schema.ts';

/** One override of a configuration: `--algorithm.loss.clipHigh=0.3`. */
export interface Override {
  /** Keys from the root, joined by dots. */
  readonly path: string;
  /** The value as it was typed. */
  readonly value: string;
}

/**
 * A configuration with values of the command line in place of those of the file.
 *
 * A value is read as YAML (`0.3`, `true`, `[a, b]`, `{ kind: cosine }`), or as text if the option takes text.
 *
 * @throws ArgumentError for a path through something that is not an object.
 */
export function withOverrides(config: RunConfig, overrides: readonly Override[]): RunConfig {
  requireArguments('withOverrides', { config: 'object', overrides: 'objects' }, config, overrides);
  return overrides.reduce((before, override) => applied(before, override), config);
}

function applied(config: RunConfig, { path, value }: Override): RunConfig {
  const keys = path.split('.');
  if (keys.some((key) => key === '' || key === '__proto__')) {
    throw new ArgumentError(`--${path}: expected names joined by dots, such as --algorithm.iterations=50`);
  }
  const candidates = [readYaml(value), value].map((read) => placed(config, keys, read, path) as RunConfig);
  return candidates.find((candidate) => !isWrongAt(candidate, path)) ?? candidates[0]!;
}

function readYaml(value: string): unknown {
  try {
    return parse(value);
  } catch {
    return value;
  }
}

/** The configuration with a value at a place. A name stands for the object that it is short for: `rewards.right.weight`. */
function placed(config: unknown, keys: readonly string[], value: unknown, path: string): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (config !== undefined && config !== null && !isRecord(config)) {
    if (typeof config !== 'string')
      throw new ArgumentError(
        `--${path}: there is no ${key} in ${JSON.stringify(config)}; name an option of the value that is there`,
      );
    return placed(longForm(config, path), keys, value, path);
  }
  const before = isRecord(config) ? config : {};
  return { ...before, [key]: placed(before[key], rest, value, path) };
}

/** What a text is short for at this place. */
function longForm(text: string, path: string): object {
  return /(^|\.)data\./.test(path) ? { path: text } : { name: text };
}

/** Whether the schema complains of this very place. */
function isWrongAt(config: RunConfig, path: string): boolean {
  try {
    parseOptions('override', runSchema, config);
    return false;
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    return error.issues.some((issue) => issue.startsWith(`${path}:`) || issue.startsWith(`${path}.`));
  }
}
