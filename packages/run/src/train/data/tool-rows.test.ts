import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { loadRows } from './load-rows.ts';

const tools = [{ type: 'function', function: { name: 'light', parameters: { type: 'object' } } }];
const question = { role: 'user', content: 'On!' };
const called = { type: 'function', function: { name: 'light', arguments: { on: true } } };

it('reads calls that are imitated, and the tools that were offered', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'rlp-tools-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'calls.jsonl');
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
