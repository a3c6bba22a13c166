import { open, readFile } from 'node:fs/promises';
import { FormatError, isRecord, messageOf, plural, type Trajectory } from '@rlp/core';
import { readJsonLinesFile } from '@rlp/data/files';
import {
  recordedExchanges,
  type TrafficMetadata,
  type TrafficOptions,
  trajectoriesFromTraffic,
} from '@rlp/data/traffic';
import type { CliContext } from './context.ts';

/** Conversations of recorded traffic. Says how many records are missing, and why. */
export async function readTraffic(
  source: string,
  { printError }: Pick<CliContext, 'printError'>,
  options: Pick<TrafficOptions, 'otherParts'> = {},
): Promise<Trajectory<TrafficMetadata>[]> {
  const text = await readFile(source, 'utf8').catch((cause: unknown) => {
    throw new FormatError(`cannot read ${source}: ${messageOf(cause)}`, { cause });
  });
  const malformed: FormatError[] = [];
  let leftOut = 0;
  const found = trajectoriesFromTraffic(text, {
    ...options,
    source,
    onMalformed: (error) => malformed.push(error),
    onLeftOut: () => {
      leftOut += 1;
    },
  });
  const [first] = malformed;
  if (first !== undefined)
    printError(`${plural(malformed.length, 'record')} cannot be read. The first: ${first.message}`);
  if (leftOut > 0)
    printError(
      `${plural(leftOut, 'record is', 'records are')} left out: another one goes on from the same conversation, or is the same.`,
    );
  return found;
}

/**
 * Whether a file holds recorded traffic, judged by its first trajectory or chat. Runs record lines, so a JSON list is traffic.
 *
 * @throws FormatError for a file that begins like a JSON list and is not one.
 */
export async function isTraffic(path: string): Promise<boolean> {
  if (await beginsWithList(path)) {
    await requireList(path);
    return true;
  }
  for await (const { value } of readJsonLinesFile(path, { expected: 'one JSON object per line' })) {
    if (isRecord(value) && ('trajectory' in value || 'trajectories' in value || 'task' in value))
      return false;
    if (recordedExchanges(value) !== undefined) return true;
  }
  return false;
}

async function beginsWithList(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536, 0);
  return buffer.toString('utf8', 0, bytesRead).trim().startsWith('[');
}

async function requireList(path: string): Promise<void> {
  try {
    JSON.parse((await readFile(path, 'utf8')).trim());
  } catch (cause) {
    throw new FormatError(
      `${path} begins with "[" but is no JSON list: ${messageOf(cause).split('\n')[0]}; correct it, or write one JSON object per line`,
      { cause },
    );
  }
}
