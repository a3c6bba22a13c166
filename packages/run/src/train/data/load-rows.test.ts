import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { datasetOf } from '@rlp/data';
import { expect, it, onTestFinished } from 'vitest';
import { withinHeap } from './file-rows.ts';
import { loadRows } from './load-rows.ts';

const tools = [{ type: 'function', function: { name: 'light', parameters: { type: 'object' } } }];
const question = { role: 'user', content: 'On!' };
const called = { type: 'function', function: { name: 'light', arguments: { on: true } } };

async function madeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rlp-rows-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

it('reads calls that are imitated, and the tools that were offered', async () => {
  const path = join(await madeFolder(), 'calls.jsonl');
  const answer = { role: 'assistant', content: null, tool_calls: [called] };
  await writeFile(path, `${JSON.stringify({ messages: [question, answer], tools })}\n`);
  const [row] = await loadRows(path, { seed: '0' });
  expect(row).toMatchObject({ prompt: [question], completion: '', tools });
  expect(row!.toolCalls).toMatchObject([{ function: { name: 'light', arguments: '{"on":true}' } }]);
});

it('reads the tools of tasks', async () => {
  const [row] = await loadRows([{ id: 'a', prompt: 'On!', metadata: { answer: 'Yes.', tools } }], {
    seed: '0',
  });
  expect(row).toMatchObject({ completion: 'Yes.', tools });
});

it('reads one of the configurations of a folder', async () => {
  const path = await madeFolder();
  for (const config of ['main', 'socratic']) {
    await mkdir(join(path, config));
    await writeFile(join(path, config, 'train.jsonl'), `{"question":"${config}?"}\n`);
  }
  expect(await loadRows({ path, config: 'socratic' }, { seed: '0' })).toMatchObject([
    { prompt: 'socratic?' },
  ]);
  await expect(loadRows(path, { seed: '0' })).rejects.toThrow(/main, socratic, none was named; pass config/);
});

it('ends with the place at which rows fill the heap', async () => {
  const rows = Array.from({ length: 3000 }, (_, n) => ({ n }));
  const dataset = withinHeap(datasetOf(rows, { name: 'big.jsonl' }), 1);
  await expect(dataset.toArray()).rejects.toThrow(
    /^big\.jsonl, row 1: expected rows that fit in memory, .*; take a slice, as in big\.jsonl\[0:1\]/,
  );
  expect(await withinHeap(datasetOf(rows)).count()).toBe(3000);
});
