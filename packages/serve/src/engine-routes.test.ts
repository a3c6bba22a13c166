import { setTimeout as pause } from 'node:timers/promises';
import { chatAgentPolicy } from '@rlp/inference/openai';
import { afterAll, describe, expect, it } from 'vitest';
import { type ModelServer, serveModel } from './index.ts';
import { byteChatTokenizer, calling, scriptedPolicy, served, weather } from './served.fixture.ts';
import { letterTokenizer, tinyPolicy } from './tiny.fixture.ts';

type Server = Pick<ModelServer, 'url' | 'token'>;
type Json = Record<string, never>;

const ask = async ({ url, token }: Server, path: string, body?: unknown, method = 'POST') => {
  const init = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(url + path, { method: body === undefined ? method : 'POST', headers, ...init });
  const text = await answer.text();
  return {
    status: answer.status,
    text,
    json: (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : {}) as Json,
  };
};

const { policy, folder, close } = await tinyPolicy();
const tiny = await serveModel({ policy, name: 'tiny', folder });
afterAll(async () => {
  await tiny.close();
  await close();
});
const prompt = letterTokenizer.encode('once');

describe("vLLM's routes", () => {
  it('count tokens of text and of conversations, and turn them back', async () => {
    const server = await served(scriptedPolicy(['a']));
    const text = await ask(server, '/tokenize', { model: 'tiny', prompt: 'Grüezi', return_token_strs: true });
    expect(text.json).toMatchObject({
      count: 7,
      tokens: [...Buffer.from('Grüezi')].map(() => expect.any(Number)),
    });
    const back = await ask(server, '/detokenize', { model: 'tiny', tokens: text.json.tokens });
    expect(back.json).toEqual({ prompt: 'Grüezi' });
    const messages = [{ role: 'user', content: 'Hi' }];
    const chat = await ask(server, '/tokenize', { messages, tools: [weather] });
    const shown = byteChatTokenizer.decode(chat.json.tokens!, { specialTokens: 'keep' });
    expect(shown).toContain('weather');
    expect(shown).toMatch(/<\|assistant\|>$/);
  });

  it('let requests wait while they are paused', async () => {
    const server = await served(scriptedPolicy(['Yes.']));
    await ask(server, '/pause?mode=wait', {});
    expect((await ask(server, '/is_paused', undefined, 'GET')).json).toEqual({ is_paused: true });
    let isDone = false;
    const asking = ask(server, '/v1/completions', { model: 'tiny', prompt: 'a' }).finally(() => {
      isDone = true;
    });
    await pause(50);
    expect(isDone).toBe(false);
    await ask(server, '/resume', {});
    expect((await asking).status).toBe(200);
  });

  it('give logprobs that agree with those of the whole vocabulary', async () => {
    const body = {
      model: 'tiny',
      prompt,
      max_tokens: 3,
      logprobs: 4,
      seed: 1,
      return_tokens_as_token_ids: true,
    };
    const { json } = await ask(tiny, '/v1/completions', body);
    const { choices } = json as unknown as {
      choices: {
        logprobs: { tokens: string[]; token_logprobs: number[]; top_logprobs: Record<string, number>[] };
      }[];
    };
    const { tokens, token_logprobs, top_logprobs } = choices[0]!.logprobs;
    for (const [t, top] of top_logprobs.entries()) {
      expect(Object.keys(top).length).toBeGreaterThanOrEqual(4);
      expect(top[tokens[t]!]).toBeCloseTo(token_logprobs[t]!, 4);
      expect(Object.values(top).reduce((sum, logprob) => sum + Math.exp(logprob), 0)).toBeLessThan(1.0001);
    }
  });

  it('score a prompt that is echoed', async () => {
    const body = { model: 'tiny', prompt, max_tokens: 0, echo: true, logprobs: 0 };
    const { choices } = (await ask(tiny, '/v1/completions', body)).json as unknown as {
      choices: { text: string; logprobs: { token_logprobs: (number | null)[] } }[];
    };
    expect(choices[0]!.text).toBe('once');
    const [scores] = await policy.scoreTokens([{ prompt: prompt.slice(0, 1), completion: prompt.slice(1) }]);
    expect(choices[0]!.logprobs.token_logprobs[0]).toBeNull();
    expect(choices[0]!.logprobs.token_logprobs.slice(1)).toEqual([...scores!.logprobs]);
  });

  it('go on past the end of the text if asked to', async () => {
    const body = {
      model: 'tiny',
      prompt,
      max_tokens: 40,
      ignore_eos: true,
      n: 3,
      seed: 5,
      return_token_ids: true,
    };
    const { choices } = (await ask(tiny, '/v1/completions', body)).json as unknown as {
      choices: { token_ids: number[]; finish_reason: string }[];
    };
    for (const { token_ids, finish_reason } of choices) {
      expect([token_ids.length, finish_reason]).toEqual([40, 'length']);
    }
  });

  it.each([
    ['/v1/load_lora_adapter', { lora_name: 'a', lora_path: '/nowhere' }, 400, /nowhere/],
    ['/v1/load_lora_adapter', { lora_name: 'tiny', lora_path: '/nowhere' }, 400, /already been loaded/],
    ['/v1/unload_lora_adapter', { lora_name: 'a' }, 404, /cannot be found/],
    ['/v1/unload_lora_adapter', { lora_name: 'tiny' }, 404, /cannot be found/],
    ['/collective_rpc', { method: 'shell' }, 400, /reload_weights/],
    ['/collective_rpc', { method: 'reload_weights', kwargs: { weights_path: '/nowhere' } }, 400, /nowhere/],
    ['/inference/v1/generate', { token_ids: [999_999], sampling_params: {} }, 400, /outside the vocabulary/],
    ['/inference/v1/generate', { token_ids: [], sampling_params: {} }, 400, /at least one token/],
    ['/v1/completions', { prompt: 'a', n: 2, best_of: 5 }, 400, /best_of/],
    ['/v1/completions', { prompt: ['a', 'b'.repeat(100)] }, 400, /shorten/],
    ['/v1/completions', { prompt: 'a', logit_bias: { 5: 1 } }, 400, /not supported/],
    ['/v1/completions', { prompt: 'a', structured_outputs: { regex: 'a+' } }, 400, /not constrained/],
    ['/v1/completions', { prompt: 'a', response_format: { type: 'json_object' } }, 400, /not constrained/],
    ['/generate', { text: 'a', sampling_params: { ebnf: 'root ::= "a"' } }, 400, /not constrained/],
    ['/v1/completions', [], 400, /expected an object, got an empty list.*"param":null/],
    ['/v1/responses', { input: 'a', background: true }, 400, /background: .*"param":"background"/],
  ])('refuse %s with %j', async (path, body, status, message) => {
    const answer = await ask(tiny, path, body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringMatching(message)]);
    expect((await ask(tiny, '/v1/completions', { prompt: 'a', max_tokens: 1 })).status).toBe(200);
  });
});

