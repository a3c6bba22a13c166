import { readFile } from 'node:fs/promises';
import { FormatError, isRecord, messageOf, type Trajectory } from '@rlp/core';
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
    printError(`${malformed.length} records cannot be read. The first: ${first.message}`);
  if (leftOut > 0)
    printError(
      `${leftOut} records are left out: another one goes on from the same conversation, or says the same.`,
    );
  return found;
}

/** Whether the first line of a file that is a trajectory or recorded traffic is the latter. */
export async function isTraffic(path: string): Promise<boolean> {
  for await (const { value } of readJsonLinesFile(path, { expected: 'one JSON object per line' })) {
    if (isRecord(value) && ('trajectory' in value || 'trajectories' in value || 'task' in value))
      return false;
    if (recordedExchanges(value) !== undefined) return true;
  }
  return false;
}
