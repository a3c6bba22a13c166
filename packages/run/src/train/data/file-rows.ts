import { tasksFrom } from '@rlp/data';
import { loadDataset } from '@rlp/data/datasets';
import type { DescribedData } from '../../config/data-schema.ts';
import { type RunRow, toolsIn } from './rows.ts';

/** Rows of files as {@link DescribedData} describes them. */
export interface FileRowsOptions extends Pick<DescribedData, 'split' | 'template'> {
  readonly fields?: DescribedData['fields'] | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Reads the rows of a file or a folder. @throws FormatError naming file, line and column. */
export async function fileRows(
  path: string,
  { split, fields = {}, template = '{prompt}', signal }: FileRowsOptions,
): Promise<RunRow[]> {
  const dataset = await loadDataset(path, { split, fields });
  const tasks = await tasksFrom<Readonly<Record<string, unknown>>>(dataset, { signal });
  return tasks.map(({ id, prompt, metadata }) => {
    const answer = textOf(metadata.answer);
    const tools = toolsIn(metadata);
    const completion = textOf(metadata.completion) ?? answer ?? (tools.toolCalls && '');
    return {
      id,
      prompt: typeof prompt === 'string' ? template.replaceAll('{prompt}', () => prompt) : prompt,
      ...(completion !== undefined && { completion }),
      ...tools,
      metadata: { ...metadata, ...{ answer } },
    };
  });
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
