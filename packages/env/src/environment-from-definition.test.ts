import { FormatError, type TaskDefinition } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConversationEnvironment, environmentFromDefinition, tool } from './index.ts';

const definition: TaskDefinition = {
  name: 'trip',
  resourceType: 'conversation',
  baseResourceConfig: { systemPrompt: 'Help.' },
  toolsModulePath: './tools.js',
  rewardFunctionPath: './reward.js',
  initialUserPrompt: 'Bern?',
  terminationPattern: 'DONE',
  goalDescription: 'Say what to take along.',
};
const weather = tool({
  name: 'weather',
  description: 'Weather today.',
  parameters: z.object({}),
  execute: () => 'rain',
});
const reward = () => 1;
const modules: Readonly<Record<string, unknown>> = {
  './tools.js': { tools: [weather] },
  './reward.js': { default: reward },
  './none.js': {},
  './computer.js': { reward: { computeRewards: async () => [] } },
};
const load = async (path: string) => {
  if (path in modules) return modules[path];
  throw new Error('no such file');
};

describe('environmentFromDefinition', () => {
  it('makes what a definition names', async () => {
    const made = await environmentFromDefinition(definition, { load });
    expect(made.reward).toBe(reward);
    expect(made.task).toMatchObject({ id: 'trip', terminationPattern: 'DONE', metadata: definition });
    const state = await made.environment.reset(made.task, 1);
    expect(made.environment.tools?.(state)[0]?.function.name).toBe('weather');
    const next = await made.environment.updateState(state, '<tool_call>{"name": "weather"}</tool_call>');
    expect(made.environment.buildPrompt(next)).toMatchObject([
      { role: 'system', content: 'Help.' },
      { role: 'user', content: 'Bern?' },
      { role: 'assistant' },
      { role: 'tool', content: 'rain' },
    ]);
    await made.close();
  });

  it('takes kinds of worlds that it is given, and closes them', async () => {
    const closed: string[] = [];
    const { environment } = await environmentFromDefinition(definition, { load });
    const made = await environmentFromDefinition(
      { ...definition, resourceType: 'shop', rewardFunctionPath: './computer.js' },
      {
        load,
        resources: {
          shop: async (config, tools) => {
            closed.push(JSON.stringify(config), ...tools.map(({ schema }) => schema.function.name));
            return { environment, close: async () => void closed.push('closed') };
          },
        },
      },
    );
    const unknown = environmentFromDefinition(
      { ...definition, resourceType: 'docker' },
      { load, resources: { shop: () => ({ environment }) } },
    );
    await expect(unknown).rejects.toThrow('resourceType: expected one of conversation, shop, got "docker"');
    await made.close();
    expect(closed).toEqual(['{"systemPrompt":"Help."}', 'weather', 'closed']);
    expect(made.reward).toHaveProperty('computeRewards');
  });

  it.each([
    [
      { toolsModulePath: './away.js' },
      'toolsModulePath "./away.js" of the task "trip" cannot be loaded: no such file',
    ],
    [{ toolsModulePath: './none.js' }, 'expected tools or a default export, an array of what tool() makes'],
    [{ toolsModulePath: './reward.js' }, 'expected tools or a default export'],
    [
      { rewardFunctionPath: './none.js' },
      'expected reward or a default export, a function or a reward computer',
    ],
    [{ resourceType: 'docker' }, 'resourceType: expected one of conversation, got "docker"'],
    [{ resourceType: 'constructor' }, 'resourceType: expected one of conversation'],
    [{ terminationPattern: '(' }, 'terminationPattern'],
    [{ baseResourceConfig: { maxTurns: 0 } }, 'maxTurns'],
    [{ baseResourceConfig: { maxTurn: 3 } }, 'maxTurns'],
    [{ rewardFunction: './x.js' }, 'rewardFunction'],
  ])('refuses %o', async (change, message) => {
    await expect(environmentFromDefinition({ ...definition, ...change }, { load })).rejects.toThrow(message);
  });
});

const part = { schema: weather.schema, run: weather.run };
const loaded = (modules: Readonly<Record<string, unknown>>, change: Partial<TaskDefinition> = {}) =>
  environmentFromDefinition(
    { ...definition, ...change },
    { load: (path) => ({ './tools.js': { tools: [weather] }, './reward.js': { reward }, ...modules })[path] },
  );

it.each<[unknown, boolean]>([
  [{ tools: [part] }, true],
  [{ default: [weather] }, true],
  [{ tools: undefined, default: [weather] }, true],
  [undefined, false],
  [null, false],
  ['tools', false],
  [[weather], false],
  [{ tools: weather }, false],
  [{ tools: [] }, false],
  [{ tools: [weather, undefined] }, false],
  [{ tools: [weather, { ...part, run: undefined }] }, false],
  [{ tools: [{ ...part, schema: undefined }] }, false],
  [{ tools: 7, default: [weather] }, false],
])('a tools module %j has tools: %s', async (module, isFine) => {
  const made = loaded({ './tools.js': module });
  if (isFine) await expect(made).resolves.toHaveProperty('environment.tools');
  else
    await expect(made).rejects.toThrow(
      new FormatError(
        'environmentFromDefinition: toolsModulePath "./tools.js" of the task "trip": expected tools or a default export, an array of what tool() makes',
      ),
    );
});

it.each<[unknown, boolean]>([
  [{ reward, default: 1 }, true],
  [{ default: reward }, true],
  [{ default: { computeRewards: reward } }, true],
  [undefined, false],
  [null, false],
  [reward, false],
  [{ reward: 1, default: reward }, false],
  [{ reward: { computeRewards: 1 } }, false],
  [{ reward: {} }, false],
])('a reward module %j has a reward: %s', async (module, isFine) => {
  const made = loaded({ './reward.js': module });
  if (isFine) await expect(made).resolves.toHaveProperty('reward');
  else
    await expect(made).rejects.toThrow(
      new FormatError(
        'environmentFromDefinition: rewardFunctionPath "./reward.js" of the task "trip": expected reward or a default export, a function or a reward computer',
      ),
    );
});

it('a definition without a tools module has no tools', async () => {
  const { environment, close } = await loaded({}, { toolsModulePath: undefined });
  expect(environment).toBeInstanceOf(ConversationEnvironment);
  await expect(close()).resolves.toBeUndefined();
});

it('says why a module cannot be loaded, with the cause', async () => {
  const cause = new Error('no such file');
  await expect(
    environmentFromDefinition(definition, { load: () => Promise.reject(cause) }),
  ).rejects.toMatchObject({
    message:
      'environmentFromDefinition: rewardFunctionPath "./reward.js" of the task "trip" cannot be loaded: no such file',
    cause,
  });
});