describe("SGLang's routes", () => {
  const sampling_params = { max_new_tokens: 4, temperature: 1, sampling_seed: 3 };

  it('answer lists with lists, and streams with all so far', async () => {
    const both = await ask(tiny, '/generate', { input_ids: [prompt, prompt], sampling_params });
    expect(both.json).toMatchObject([
      { meta_info: { completion_tokens: 4 } },
      { output_ids: expect.any(Array) },
    ]);
    const stream = await ask(tiny, '/generate', {
      text: 'once',
      sampling_params,
      stream: true,
      return_logprob: true,
    });
    const events = stream.text.split('\n\n').filter((line) => line.startsWith('data: {'));
    const last = JSON.parse(events.at(-1)!.slice(6));
    const whole = await ask(tiny, '/generate', { text: 'once', sampling_params, return_logprob: true });
    expect(last.output_ids).toEqual(whole.json.output_ids);
    expect(last.meta_info.output_token_logprobs).toHaveLength(4);
    expect(events.length).toBeGreaterThan(1);
    expect(stream.text).toMatch(/data: \[DONE\]\n\n$/);
  });

  it('end a request by its name', async () => {
    const server = await served(scriptedPolicy(['Yes.']));
    await ask(server, '/pause_generation', {});
    const asking = ask(server, '/generate', { text: 'a', rid: 'mine', sampling_params });
    const other = ask(server, '/generate', { text: 'a', rid: 'other', sampling_params });
    await pause(30);
    expect((await ask(server, '/abort_request', { rid: 'mine' })).status).toBe(200);
    expect((await asking).json).toMatchObject({ meta_info: { finish_reason: { type: 'abort' } } });
    await ask(server, '/continue_generation', {});
    expect((await other).json).toMatchObject({ text: 'Yes.' });
  });

  it('say in the body whether new weights were taken', async () => {
    const broken = await ask(tiny, '/update_weights_from_disk', {
      model_path: '/nowhere',
      weight_version: '9',
    });
    expect([broken.status, broken.json]).toEqual([
      400,
      { success: false, message: expect.stringMatching(/nowhere/) },
    ]);
    expect((await ask(tiny, '/get_weight_version', undefined, 'GET')).json).not.toEqual({
      weight_version: '9',
    });
    const body = { model_path: folder, weight_version: 'named' };
    expect((await ask(tiny, '/update_weights_from_disk', body)).json).toMatchObject({ success: true });
    expect((await ask(tiny, '/get_weight_version', undefined, 'GET')).json).toEqual({
      weight_version: 'named',
    });
  });
});

describe('@rlp/inference/openai', () => {
  it('decides by the calls of the served model', async () => {
    const { url, token } = await served(scriptedPolicy([calling('Bern')]));
    const agent = chatAgentPolicy({ url: `${url}/v1`, token, model: 'tiny' });
    expect(await agent.getAction('Weather?', [weather])).toMatchObject({
      action: { type: 'tool_call', name: 'weather', arguments: '{"city":"Bern"}' },
    });
  });
});
