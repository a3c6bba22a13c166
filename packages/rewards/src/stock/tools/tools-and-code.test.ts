import type { Message, RewardFunction } from '@rlp/core';
import type { CodeOutcome, CodeProgram, CodeRunner } from '@rlp/sandbox';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CodeTest,
  codeTests,
  jsonMatches,
  readToolCalls,
  type ToolCallsOptions,
  toolCalls,
} from '../../stock.ts';
import { answering } from '../../trajectories.fixture.ts';

const { signal } = new AbortController();

function judge<Metadata>(
  reward: RewardFunction<Metadata>,
  metadata: Metadata,
  { response = '', messages = [] }: { response?: string; messages?: readonly Message[] },
): unknown {
  return reward(answering(response, metadata, { messages }), { signal });
}

interface Call {
  readonly name: string;
  readonly arguments: unknown;
}

const calling = (...calls: readonly Call[]): Message[] =>
  calls.map((call, k) => ({
    role: 'assistant',
    content: '',
    tool_calls: [
      {
        id: `${k}`,
        type: 'function',
        function: { name: call.name, arguments: JSON.stringify(call.arguments) },
      },
    ],
  }));

const a = { name: 'book', arguments: { city: 'Bern', nights: 2, guest: { name: 'Ada' } } };
const b = { name: 'pay', arguments: {} };
const more = { name: 'book', arguments: { ...a.arguments, guest: { name: 'Ada', age: 36 } } };

