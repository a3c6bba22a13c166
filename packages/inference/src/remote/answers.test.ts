import { describe, expect, it } from 'vitest';
import { checkedSequences } from './checked-sequences.ts';
import type { RemoteScores, RemoteSequence } from './remote-server.ts';
import { logitsAt, scoresAt } from './scores.ts';
import { SharedLock } from './shared-lock.ts';

const limits = { place: 'http://server.test', vocabularySize: 4 };

describe('a completion of a server', () => {
  const good: RemoteSequence = { tokens: [3, 0], logprobs: [-1, -2], finish: 'length' };
  const checked = (change: Partial<RemoteSequence>, maxTokens = 2) =>
    checkedSequences([{ ...good, ...change }], { count: 1, maxTokens }, limits);

  it('is taken over as it is, with logprobs of at most 0', () => {
    expect(checked({})).toEqual([{ tokens: [3, 0], logprobs: [-1, -2], stopReason: 'length' }]);
    expect(checked({ finish: 'stop', logprobs: [1e-3, -2] }, 3)).toEqual([
      { tokens: [3, 0], logprobs: [0, -2], stopReason: 'stop' },
    ]);
  });

  it.each<[Partial<RemoteSequence>, number, string]>([
    [
      { finish: 'tool_calls' },
      2,
      'expected a completion that ended with "stop" or "length", got "tool_calls"',
    ],
    [{ finish: undefined }, 2, 'got "undefined"'],
    [{ tokens: [], logprobs: [] }, 2, 'expected 1 to 2 tokens in a completion, got 0'],
    [{}, 1, 'expected 1 to 1 tokens in a completion, got 2'],
    [{}, 3, 'expected 3 tokens of a completion that ended by its length, got 2'],
    [{ tokens: [3, 4] }, 2, "got token 4, outside the tokenizer's 4"],
    [{ tokens: [3, -1] }, 2, 'got token -1'],
    [{ tokens: [3, 0.5] }, 2, 'got token 0.5'],
    [{ logprobs: [-1] }, 2, 'expected 2 logprobs, one per token, got 1'],
    [{ logprobs: [-1, 2e-3] }, 2, 'expected natural logarithms of probabilities, got 0.002'],
    [{ logprobs: [Number.NEGATIVE_INFINITY, -1] }, 2, 'got -Infinity'],
  ])('is refused with %o of at most %i tokens', (change, maxTokens, message) => {
    expect(() => checked(change, maxTokens)).toThrow(`http://server.test: `);
    expect(() => checked(change, maxTokens)).toThrow(message);
  });

  it('is one of as many as were asked for', () => {
    expect(() => checkedSequences([good], { count: 2, maxTokens: 2 }, limits)).toThrow(
      'http://server.test: expected 2 completions, got 1',
    );
  });
});

