import fc from 'fast-check';
import { expect, it } from 'vitest';
import { calling, scriptedPolicy, served, weather } from './served.fixture.ts';

const chat = {
  ...{ model: 'tiny', messages: [{ role: 'user', content: 'Hi' }], tools: [weather], tool_choice: 'auto' },
  ...{
    stream: true,
    n: 2,
    logprobs: true,
    top_logprobs: 1,
    max_tokens: 5,
    stop: ['x'],
    seed: 1,
    temperature: 1,
  },
};
/** A body that each route takes. */
const bodies: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  '/v1/chat/completions': chat,
  '/v1/completions': {
    model: 'tiny',
    prompt: [1, 2],
    echo: true,
    logprobs: 1,
    n: 2,
    max_tokens: 4,
    stream: false,
  },
  '/v1/responses': { model: 'tiny', input: 'Hi', tools: [], stream: true, include: [], max_output_tokens: 4 },
  '/v1/messages': {
    ...{
      model: 'tiny',
      max_tokens: 4,
      messages: chat.messages,
      system: 'a',
      stop_sequences: ['x'],
      stream: true,
    },
    ...{ tools: [{ name: 'weather', input_schema: {} }], tool_choice: { type: 'any' }, temperature: 1 },
  },
  '/inference/v1/generate': { token_ids: [1, 2], sampling_params: { max_tokens: 4, n: 2, logprobs: 1 } },
  '/generate': { input_ids: [1, 2], sampling_params: { max_new_tokens: 4 }, return_logprob: true, rid: 'a' },
  '/tokenize': { prompt: 'a', messages: chat.messages, tools: [], add_special_tokens: true },
  '/detokenize': { tokens: [1, 2] },
  '/v1/load_lora_adapter': { lora_name: 'tiny', lora_path: '/nowhere' },
  '/collective_rpc': { method: 'none', kwargs: {} },
  '/pause_generation': { mode: 'none' },
};

/** Values that no field expects. */
const odd = fc.oneof(
  fc.constantFrom(
    null,
    '',
    -1,
    0,
    1.5,
    1e30,
    true,
    [],
    {},
    [[]],
    [null],
    { type: 'text' },
    '\uD800',
    'x'.repeat(300),
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

it('answers no body with an error of the server', async () => {
  const server = await served(scriptedPolicy([calling('Bern'), 'plain']));
  const headers = { authorization: `Bearer ${server.token}` };
  const cases = fc.constantFrom(...Object.keys(bodies)).chain((path) => {
    const fields = Object.keys(bodies[path]!);
    const change = fc.tuple(fc.constantFrom(...fields), odd);
    return fc.tuple(fc.constant(path), fc.array(change, { maxLength: 2 }));
  });
  await fc.assert(
    fc.asyncProperty(cases, async ([path, changes]) => {
      const body = JSON.stringify({ ...bodies[path], ...Object.fromEntries(changes) });
      const answer = await fetch(server.url + path, { method: 'POST', headers, body });
      const text = await answer.text();
      // A body without a mode pauses the server.
      if (path === '/pause_generation')
        await fetch(`${server.url}/continue_generation`, { method: 'POST', headers });
      expect(answer.status, text).toBeLessThan(500);
      expect(text).not.toContain('the server failed');
    }),
    { numRuns: 150 },
  );
});
