import { arch, cpus, platform, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { FormatError, isRecord, messageOf, requireArguments } from '@rlp/core';
import * as z from 'zod';
import { modeNames, modes, sections } from '../config/modes.ts';
import { readIfThere } from './read-if-there.ts';

const stageSchema = z.strictObject({
  /** Iterations that the stage makes. */
  iterations: z.int().nonnegative(),
  isFinished: z.boolean(),
});

const recordSchema = z.strictObject({
  record: z.literal('run'),
  version: z.literal(1),
  /** What the run was asked to do. Functions and objects of a program are named, not written. */
  config: z.record(z.string(), z.unknown()),
  mode: z.enum(modeNames),
  /** `'failed'` has the error in `problem`. */
  status: z.enum(['running', 'stopped', 'finished', 'failed']),
  problem: z.string().optional(),
  startedAt: z.string(),
  updatedAt: z.string(),
  /** Seconds of all processes of an interrupted run. */
  seconds: z.number().nonnegative(),
  stages: z.record(z.string(), stageSchema),
  /** Best evaluation of the last stage. Its model is in `checkpoints/best`. */
  best: z
    .strictObject({ iteration: z.int().nonnegative(), score: z.number(), tasks: z.int().positive() })
    .optional(),
  /** Counts and digests of the rows that the run began with. */
  rows: z
    .strictObject({
      learned: z.int().nonnegative(),
      heldOut: z.int().nonnegative(),
      learnedDigest: z.string(),
      heldOutDigest: z.string(),
    })
    .optional(),
  seeds: z.strictObject({ run: z.string() }),
  versions: z.record(z.string(), z.string()),
  host: z.strictObject({
    platform: z.string(),
    arch: z.string(),
    cpu: z.string(),
    cores: z.int(),
    memoryBytes: z.number(),
    /** Working directory, which relative paths of the configuration begin at. */
    directory: z.string().optional(),
  }),
});

/** Contents of `run.json`. */
export type RunRecord = z.output<typeof recordSchema>;

/**
 * Reads a `run.json`. `undefined` if there is none.
 *
 * @param path - Path of the file, such as `runFiles(directory).run`.
 * @throws FormatError for a broken file, and for a folder.
 */
export async function readRunRecord(path: string): Promise<RunRecord | undefined> {
  requireArguments('readRunRecord', { path: 'text' }, path);
  const text = await readIfThere(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EISDIR') throw error;
    const problem = `${path} is a folder; give its run.json, as runFiles(directory).run does`;
    throw new FormatError(problem, { cause: error });
  });
  if (text === undefined) return undefined;
  try {
    return recordSchema.parse(JSON.parse(text));
  } catch (cause) {
    throw new FormatError(
      `${path}: expected the record of a run, and the file is broken; choose another folder, or delete the run with --new: ${messageOf(cause).split('\n')[0]}`,
      { cause },
    );
  }
}

/** The machine that a run runs on. */
export function hostFacts(): RunRecord['host'] {
  const cores = cpus();
  return {
    ...{ platform: platform(), arch: arch() },
    cpu: cores[0]?.model ?? 'unknown',
    cores: cores.length,
    memoryBytes: totalmem(),
    directory: process.cwd(),
  };
}

/** A configuration as JSON. A value of a program becomes `{ "$value": NAME }`. */
export function configAsData(config: object): Record<string, unknown> {
  return asData(config, 0) as Record<string, unknown>;
}

function asData(value: unknown, depth: number): unknown {
  if (typeof value === 'function') return named(`function ${value.name || 'without a name'}`);
  if (typeof value === 'number' && !Number.isFinite(value)) return named(String(value));
  if (Array.isArray(value)) {
    return value.length > 100
      ? named(`list of ${value.length}`)
      : value.map((each) => asData(each, depth + 1));
  }
  if (!isRecord(value)) return value;
  const made = Object.getPrototypeOf(value) as { readonly constructor?: { readonly name: string } } | null;
  if (made !== null && made !== Object.prototype) return named(`object of ${made.constructor?.name}`);
  if ('weights' in value && 'tokenizer' in value) return named('model');
  if (depth > 8) return named('object');
  const entries = Object.entries(value).filter(([, each]) => each !== undefined);
  return Object.fromEntries(entries.map(([key, each]) => [key, asData(each, depth + 1)]));
}

