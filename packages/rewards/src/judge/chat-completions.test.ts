import type { ServerResponse } from 'node:http';
import { type Message, OptionsError, TimeoutError } from '@rlp/core';
import { RequestError } from '@rlp/http/client';
import { describe, expect, it } from 'vitest';
import { loopback, nowhere } from '../external/loopback.fixture.ts';
import {
  chatCompletionsGenerator,
  pairwiseJudge,
  pointwiseJudge,
  rankingJudge,
  rubricJudge,
} from '../judge.ts';
import { groupAnswering } from '../trajectories.fixture.ts';

interface Request {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly seed: number;
}

const { signal } = new AbortController();
const group = groupAnswering(['hello', 'hello!', 'hello!!'], undefined, {
  task: { id: 'a', prompt: 'Say hello.', metadata: undefined },
});
const once = [{ role: 'user', content: 'Hi' }] as const satisfies Message[];

/** A chat completion as servers write it. */
function complete(response: ServerResponse, message: object, finish_reason = 'stop') {
  const body = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 0,
    model: 'judge-7b',
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason, logprobs: null }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
  response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
}

function fail(response: ServerResponse, status: number, headers: Readonly<Record<string, string>> = {}) {
  response.writeHead(status, headers).end('{"error":{"message":"no","type":"x","code":null}}');
}

/** The verdict of a judge that counts exclamation marks, in whatever form it is asked for. */
function verdictOf({ messages }: Request): string {
  const text = messages.at(-1)!.content;
  const key = /\[BEGIN task ([0-9a-f]{16})\]/.exec(text)![1]!;
  const quotes = text.matchAll(new RegExp(`\\[BEGIN response ?(\\w*) ${key}\\]\\n([^[]*)\\n\\[END`, 'g'));
  const marks = Array.from(quotes, ([, name, quoted]) => [name!, quoted!.split('!').length - 1] as const);
  const [[name, first], other] = [marks[0]!, marks[1]];
  if (name === 'A') {
    const margin = first - other![1];
    return `${key} winner: ${margin === 0 ? 'tie' : margin > 0 ? 'A' : 'B'}`;
  }
  if (name === '1') return marks.map(([number, count]) => `${key} ${number}: ${count / 2}`).join('\n');
  return `Thinking.\n${key} score: ${1 + first}\n${key} tone: ${1 + 2 * first}`;
}

function generatorAt(url: string, options = {}) {
  const backoff = { firstMs: 1, longestMs: 20 };
  return chatCompletionsGenerator({
    url: `${url}v1/chat/completions`,
    model: 'judge-7b',
    backoff,
    ...options,
  });
}

describe('judges over chat completions', () => {
  it('score pointwise, by a rubric, in pairs and as a ranking', async () => {
    const { url, requests, bodies } = await loopback((body: Request, response) => {
      complete(response, { content: verdictOf(body), refusal: null });
    });
    const generator = generatorAt(url, {
      token: 'secret',
      temperature: 0,
      maxTokens: 500,
      body: { top_p: 1 },
    });
    const pointwise = pointwiseJudge({ generator, rubric: 'Joy.', scale: [1, 3] });
    const one = await Promise.all(
      group.trajectories.map((trajectory) => pointwise.reward(trajectory, { signal })),
    );
    expect(one).toEqual([0, 0.5, 1]);
    const criteria = [{ name: 'tone', description: 'is kind' }];
    for (const judge of [
      rubricJudge({ generator, criteria }),
      pairwiseJudge({ generator }),
      rankingJudge({ generator }),
    ]) {
      expect((await judge.computeRewards(group)).map(({ reward }) => reward)).toEqual([0, 0.5, 1]);
    }
    expect(requests[0]).toMatchObject({
      url: '/v1/chat/completions',
      headers: { authorization: 'Bearer secret' },
    });
    expect(bodies[0]).toMatchObject({ model: 'judge-7b', temperature: 0, max_tokens: 500, top_p: 1 });
    const seeds = bodies.map((body) => (body as Request).seed);
    expect(new Set(seeds).size).toBe(seeds.length);
    expect(seeds.every((seed) => Number.isInteger(seed) && seed >= 0 && seed < 2 ** 31)).toBe(true);
  });

  it('ask again after an answer without a verdict, and count one that stays so', async () => {
    let calls = 0;
    const { url } = await loopback((body: Request, response) => {
      calls += 1;
      const text = calls === 1 ? 'I would say eight of ten, more or l' : verdictOf(body);
      complete(response, { content: text }, calls === 1 ? 'length' : 'stop');
    });
    const criteria = [{ name: 'tone', description: 'is kind' }];
    const judge = rubricJudge({ generator: generatorAt(url), criteria, concurrency: 1 });
    expect((await judge.computeRewards(group)).map(({ reward }) => reward)).toEqual([0, 0.5, 1]);
    expect(judge.getStatistics()).toMatchObject({ asked: 3, calls: 4 });

    const vague = await loopback((_: Request, response) => complete(response, { content: 'Hm.' }));
    const pairs = pairwiseJudge({ generator: generatorAt(vague.url) });
    expect((await pairs.computeRewards(group)).map(({ reward }) => reward)).toEqual([null, null, null]);
    expect(pairs.getStatistics()).toMatchObject({ compared: 0, failures: { unparsable: 6 } });
  });

  it('leave a response unscored whose judge refuses, is broken or too slow, and say why', async () => {
    const { url } = await loopback(({ messages }: Request, response) => {
      const text = messages.at(-1)!.content;
      // The longest never gets an answer.
      if (text.includes('hello!!')) return;
      if (text.includes('hello!')) fail(response, 400);
      else complete(response, { content: null, refusal: 'I cannot judge this.' });
    });
    const generator = generatorAt(url, { timeoutMs: 400, attempts: 1 });
    const judge = pointwiseJudge({ generator, rubric: 'Joy.', concurrency: 1 });
    const failures: (string | undefined)[] = [];
    for (const trajectory of group.trajectories) {
      await expect(judge.reward(trajectory, { signal })).rejects.toThrow('pointwiseJudge: http://127.0.0.1');
      failures.push(judge.getStatistics().lastFailure?.replace(/^http:\/\/[^ ]*: /, ''));
    }
    expect(failures).toEqual([
      'the model refused: I cannot judge this.',
      'expected status 200, got 400 ("no"); correct what it names, or check that it is a server of this kind',
      'no answer within 400 ms; raise `timeoutMs`, or ask for less at once',
    ]);
    expect(judge.getStatistics().failures).toEqual({ unparsable: 0, threw: 2, 'timed-out': 1 });
  });
});