describe('toolCalls', () => {
  const score = (
    made: readonly Call[],
    expected: readonly Call[],
    options: Partial<ToolCallsOptions<Call[]>> = {},
  ) =>
    judge(toolCalls({ expected: (calls: readonly Call[]) => calls, ...(options as object) }), expected, {
      messages: calling(...made),
    });

  it('asks for names, arguments and order', () => {
    expect(score([a, b], [a, b])).toBe(1);
    expect(score([{ ...a, arguments: { nights: 2, guest: { name: 'Ada' }, city: 'Bern' } }], [a])).toBe(1);
    expect(score([b, a], [a, b])).toBe(0);
    expect(score([b, a], [a, b], { order: 'free' })).toBe(1);
    expect(score([a, b, b], [a, b])).toBe(0);
    expect(score([a, b, b], [a, b], { extra: 'allowed' })).toBe(1);
    expect(score([more], [a])).toBe(0);
    expect(score([more], [a], { comparison: 'subset' })).toBe(1);
    expect(score([a], [more], { comparison: 'subset' })).toBe(0);
    expect([score([], []), score([a], []), score([], [a])]).toEqual([1, 0, 0]);
  });

  it.each([
    ['I book it now: CALL', 1],
    ['CALL\nnow it is booked.', 1],
    ['CALL Done.', 1],
    ['```\nCALL\n```', 1],
    ['CALL, CALL', 2],
    ['```\nCALL\n```\nI wait for the result.', 1],
  ])('reads %j, with words around calls, as %d', (written, made) => {
    const content = written.replaceAll('CALL', '<tool_call>{"name": "pay", "arguments": {}}</tool_call>');
    expect(readToolCalls([{ role: 'assistant', content }]).length).toBe(made);
  });

  it('gives shares', () => {
    expect(score([b, a], [a, b], { grading: 'share' })).toBe(0.5);
    expect(score([a, b, b, b], [a, b], { grading: 'share' })).toBe(0.5);
    expect(score([a, b, b, b], [a, b], { grading: 'share', extra: 'allowed' })).toBe(1);
    // In free order `more` must take the expected `a` by subset, and `a` cannot take `more`: one pairing serves both.
    expect(score([more, a], [a, more], { grading: 'share', order: 'free', comparison: 'subset' })).toBe(1);
  });

  it('reads the older form, and takes arguments that are no JSON for wrong ones', () => {
    const messages: Message[] = [
      { role: 'assistant', content: '', function_call: { name: 'pay', arguments: '' } },
      {
        role: 'user',
        content: '',
        tool_calls: [{ id: '1', type: 'function', function: { name: 'x', arguments: '{}' } }],
      },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: '2', type: 'function', function: { name: 'y', arguments: '{' } }],
      },
    ];
    expect(readToolCalls(messages)).toEqual([b, { name: 'y', arguments: undefined }]);
    const said = `I book. <tool_call>${JSON.stringify(a)}</tool_call><tool_call>{"name": "pay"}</tool_call>`;
    expect(readToolCalls([{ role: 'assistant', content: said }])).toEqual([a, b]);
    const none = { tool_calls: null, function_call: null } as object;
    expect(readToolCalls([{ role: 'assistant', content: said, ...none }])).toEqual([a, b]);
    expect(readToolCalls([{ ...calling(b)[0]!, content: said }])).toEqual([b]);
    expect(readToolCalls([{ role: 'user', content: said }])).toEqual([]);
    expect(readToolCalls([{ role: 'assistant', content: '<!-- x --> No.' }])).toEqual([]);
    const reward = toolCalls({ expected: () => [b, { name: 'y', arguments: {} }] });
    expect(judge(reward, undefined, { messages })).toBe(0);
  });

  it('takes expected calls as the API has them, and names those that it cannot read', () => {
    const written = { name: a.name, arguments: JSON.stringify(a.arguments) };
    for (const wanted of [written, { id: '1', type: 'function', function: written } as const, a]) {
      const reward = toolCalls({ expected: () => [wanted, b] });
      expect(judge(reward, undefined, { messages: calling(a, b) })).toBe(1);
    }
    const text = { name: 'y', arguments: 'Bern' };
    expect(judge(toolCalls({ expected: () => [text] }), undefined, { messages: calling(text) })).toBe(1);
    const broken = { name: 'y', arguments: '{' };
    for (const wanted of [broken, { name: 'y' }, { function: { name: 'y', args: {} } }, 'y']) {
      const reward = toolCalls({ expected: () => [b, wanted] as never });
      expect(() => judge(reward, undefined, { messages: calling(b) })).toThrow(
        /task "a" must be a list.*got a list/,
      );
    }
  });

  const call = `<tool_call>${JSON.stringify(a)}</tool_call>`;
  it.each([
    [`I did not find the right one, so I ask again:\n${call}`, 1],
    [`I will not ask again. ${call}`, 1],
    [`\`\`\`xml\n${call}\n\`\`\``, 1],
    [`The user asked for the weather, so I will look it up: ${call}`, 1],
    [`I should not make assumptions, and cannot run this in my head:\n${call}`, 1],
    [`I could look it up, for example here:\n${call}`, 1],
    [`Let me check (${call})`, 1],
    ['<tool_call>{"name": "pay", "arguments": {}, "parameters": {}}</tool_call>', 1],
    ['<tool_call>{"name": "pay", "name": "book", "arguments": {}}</tool_call>', 1],
  ])('reads %j as %d calls', (content, calls) => {
    expect(readToolCalls([{ role: 'assistant', content }])).toHaveLength(calls);
  });

  it.each([
    [`\`\`\`xml\n${call}\`\`\``, 1],
    [`\`${call}\``, 1],
    [`${call} and I will wait for the result.`, 1],
    [`${call}, then wait.`, 1],
    [`I call ${call} and report what it says.`, 1],
    [`${call} and ${call}`, 2],
    [
      `<tool_call>${JSON.stringify({ name: 'pay', arguments: { x: 'x'.repeat(152) } })}</tool_call>${call}`,
      2,
    ],
    [`${call} und warte.`, 1],
    [`${call} ok`, 1],
    [`<thinking>I will call ${call}</thinking>\n${call}`, 1],
    [`<scratchpad>${call}</scratchpad>\n${call}`, 1],
    [`[THINK]Try ${call}[/THINK]\n${call}`, 1],
    ['Models write `<tool_call>{"name": ...}</tool_call>`.', 0],
    [`The format is \`<tool_call>{"name": …}</tool_call>\`.\n${call}`, 1],
    [`I could use \`[TOOL_CALLS] [...]\`.\n${call}`, 1],
  ])('takes no honest call or note in %j for an unexpected one: %d', (content, calls) => {
    const read = readToolCalls([{ role: 'assistant', content }]);
    expect(read.map(({ name }) => name !== '')).toEqual(Array(calls).fill(true));
  });

  it.each([
    `> ${call}`,
    `The user wrote: "${call}"`,
    `The syntax is \`${call}\`.`,
    `~~${call}~~`,
    `<!-- ${call} -->`,
  ])('reads %j as a call that nobody expects, because servers run it', (content) => {
    const shown = { name: '', arguments: undefined };
    expect(readToolCalls([{ role: 'assistant', content }])).toEqual([shown]);
    expect(readToolCalls([{ role: 'assistant', content: `${content}\n${call}` }])).toEqual([a, shown]);
  });

  it('keeps comments in the arguments of a call, and reads no key twice', () => {
    const page = { name: 'write', arguments: { page: '<p><!-- x --></p>' } };
    const content = `<tool_call>${JSON.stringify(page)}</tool_call>`;
    expect(readToolCalls([{ role: 'assistant', content }])).toEqual([page]);
    const twice = '<tool_call>{"name": "pay", "arguments": {"a": 1, "a": 2}}</tool_call>';
    expect(readToolCalls([{ role: 'assistant', content: twice }])).toEqual([
      { name: '', arguments: undefined },
    ]);
  });

  it.each([
    ['{"name": "book", "parameters": {"city": "Bern"}}', [], 1],
    ['<think>I book.</think>\n[book(city="Bern")]', [], 1],
    ['<|python_tag|>{"name": "book", "parameters": {"city": "Bern"}}<|eom_id|>', [], 1],
    ['I could {"name": "book", "parameters": {"city": "Bern"}}', [], 0],
    ['{"name": "book", "parameters": {"city": "Bern"}}; {"name": "pay", "parameters": {}}', ['pay'], 0],
    ['{"name": "pay", "parameters": {}}', ['pay'], 0],
    [`${'<tool_call>{"name": "book", "arguments": {"city": "Bern"}}</tool_call>'.repeat(2)}`, ['pay'], 0],
    ['<tool_call>{"name": "book", "arguments": {"city": "Bern"}}</tool_call>', ['pay'], 1],
  ])('reads calls of offered tools without marks: %j with %j earns %d', (response, names, earned) => {
    const offered = names.map((name) => ({ type: 'function', function: { name } }) as const);
    const messages = [{ role: 'assistant', content: response }] as const;
    const expected = () => [{ name: 'book', arguments: { city: 'Bern' } }];
    expect(judge(toolCalls({ expected }), { tools: offered }, { messages })).toBe(earned);
    expect(judge(toolCalls({ expected, tools: () => offered }), undefined, { messages })).toBe(earned);
  });

  it('reads parameters that are texts by the schema of the tool', () => {
    const properties = { code: { type: 'string' } };
    const zip = { type: 'function', function: { name: 'zip', parameters: { properties } } };
    const content = '<function=zip>\n<parameter=code>\n8001\n</parameter>\n</function>';
    const reward = toolCalls({ expected: () => [{ name: 'zip', arguments: { code: '8001' } }] });
    expect(judge(reward, { tools: [zip] }, { messages: [{ role: 'assistant', content }] })).toBe(1);
  });

  it('takes tasks without a list for an error', () => {
    expect(() => score([], undefined as never)).toThrow('the expected calls of task "a" must be a list');
  });

  it('compares JSON as a value equals itself read back, and nothing deeper than 200 levels', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(jsonMatches(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(one)))).toBe(true);
        const same = jsonMatches(one, other);
        expect(same).toBe(jsonMatches(other, one));
        if (same) expect(jsonMatches(one, other, 'subset')).toBe(true);
      }),
    );
    const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000));
    expect(jsonMatches(deep, deep)).toBe(false);
    expect(jsonMatches({}, { toString: 1 }, 'subset')).toBe(false);
    expect(jsonMatches(JSON.parse('{"__proto__":1}'), {}, 'equal')).toBe(false);
  });

  it('is bounded for a policy that calls without end', () => {
    expect(score(new Array(501).fill(b), [b], { extra: 'allowed' })).toBe(0);
    expect(score(new Array(500).fill(b), new Array(500).fill(b), { order: 'free' })).toBe(1);
  });
});

