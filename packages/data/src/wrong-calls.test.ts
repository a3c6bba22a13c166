import { ArgumentError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { loadDataset } from './datasets.ts';
import { readJsonLinesFile, readRotated } from './files.ts';
import { hubSnapshot } from './hub/hub-snapshot.ts';
import * as data from './index.ts';
import { readParquetFile } from './parquet.ts';
import * as store from './store.ts';
import { trajectoriesFromTraffic, trajectoryOfExchange } from './traffic.ts';

const right = { text: 'a', function: () => undefined, object: {} };
const wanted = { text: 'text', function: 'a function', object: 'an object' };

type Callee = (...given: never[]) => unknown;

/** Calls, and waits for the first value. */
async function called(callee: Callee, given: readonly unknown[]): Promise<unknown> {
  const made = callee(...(given as never[]));
  return made !== null && typeof made === 'object' && Symbol.asyncIterator in made
    ? (made as AsyncIterable<unknown>)[Symbol.asyncIterator]().next()
    : made;
}

/** Functions with their arguments and what each has to be. */
const callees: readonly (readonly [string, Callee, Readonly<Record<string, keyof typeof right>>])[] = [
  ['continueNumbered', store.continueNumbered, { directory: 'text', host: 'object' }],
  ['directoryHolder', store.directoryHolder, { directory: 'text', host: 'object' }],
  ['holdDirectory', store.holdDirectory, { directory: 'text', host: 'object' }],
  ['newestNumbered', store.newestNumbered, { directory: 'text', host: 'object' }],
  ['readText', store.readText, { files: 'object', path: 'text' }],
  ['recoverDirectory', store.recoverDirectory, { directory: 'text', host: 'object' }],
  ['verifyDirectory', store.verifyDirectory, { directory: 'text', options: 'object' }],
  ['verifyRun', store.verifyRun, { directory: 'text', host: 'object' }],
  ['writeDirectory', store.writeDirectory, { directory: 'text', write: 'function', host: 'object' }],
  ['writeTextFile', store.writeTextFile, { path: 'text', text: 'text', host: 'object' }],
  ['readJsonLinesFile', readJsonLinesFile, { path: 'text', options: 'object' }],
  ['readParquetFile', readParquetFile, { path: 'text', options: 'object' }],
  ['readRotated', readRotated, { path: 'text' }],
  ['datasetOfText', data.datasetOfText, { text: 'text' }],
  ['trajectoriesFromTraffic', trajectoriesFromTraffic, { text: 'text' }],
  [
    'parseCsv',
    (...given) => [...((data.parseCsv as Callee)(...given) as Iterable<unknown>)],
    { text: 'text', options: 'object' },
  ],
];

describe.each(callees)('%s', (owner, callee, kinds) => {
  it.each(Object.entries(kinds))('names a wrong %s, which has to be %s', async (name, kind) => {
    const place = Object.keys(kinds).indexOf(name);
    const given: unknown[] = Object.values(kinds).map((each) => right[each]);
    given[place] = 7;
    const wrong = called(callee, given);
    await expect(wrong).rejects.toThrow(ArgumentError);
    await expect(wrong).rejects.toThrow(`${owner}: ${name} must be ${wanted[kind]}, got 7`);
  });
});

const dataset = data.datasetOf([{ prompt: 'a' }]);
const host = store.nodeHost();
const noWrite = async () => undefined;

it.each<[string, Callee, readonly unknown[]]>([
  ['preferencesFrom: options must be an object, got 7', data.preferencesFrom, [dataset, 7]],
  ['ratingsFrom: options must be an object, got 7', data.ratingsFrom, [dataset, 7]],
  ['tasksFrom: options must be an object, got 7', data.tasksFrom, [dataset, 7]],
  ['demonstrationsFrom: invalid options', data.demonstrationsFrom, [dataset, 7]],
  ['tasksFrom: expected a dataset, got a promise; await it', data.tasksFrom, [Promise.resolve(dataset)]],
  ['expected a dataset, got object; loadDataset and datasetOf make one', data.tasksFrom, [null]],
  ['expected a dataset, got string; loadDataset and datasetOf make one', data.ratingsFrom, ['rows.jsonl']],
  ['datasetOf: expected a list of rows or an AsyncIterable of them, got object', data.datasetOf, [null]],
  ['datasetOf: expected a list of rows or an AsyncIterable of them, got object', data.datasetOf, [{}]],
  ['mixture: parts: invalid options', data.mixture, [7]],
  ['mixture: invalid options', data.mixture, [[{ dataset }], { sed: 'a' }]],
  [
    'loadDataset: expected the path of a file or folder, a name of the hub, or a list of them, got number',
    loadDataset,
    [7],
  ],
  ['loadDataset: expected the path of a file or folder', loadDataset, [['a', 7]]],
  ['Dataset.read: cursor: invalid options', () => dataset.read({ cursor: 0.5 }), []],
  ['Dataset.batches: cursor: invalid options', () => dataset.batches({ cursor: 0.5 }), []],
  ['Dataset.shuffle: invalid options', () => dataset.shuffle({ epoch: -1 }), []],
  ['parseJsonLines: invalid options', () => [...data.parseJsonLines('1', { torn: 1 } as never)], []],
  ['readJsonLines: options must be an object, got 7', data.readJsonLines, [[], 7]],
  ['readJsonLines: maxLineBytes: invalid options', data.readJsonLines, [[], { maxLineBytes: 0 }]],
  ['hubSnapshot: options must be an object, got 7', hubSnapshot, [{ type: 'model', name: 'a/b' }, {}, 7]],
  ['hubSnapshot: name must be text, got undefined', hubSnapshot, [{ type: 'model' }]],
  ['hubSnapshot: type must be text, got 7', hubSnapshot, [{ type: 7, name: 'a/b' }]],
  ['hubSnapshot: invalid options', hubSnapshot, [{ type: 'model', name: 'a/b' }, { revison: 'v1' }]],
  ['expected a name such as openai/gsm8k, got "a/b/c"', hubSnapshot, [{ type: 'model', name: 'a/b/c' }]],
  ['expected a name such as openai/gsm8k, got "a/b..c"', hubSnapshot, [{ type: 'model', name: 'a/b..c' }]],
  ['verifyDirectory: files must be an object, got 7', store.verifyDirectory, ['a', {}, { files: 7 }]],
  ['saveNumbered: directory must be text, got 7', store.saveNumbered, [7, { number: 1 }, noWrite, host]],
  ['saveNumbered: write must be a function, got 7', store.saveNumbered, ['a', { number: 1 }, 7, host]],
  ['saveNumbered: host must be an object, got 7', store.saveNumbered, ['a', { number: 1 }, noWrite, 7]],
  ['saveNumbered: invalid options', store.saveNumbered, ['a', { number: 0.5 }, noWrite, host]],
  ['writeFiles: plan must be an object, got 7', store.writeFiles, [7]],
  ['writeFiles: obsolete[1] must be text, got 7', store.writeFiles, [new Map(), ['a', 7]]],
  ['writeFiles: host must be an object, got 7', store.writeFiles, [new Map(), [], 7]],
  ['trajectoriesFromTraffic: invalid options', trajectoriesFromTraffic, ['', { sorce: 'a' }]],
  ['trajectoryOfExchange: name must be text, got 7', trajectoryOfExchange, [{}, 7]],
  ['trajectoryOfExchange: format must be text, got undefined', trajectoryOfExchange, [{}, 'a']],
  [
    'trajectoryOfExchange: messages must be a list, got 7',
    trajectoryOfExchange,
    [{ format: 'x', messages: 7 }, 'a'],
  ],
])('%s', async (message, callee, given) => {
  await expect(called(callee, given)).rejects.toThrow(message);
});