describe('chatCompletionsGenerator', () => {
  it.each(['', 'v1', 'v1/', 'v1/chat/completions', 'v1/chat/completions?api-version=2'])(
    'finds the route of chat completions below the address /%s',
    async (path) => {
      const { url, requests } = await loopback((_: Request, response) => {
        complete(response, { content: 'fine' });
      });
      const generate = chatCompletionsGenerator({ url: `${url}${path}`, model: 'm' });
      expect(await generate(once, { seed: 's', signal })).toBe('fine');
      expect(requests[0]!.url).toMatch(/^\/v1\/chat\/completions(\?api-version=2)?$/);
    },
  );

  it.each([
    ['failure', { error: 'engine dead' }, 'got a failure ("engine dead"); see the log of the server'],
    [
      'filtered answer',
      { choices: [{ message: { content: '' }, finish_reason: 'content_filter' }] },
      'the content filter of the server stopped the answer',
    ],
    [
      'thought without an end',
      { choices: [{ message: { content: null }, finish_reason: 'length' }] },
      'the answer was cut before any text; raise `maxTokens`',
    ],
  ])('takes no text from a %s', async (_, body, problem) => {
    const { url } = await loopback((_asked: Request, response) => response.end(JSON.stringify(body)));
    const generate = chatCompletionsGenerator({ url, model: 'm' });
    await expect(generate(once, { seed: 's', signal })).rejects.toThrow(problem);
  });

  it.each([
    [429, { 'retry-after': '1' }, 15],
    [429, {}, 0],
    [503, { 'retry-after-ms': '12' }, 10],
  ])('asks again after %i with %j', async (status, headers, leastMs) => {
    let calls = 0;
    const { url } = await loopback((_: Request, response) => {
      calls += 1;
      if (calls < 3) fail(response, status, headers);
      else complete(response, { content: 'fine' });
    });
    const begun = performance.now();
    expect(await generatorAt(url)(once, { seed: 's', signal })).toBe('fine');
    expect(calls).toBe(3);
    // Twice what the server asks for, or the longest wait.
    expect(performance.now() - begun).toBeGreaterThan(2 * leastMs);
  });

  it('gives up after its attempts, at once where asking again is no use, and hides the token', async () => {
    let calls = 0;
    const { url } = await loopback((_: Request, response) => {
      calls += 1;
      fail(response, calls <= 3 ? 500 : 401);
    });
    const generate = generatorAt(url, { token: 'top-secret' });
    const asking = generate(once, { seed: 's', signal });
    await expect(asking).rejects.toMatchObject({ failure: 'status', status: 500 });
    expect(calls).toBe(3);
    await expect(generate(once, { seed: 's', signal })).rejects.toThrow(
      /expected status 200, got 401 \("no"\); check `token`$/,
    );
    expect(calls).toBe(4);
    await expect(
      generatorAt(`${await nowhere()}/`, { token: 'top-secret' })(once, { seed: 's', signal }),
    ).rejects.toThrow(/^(?!.*top-secret).*ECONNREFUSED/);
  });

  it.each([
    ['{"choices":[]}', 'expected a chat completion with text'],
    ['{"choices":[{"message":{"role":"assistant","content":null}}]}', 'expected a chat completion with text'],
    ['{"choices":[{"text":"a completion"}]}', 'expected a chat completion with text'],
    ['{"error":"overloaded"}', 'expected a chat completion with text'],
    ['null', 'expected a chat completion with text'],
    ['data: {"choices":[]}', 'expected JSON'],
    ['', 'expected JSON'],
  ])('rejects the answer %j', async (text, message) => {
    const { url } = await loopback((_: Request, response) => response.end(text));
    const asking = generatorAt(url)(once, { seed: 's', signal });
    await expect(asking).rejects.toThrow(RequestError);
    await expect(asking).rejects.toThrow(message);
  });

  it('stops waiting when its signal aborts, and rejects with a TimeoutError where the server stays slow', async () => {
    const { url } = await loopback(() => {});
    const controller = new AbortController();
    const asking = generatorAt(url)(once, { seed: 's', signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(asking).rejects.toThrow('enough');
    const slow = generatorAt(url, { timeoutMs: 10, attempts: 2 })(once, { seed: 's', signal });
    await expect(slow).rejects.toThrow(TimeoutError);
  });

  it('names every problem of its options', () => {
    const create = () => chatCompletionsGenerator({ url: 'localhost', model: '', temperature: -1 });
    expect(create).toThrow(OptionsError);
    expect(create).toThrow(/url[\s\S]*model[\s\S]*temperature/);
  });
});