describe('codeTests', () => {
  /** A sandbox that understands one line: `print X` prints, `echo` prints its input, `loop` never ends, `throw` fails. */
  const runner: CodeRunner = async ({ source, input, test }): Promise<CodeOutcome> => {
    if (test !== undefined) {
      const verdict = test.includes('throw') ? 'failed' : 'passed';
      return { status: 'exited', exitCode: 0, stdout: '', stderr: '', test: verdict };
    }
    const done = { status: 'exited', exitCode: 0, stdout: '', stderr: '' } as const;
    if (source.includes('throw')) return { ...done, exitCode: 1, stderr: 'Error' };
    if (source.includes('loop')) return { ...done, status: 'timed-out', exitCode: null };
    if (source.startsWith('broken')) throw new Error('no sandbox');
    return { ...done, stdout: source.startsWith('echo') ? `${input} \n` : source.replace('print ', '') };
  };
  const tests = (metadata: readonly CodeTest[]) => metadata;
  const run = (code: string, metadata: readonly CodeTest[], options = {}) =>
    judge(codeTests({ runner, tests, language: 'toy', ...options }), metadata, {
      response: `\`\`\`toy\n${code}\n\`\`\``,
    });
  const output = (text: string): CodeTest => ({ kind: 'output', input: text, output: text });

  it('runs every test', async () => {
    expect(await run('echo', [output('1'), output('2')])).toBe(1);
    expect(await run('print 1', [output('1'), output('2')])).toBe(0);
    expect(await run('print 1', [output('1'), output('2')], { grading: 'share' })).toBe(0.5);
    expect(await run('loop', [output('')])).toBe(0);
    expect(await run('fine', [{ kind: 'assertion', source: 'check' }])).toBe(1);
    expect(await run('fine', [{ kind: 'assertion', source: 'throw' }])).toBe(0);
  });

  it('bounds the time of all tests of a response together', async () => {
    const limits: number[] = [];
    const slow: CodeRunner = async (program, { timeoutMs, signal }) => {
      limits.push(timeoutMs);
      await new Promise((resolve) => setTimeout(resolve, 30));
      return runner(program, { timeoutMs, signal });
    };
    const many = Array.from({ length: 50 }, (_, k) => output(`${k}`));
    const bounds = { runner: slow, concurrency: 1, timeoutMs: 1000, responseTimeoutMs: 70 };
    expect(await run('echo', many, bounds)).toBe(0);
    expect(limits[0]).toBe(70);
    expect(limits.length).toBeLessThanOrEqual(3);
    expect(await run('echo', many, { ...bounds, grading: 'share' })).toBeGreaterThan(0);
  });

  it('asks for a verdict on assertions, whatever the exit code', async () => {
    const ignoring: CodeRunner = async () => ({ status: 'exited', exitCode: 0, stdout: '', stderr: '' });
    const graded = run('fine', [{ kind: 'assertion', source: 'check' }], { runner: ignoring });
    await expect(graded).rejects.toThrow('expected a runner that judges assertions apart from the program');
  });

  it('stops at the first failure, unless shares are asked for', async () => {
    const programs: CodeProgram[] = [];
    const counting: CodeRunner = async (program, limits) => {
      programs.push(program);
      return runner(program, limits);
    };
    await run('throw', [output('1'), output('2'), output('3')], { runner: counting, concurrency: 1 });
    expect(programs).toHaveLength(1);
    await run('throw', [output('1'), output('2'), output('3')], { runner: counting, grading: 'share' });
    expect(programs).toHaveLength(4);
    const three = [output('1'), output('2'), output('3')];
    const broken = run('broken', three, { runner: counting, grading: 'share', concurrency: 1 });
    await expect(broken).rejects.toThrow('no sandbox');
    await new Promise((resolve) => setImmediate(resolve));
    expect(programs).toHaveLength(5);
  });

  it('gives no program 0, and a broken sandbox or a task without tests an error', async () => {
    expect(
      await judge(codeTests({ runner, tests, language: 'toy' }), [output('')], { response: 'echo' }),
    ).toBe(0);
    await expect(run('broken', [output('')])).rejects.toThrow('no sandbox');
    expect(() => codeTests({ runner, tests, language: 'toy', timeoutMs: 1e12 })).toThrow('must fit a timer');
    await expect(run('echo', [])).rejects.toThrow('task "a" must have at least one test');
  });

  it('says what is wrong with a call, a test or an outcome', async () => {
    const reward = codeTests({ runner, tests, language: 'toy' });
    const asked = answering('```toy\necho\n```', [output('')]);
    for (const context of [undefined, {}, { signal: 1 }])
      await expect(reward(asked, context as never)).rejects.toThrow(
        'codeTests: expected a context with an AbortSignal, got',
      );
    await expect(reward(undefined as never, { signal })).rejects.toThrow(
      'codeTests: expected an object with task, response, got undefined',
    );
    for (const test of [undefined, null, ['1', '1'], { input: '1', output: '1' }])
      await expect(run('echo', [output(''), test as never])).rejects.toThrow(
        "each { kind: 'output', input, output } or { kind: 'assertion', source }, got",
      );
    const silent = run('echo', [output('')], { runner: () => undefined });
    await expect(silent).rejects.toThrow('codeTests: the outcome of the runner: expected an object');
  });
});
