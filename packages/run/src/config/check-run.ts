import { ArgumentError, isRecord, OptionsError, parseOptions } from '@rlp/core';
import * as z from 'zod';
import { contradictions } from './contradictions.ts';
import { type ResolvedRunConfig, type RowMetadata, type RunConfig, runSchema } from './run-schema.ts';

/**
 * Checks a configuration and fills in its defaults.
 *
 * @param owner - Begins the error message: the function, or the file.
 * @throws OptionsError naming every problem at once, contradictions included.
 */
export function checkRun(config: unknown, owner: string): ResolvedRunConfig {
  if (!isRecord(config)) {
    throw new ArgumentError(
      `${owner}: expected a configuration such as { model, data, output }, got ${shownKind(config)}`,
    );
  }
  const found = contradictions(config);
  let resolved: ResolvedRunConfig | undefined;
  try {
    resolved = parseOptions(owner, runSchema, config, 'RunConfig');
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new OptionsError(owner, [...new Set([...error.issues, ...found])], 'RunConfig');
  }
  if (found.length > 0) throw new OptionsError(owner, found, 'RunConfig');
  return resolved;
}

function shownKind(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  return value === null || value === undefined ? 'nothing' : typeof value;
}

/**
 * Checks a configuration in a TypeScript file, which exports it as its default.
 *
 * @throws OptionsError naming every problem at once.
 */
export function defineRun<Metadata = RowMetadata, Outcome = unknown>(
  config: RunConfig<Metadata, Outcome>,
): RunConfig<Metadata, Outcome> {
  checkRun(config, 'defineRun');
  return config;
}

/** JSON Schema (draft 2020-12) of a configuration file, for editors. What only programs can give is left open. */
export function runJsonSchema(): Readonly<Record<string, unknown>> {
  return { title: 'RunConfig', ...z.toJSONSchema(runSchema, { io: 'input', unrepresentable: 'any' }) };
}
