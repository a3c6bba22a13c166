import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { FormatError, nearNames } from '@rlp/core';
import { cellsOf, columnsOf, Dataset, type DatasetEntry, type DatasetFields, tasksFrom } from '@rlp/data';
import { loadDataset } from '@rlp/data/datasets';
import type { DescribedData } from '../../config/data-schema.ts';
import { type RunRow, toolsIn } from './rows.ts';

/** Rows of files as {@link DescribedData} describes them. */
export interface FileRowsOptions extends Pick<DescribedData, 'split' | 'config' | 'template'> {
  readonly fields?: DescribedData['fields'] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the rows of a file or a folder. @throws FormatError naming file, line and column. */
export async function fileRows(
  path: string,
  { split, config, fields = {}, template = '{prompt}', signal }: FileRowsOptions,
): Promise<RunRow[]> {
  const dataset = await loadDataset(path, { split, config, fields, signal });
  const isCorpus = await holdsTextAlone(dataset, fields);
  const rows = withNamedColumns(withinHeap(dataset), fields);
  const tasks = await tasksFrom<Readonly<Record<string, unknown>>>(rows, { signal });
  return tasks.map(({ id, prompt, metadata }) => {
    const answer = textOf(metadata.answer);
    const tools = toolsIn(metadata);
    const completion = textOf(metadata.completion) ?? answer ?? (tools.toolCalls && '');
    return {
      id,
      prompt: typeof prompt === 'string' ? template.replaceAll('{prompt}', () => prompt) : prompt,
      ...(completion !== undefined && { completion }),
      ...(isCorpus && completion === undefined && { isCorpus }),
      ...tools,
      metadata: { ...metadata, ...{ answer } },
      source: path,
    };
  });
}

/** The dataset, which ends with an error if no row has a column that the user named. */
function withNamedColumns(dataset: Dataset, fields: DatasetFields): Dataset {
  const open = async function* (skip: number) {
    const unseen = new Map<string, string>();
    for (const [role, column] of Object.entries(fields))
      if (typeof column === 'string') unseen.set(role, column);
    let names: readonly string[] | undefined;
    for await (const batch of dataset.batches({ cursor: skip })) {
      for (const [role, column] of unseen) {
        if (batch.some(({ row }) => cellsOf(row, column).length > 0)) unseen.delete(role);
      }
      names ??= batch[0] && Object.keys(batch[0].row);
      yield batch;
    }
    if (names === undefined) return;
    for (const [role, column] of unseen) {
      const [near] = nearNames(column, names, (name) => name);
      throw new FormatError(
        `${dataset.name}: expected the column ${column}, which fields.${role} names, and no row has it; ` +
          `${near === undefined ? '' : `did you mean ${near}? `}the rows have ${names.join(', ')}`,
      );
    }
  };
  return new Dataset({ name: dataset.name, open });
}

/** Whether the first row has a column `text`, which nobody named a prompt, and nothing to answer it. */
async function holdsTextAlone(dataset: Dataset, fields: DatasetFields): Promise<boolean> {
  for await (const row of dataset) {
    const { prompt, answer, messages } = columnsOf(row, fields);
    return prompt === 'text' && fields.prompt === undefined && (answer ?? messages) === undefined;
  }
  return false;
}

/** Share of the heap that rows may fill. They are copied once, and the run needs room too. */
const rowsShare = 0.5;

/** The dataset, whose rows end with an error when they fill the heap. */
export function withinHeap(dataset: Dataset, heapBytes = getHeapStatistics().heap_size_limit): Dataset {
  const open = async function* (skip: number) {
    for await (const batch of dataset.batches({ cursor: skip })) {
      const most = rowsShare * heapBytes;
      if (usedBytes() > most && collectedBytes() > most) throw tooMany(batch[0]!, heapBytes);
      yield batch;
    }
  };
  return new Dataset({ name: dataset.name, open });
}

const usedBytes = () => getHeapStatistics().used_heap_size;

/** What is used once garbage is gone, of which reading leaves much. */
function collectedBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return usedBytes();
}

function tooMany({ place, number, origin }: DatasetEntry<unknown>, heapBytes: number): FormatError {
  const slice = `${origin.name}[0:${10 ** Math.floor(Math.log10(number))}]`;
  return new FormatError(
    `${place}: expected rows that fit in memory, but half of Node's heap of ${(heapBytes / 1e9).toFixed(1)} GB is full here; ` +
      `take a slice, as in ${slice}, or start with NODE_OPTIONS=--max-old-space-size=16000`,
  );
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
