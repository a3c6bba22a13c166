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

it.each([
  [
    'prompt',
    'quest',
    /rows\.jsonl, line 1: .* in the column quest, got nothing; .*; correct fields\.prompt; did you mean question\?$/,
  ],
  [
    'answer',
    'anser',
    /the column anser, which fields\.answer names, and no row has it; did you mean answer\? the rows have question, answer$/,
  ],
  ['tools', 'functions', /which fields\.tools names, and no row has it; the rows have question, answer$/],
])('names the role %s of a column that no row has', async (role, column, message) => {
  const path = join(await madeFolder(), 'rows.jsonl');
  await writeFile(path, '{"question":"a?","answer":"1"}\n{"question":"b?","answer":"2"}\n');
  await expect(loadRows({ path, fields: { [role]: column } }, { seed: '0' })).rejects.toThrow(message);
});

it('takes a row without a named column for a mistake in the row, if others have it', async () => {
  const path = join(await madeFolder(), 'rows.jsonl');
  await writeFile(path, '{"query":"a?"}\n{"answer":"2"}\n');
  await expect(loadRows({ path, fields: { prompt: 'query' } }, { seed: '0' })).rejects.toThrow(
    /line 2: .* leave it out with `filter`, or correct fields\.prompt$/,
  );
});

it('asks for rows of an empty file first, and for no column that is left undefined', async () => {
  const path = join(await madeFolder(), 'rows.jsonl');
  await writeFile(path, '\n');
  await expect(loadRows({ path, fields: { prompt: 'q' } }, { seed: '0' })).rejects.toThrow(
    'expected rows, got none',
  );
  await writeFile(path, '{"q":"a?"}\n');
  const read = loadRows({ path, fields: { prompt: 'q', answer: undefined } }, { seed: '0' });
  expect(await read).toMatchObject([{ prompt: 'a?' }]);
});

it('ends with the place at which rows fill the heap', async () => {
  const rows = Array.from({ length: 3000 }, (_, n) => ({ n }));
  const dataset = withinHeap(datasetOf(rows, { name: 'big.jsonl' }), 1);
  await expect(dataset.toArray()).rejects.toThrow(
    /^big\.jsonl, row 1: expected rows that fit in memory, .*; take a slice, as in big\.jsonl\[0:1\]/,
  );
  expect(await withinHeap(datasetOf(rows)).count()).toBe(3000);
});