describe('scores of a server', () => {
  const half = Math.log(0.5);
  const full = [
    undefined,
    [half, half, -1000, -1000],
    [-Math.LN2 * 2, -Math.LN2 * 2, -Math.LN2 * 2, -Math.LN2 * 2],
  ];

  it('are those of the completion, rounded down to 0', () => {
    const { logprobs, entropies } = scoresAt({ logprobs: [undefined, -3, 1e-3] }, 1, [0, 1, 2], {
      ...limits,
      temperature: 1,
    });
    expect([[...logprobs], [...entropies]]).toEqual([
      [-3, 0],
      [Number.NaN, Number.NaN],
    ]);
  });

  it('have the logprob and the entropy of whole distributions at any temperature', () => {
    const given = { logprobs: [undefined, half, 2 * half], full };
    for (const temperature of [1, 2]) {
      const { logprobs, entropies } = scoresAt(given, 1, [0, 1, 2], { ...limits, temperature });
      expect([...logprobs]).toEqual([half, 2 * half].map(Math.fround));
      expect([...entropies]).toEqual([expect.closeTo(Math.LN2, 6), expect.closeTo(2 * Math.LN2, 6)]);
    }
    // On paper: square roots of 0.8 and 0.2 are 2 to 1.
    const uneven = {
      logprobs: [undefined, Math.log(0.8)],
      full: [undefined, [Math.log(0.8), Math.log(0.2)]],
    };
    const { logprobs, entropies } = scoresAt(uneven, 1, [0, 0], { ...limits, temperature: 2 });
    expect(logprobs[0]).toBeCloseTo(Math.log(2 / 3), 6);
    expect(entropies[0]).toBeCloseTo(-(2 / 3) * Math.log(2 / 3) - Math.log(1 / 3) / 3, 6);
  });

  it.each([
    [[undefined, -1], 'expected logprobs of 3 prompt tokens, got 2'],
    [[undefined, -1, undefined], 'expected the logprob of prompt token 2, got undefined'],
    [[undefined, 2e-3, -1], 'expected the logprob of prompt token 1, got 0.002'],
    [[undefined, Number.NaN, -1], 'expected the logprob of prompt token 1, got NaN'],
  ])('are refused with %o', (logprobs, message) => {
    expect(() => scoresAt({ logprobs }, 1, [0, 1, 2], { ...limits, temperature: 1 })).toThrow(message);
  });

  it('have logits for each position of the completion', () => {
    const logprobs = [undefined, half, 2 * half];
    const logitsOf = (change: Partial<RemoteScores>, from = 1) =>
      logitsAt({ logprobs, full, ...change }, from, [0, 1, 2], limits).logits;
    expect(logitsOf({})).toEqual(Float32Array.from([...full[1]!, ...full[2]!]));
    expect(logitsOf({}, 2)).toEqual(Float32Array.from(full[2]!));
    expect(() => logitsOf({ full: [undefined, [1, 2], full[2]] })).toThrow(
      'expected 4 logprobs of a position, got 2',
    );
    expect(() => logitsOf({}, 0)).toThrow('expected 4 logprobs of a position, got 0');
    expect(() => logitsOf({ full: undefined })).toThrow('expected 4 logprobs of a position, got 0');
    expect(() => logitsOf({ logprobs: logprobs.slice(1), full: full.slice(1) })).toThrow(
      'expected logprobs of 3 prompt tokens, got 2',
    );
  });
});

describe('work that runs alone', () => {
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  /** Work that ends when it is told to. */
  function works(turns: SharedLock) {
    const log: string[] = [];
    const ends = new Map<string, () => void>();
    const run = (how: 'together' | 'alone', name: string, signal = new AbortController().signal) =>
      turns.run(how, signal, async () => {
        log.push(name);
        await new Promise<void>((resolve) => ends.set(name, resolve));
        return name;
      });
    return { log, run, end: (name: string) => ends.get(name)!() };
  }

  it('waits for all work that began earlier, and later work waits for it', async () => {
    const { log, run, end } = works(new SharedLock());
    const all = [
      run('together', 'a'),
      run('together', 'b'),
      run('alone', 'c'),
      run('alone', 'd'),
      run('together', 'e'),
    ];
    await settled();
    expect(log).toEqual(['a', 'b']);
    end('b');
    await settled();
    expect(log).toEqual(['a', 'b']);
    for (const [ended, begun] of [
      ['a', 'c'],
      ['c', 'd'],
      ['d', 'e'],
    ] as const) {
      end(ended);
      await settled();
      expect(log.at(-1)).toBe(begun);
    }
    end('e');
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('holds nothing up once it has failed, or was given up while it waited', async () => {
    const turns = new SharedLock();
    const { log, run, end } = works(turns);
    const first = run('together', 'a');
    const stop = new AbortController();
    const alone = run('alone', 'b', stop.signal);
    const failing = turns.run('alone', new AbortController().signal, () => Promise.reject(new Error('away')));
    stop.abort(new Error('enough'));
    await expect(alone).rejects.toThrow('enough');
    const last = run('together', 'c');
    await settled();
    expect(log).toEqual(['a']);
    end('a');
    await expect(failing).rejects.toThrow('away');
    await settled();
    expect(log).toEqual(['a', 'c']);
    end('c');
    expect(await Promise.all([first, last])).toEqual(['a', 'c']);
  });
});
