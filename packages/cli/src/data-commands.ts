import { ArgumentError, plural, terminalText } from '@rlp/core';
import { columnsOf, type Dataset, type DatasetFields, type DatasetRow, datasetOf } from '@rlp/data';
import { loadDataset } from '@rlp/data/datasets';
import { loadTokenizer } from '@rlp/models';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { type ColumnStatistics, datasetStatistics, type LengthCounting } from './dataset-statistics.ts';
import { fieldsArg, fieldsOf } from './fields-flag.ts';
import { readTraffic } from './read-traffic.ts';
import { UsageError } from './usage-error.ts';

const shared = {
  source: {
    type: 'positional',
    description: 'File, folder or name of the hub; a slice may follow, as in rows.jsonl[0:500]',
    required: true,
  },
  split: { type: 'string', description: 'Split, such as test or train[:10%]', valueHint: 'NAME' },
  config: { type: 'string', description: 'Configuration of a folder with several', valueHint: 'NAME' },
  ...fieldsArg,
  traffic: {
    type: 'boolean',
    description: 'The file is recorded traffic: a log of OpenAI, Anthropic, OpenTelemetry or the AI SDK',
  },
  json: { type: 'boolean', description: 'Print the result as JSON' },
} as const;

/** `rlp data preview`. */
export const previewCommand = defineCommand({
  meta: { name: 'preview', description: 'Show the first rows of a dataset and how its columns are read' },
  args: {
    ...shared,
    rows: { type: 'string', description: 'Rows to show', default: '3', valueHint: 'N' },
  },
  async run({ args, data }) {
    const { print, signal, printError } = data as CliContext;
    const count = Number(args.rows);
    if (!Number.isInteger(count) || count < 1) {
      throw new UsageError(`rlp data preview: --rows must be a whole number of at least 1, got ${args.rows}`);
    }
    const { dataset, fields } = await opened(args, { signal, printError });
    const shown: { place: string; row: DatasetRow }[] = [];
    for await (const batch of dataset.slice(0, count).batches({ signal })) {
      shown.push(...batch.map(({ place, row }) => ({ place, row })));
    }
    if (shown.length === 0)
      throw new ArgumentError(
        `rlp data preview: ${dataset.name} contains no rows; look at the file, the split and the slice`,
      );
    const rows = shown.map(({ row }) => row);
    for (const column of missingColumns(fields, rows))
      printError(
        `No row that is shown has the column ${column}. The first has ${Object.keys(rows[0]!).join(', ')}.`,
      );
    const columns = columnsOf(shown[0]!.row, fields);
    if (args.json) return print(JSON.stringify({ columns, rows: shown }));
    const read = Object.entries(columns).map(([role, column]) => `${role} from ${column}`);
    print(`${dataset.name}: ${read.join(', ') || 'no column is recognised; name them with --fields'}`);
    for (const { place, row } of shown) {
      print(`\n${place}`);
      for (const [name, value] of Object.entries(row)) print(`  ${name}: ${shortened(value)}`);
    }
  },
});

/** `rlp data stats`. */
export const statsCommand = defineCommand({
  meta: { name: 'stats', description: 'Count rows, kinds of values, lengths, duplicates and empty fields' },
  args: {
    ...shared,
    tokenizer: {
      type: 'string',
      description: 'Folder with tokenizer.json, to count lengths in tokens',
      valueHint: 'DIR',
    },
  },
  async run({ args, data }) {
    const { print, signal, printError } = data as CliContext;
    const { dataset, fields } = await opened(args, { signal, printError });
    const result = await datasetStatistics(dataset, {
      fields,
      signal,
      ...(await countingBy(args.tokenizer)),
    });
    if (args.json) return print(JSON.stringify({ name: dataset.name, ...result }));
    print(`${dataset.name}: ${plural(result.rows, 'row')}, ${result.duplicates} of them duplicates`);
    for (const column of result.columns) print(described(column));
  },
});

interface Choice {
  readonly source: string;
  readonly split?: string | undefined;
  readonly config?: string | undefined;
  readonly fields?: string | undefined;
  readonly traffic?: boolean | undefined;
}

async function opened(
  { source, split, config, fields: named, traffic }: Choice,
  { signal, printError }: Pick<CliContext, 'signal' | 'printError'>,
): Promise<{ readonly dataset: Dataset; readonly fields: DatasetFields }> {
  const fields = fieldsOf(named) ?? {};
  if (traffic === true) {
    const other = Object.entries({ split, config }).find(([, value]) => value !== undefined)?.[0];
    if (other !== undefined)
      throw new UsageError(`rlp data: --${other} has no effect with --traffic; leave it out`);
    const found = await readTraffic(source, { printError });
    const rows = found.map(({ id, messages, task }): DatasetRow => ({ id, messages, ...task.metadata }));
    return { fields, dataset: datasetOf(rows, { name: source }) };
  }
  return { fields, dataset: await loadDataset(source, { split, config, fields, signal }) };
}

/** Columns that were named and that no row has. A dot leads into an object or a list. */
function missingColumns(fields: DatasetFields, rows: readonly DatasetRow[]): string[] {
  const has = (row: DatasetRow, column: string) =>
    Object.hasOwn(row, column) || Object.hasOwn(row, column.split('.')[0]!);
  return Object.values(fields as Record<string, string>).filter(
    (column) => !rows.some((row) => has(row, column)),
  );
}

async function countingBy(folder: string | undefined): Promise<LengthCounting> {
  if (folder === undefined) return { unit: 'characters', count: (text) => text.length };
  const { tokenizer } = await loadTokenizer(folder);
  return { unit: 'tokens', count: (text) => tokenizer.encode(text, { specialTokens: 'none' }).length };
}

function shortened(value: unknown): string {
  const text = terminalText(
    typeof value === 'string' ? value.replaceAll('\n', '\\n') : JSON.stringify(value),
  );
  return text.length > 200 ? `${text.slice(0, 200)}… (${text.length} characters)` : text;
}

function described({ name, roles, kinds, empty, repeated = 0, lengths }: ColumnStatistics): string {
  const parts = [
    Object.entries(kinds)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', '),
    ...(empty > 0 ? [`${empty} empty`] : []),
    ...(repeated > 0 ? [`${repeated} equal to an earlier one`] : []),
    ...(lengths === undefined
      ? []
      : [
          `${lengths.unit}: ${lengths.shortest} to ${lengths.longest}, median ${lengths.median}, 90 % at most ${lengths.ninetieth}`,
        ]),
  ];
  return `  ${name}${roles === undefined ? '' : ` (${roles.join(', ')})`}: ${parts.join('; ')}`;
}