const named = (value: string) => ({ $value: value });

/** Whether a recorded configuration has all that it takes to run it again, and not only the names of a program's values. */
export function isRunnable(config: unknown): boolean {
  if (Array.isArray(config)) return config.every(isRunnable);
  if (!isRecord(config)) return true;
  return !('$value' in config) && Object.values(config).every(isRunnable);
}

/** Options that do not change what a run learns. */
const free = new Set(['output', 'engine']);

/** A place at which two configurations differ, with its values as JSON. */
interface Difference {
  readonly place: string;
  readonly before: string | undefined;
  readonly now: string | undefined;
}

type Earlier = Pick<RunRecord, 'config'> & { readonly host?: Pick<RunRecord['host'], 'directory'> };

function differencesOf(earlier: Earlier, now: Readonly<Record<string, unknown>>): readonly Difference[] {
  const [first, second] = [placesOf(earlier.config), placesOf(now)];
  return [...new Set([...first.keys(), ...second.keys()])]
    .map((place) => ({ place, before: first.get(place), now: second.get(place) }))
    .filter((at) => at.before !== at.now && !free.has(at.place.split('.')[0]!))
    .filter((at) => !isSamePath(at, earlier.host?.directory));
}

/** Whether both are one file or folder, said from two working directories. */
function isSamePath({ place, before, now }: Difference, directory: string | undefined): boolean {
  if (directory === undefined || !/(?:^|\.)(?:model|data|path|teacher)$/.test(place)) return false;
  const [one, other] = [before, now].map((text) => text && (JSON.parse(text) as unknown));
  return typeof one === 'string' && typeof other === 'string' && resolve(directory, one) === resolve(other);
}

/** Places at which two configurations differ, such as `algorithm.iterations: 5 there, 6 here`. */
export function configDifferences(
  earlier: Earlier,
  now: Readonly<Record<string, unknown>>,
): readonly string[] {
  return differencesOf(earlier, now).map(
    (at) => `${at.place}: ${at.before ?? 'nothing'} there, ${at.now ?? 'nothing'} here`,
  );
}

/**
 * The same run with more iterations of its last stage. `undefined` if the configurations differ in anything else, or if a schedule of the
 * learning rate lasts as long as the stage: then the iterations that were made would have been others.
 */
export function lengthened(earlier: RunRecord, config: Record<string, unknown>): RunRecord | undefined {
  const last = modes[earlier.mode].at(-1);
  if (last === undefined) return undefined;
  const [section] = sections[last];
  const place = `${section}.${last === 'rl' || last === 'distill' ? 'iterations' : 'updates'}`;
  const isScheduled = [config, config[section]].some(
    (part) => isRecord(part) && isRecord(part.backend) && part.backend.schedule !== undefined,
  );
  const [difference, ...others] = differencesOf(earlier, config);
  const stage = earlier.stages[last];
  const isLonger = difference?.place === place && Number(difference.now) > (stage?.iterations ?? 0);
  if (!isLonger || others.length > 0 || isScheduled) return undefined;
  const stages = stage && { [last]: { ...stage, isFinished: false } };
  // The paths of the new configuration begin here.
  const host = { ...earlier.host, directory: process.cwd() };
  return { ...earlier, config, host, status: 'stopped', stages: { ...earlier.stages, ...stages } };
}

/** The values of a configuration by their place, as JSON. */
export function placesOf(value: unknown, place = ''): Map<string, string> {
  if (!isRecord(value) || Object.keys(value).length === 0) return new Map([[place, JSON.stringify(value)]]);
  return new Map(
    Object.entries(value).flatMap(([key, each]) => [
      ...placesOf(each, place === '' ? key : `${place}.${key}`),
    ]),
  );
}
