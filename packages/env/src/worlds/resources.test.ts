import type { Message, TaskDefinition } from '@rlp/core';
import { expect, it } from 'vitest';
import { folderResource } from '../folder.ts';
import { environmentFromDefinition } from '../index.ts';
import { sqlResource } from '../sql.ts';

const resources = { folder: folderResource(), sql: sqlResource() };
const load = () => ({ reward: () => 1 });
const made = (resourceType: string, baseResourceConfig: TaskDefinition['baseResourceConfig']) =>
  environmentFromDefinition(
    { name: 't', resourceType, baseResourceConfig, rewardFunctionPath: 'r', initialUserPrompt: 'Go.' },
    { load, resources },
  );
const call = (name: string, args: unknown) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;

it.each([
  [
    'folder',
    { files: { 'a.txt': 'x' } },
    call('read_file', { path: 'a.txt' }),
    'x',
    [{ path: 'a.txt', bytes: 1 }],
  ],
  [
    'sql',
    { setup: 'CREATE TABLE t (n); INSERT INTO t VALUES (1)', outcome: 'SELECT n FROM t' },
    call('query', { sql: 'UPDATE t SET n = 2' }),
    '{"columns":[],"rows":[],"changed":1,"isCut":false}',
    [[2]],
  ],
])('a definition sets up a %s', async (type, config, response, result, outcome) => {
  const { environment, task, close } = await made(type, config);
  const state = await environment.updateState(await environment.reset(task, 1), response);
  expect((environment.buildPrompt(state) as readonly Message[]).at(-1)?.content).toBe(result);
  expect(environment.outcome?.(state)).toEqual(outcome);
  await close();
  await expect(async () => environment.reset(task, 1)).rejects.toThrow('the pool is closed');
});

it.each([
  ['folder', { file: {} }, 'files'],
  ['folder', { maxBytes: 'many' }, 'maxBytes'],
  ['sql', { timeoutMs: 0 }, 'timeoutMs'],
])('a wrong configuration of a %s is refused: %o', async (type, config, message) => {
  await expect(made(type, config)).rejects.toThrow(message);
});
