import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Completion, SampleRequest, Sampler, Tokenizer, TokenScorer } from '@rlp/core';
import { pythonRunner } from '@rlp/sandbox/python';
import { afterAll, describe, expect, it } from 'vitest';
import { evaluateBenchmark, readBenchmark } from '../benchmarks.ts';

/** Made by lab/golden/lm_evaluation.py. */
const golden = JSON.parse(
  readFileSync(new URL('../../fixtures/lm-eval.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Golden>>;

/** By day a quarter of the rows whose programs run in two processes each. */
function rowsFor(name: string): Golden['rows'] {
  const { rows } = golden[name]!;
  const isShort = ['humaneval', 'mbpp'].includes(name) && !process.env.RLP_SLOW_TESTS;
  return isShort ? rows.slice(0, rows.length / 4) : rows;
}

interface Golden {
  readonly rows: readonly (Readonly<Record<string, unknown>> & {
    readonly response: string;
    readonly logprobs?: readonly number[];
    readonly expected: Readonly<Record<string, number | readonly number[]>>;
  })[];
  readonly aggregate?: Readonly<Record<string, number>>;
}

const tokenizer: Tokenizer = {
  vocabularySize: 0x110000,
  bosId: undefined,
  eosIds: [],
  encode: (text) => Array.from(text, (character) => character.codePointAt(0)!),
  decode: (tokens) => String.fromCodePoint(...tokens),
};

/** A policy that says what the rows say, one row after the other. */
function canned(rows: Golden['rows']) {
  let next = 0;
  const sampler: Sampler = {
    policyVersion: 0,
    async sample(_request: SampleRequest): Promise<readonly Completion[]> {
      const { response } = rows[next++]!;
      const tokens = tokenizer.encode(response);
      const behaviorLogprobs = tokens.map(() => 0);
      return [{ tokens, behaviorLogprobs, text: response, stopReason: 'stop', policyVersion: 0 }];
    },
  };
  const scorer: TokenScorer = {
    async scoreTokens(requests) {
      const { logprobs } = rows[next++]!;
      return requests.map(({ completion }, option) => ({
        // The whole logprob of an option is that of its first token.
        logprobs: Float32Array.from(completion, (_, token) => (token === 0 ? logprobs![option]! : 0)),
        entropies: new Float32Array(completion.length),
      }));
    },
  };
  return { sampler, scorer, tokenizer };
}

// Programs of the fixture are ours, so an interpreter of this machine may run them. It starts faster than WebAssembly.
const runner = pythonRunner({ interpreter: 'native', launcher: 'none' });
afterAll(() => runner.close());
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('skipped: HumanEval and MBPP, because python3 is not installed');

/** The rows as they are read, each with an id of its own. */
const rowsOf = (name: string) =>
  rowsFor(name).map(({ response: _, logprobs: __, expected: ___, ...row }, id) => ({ ...row, id }));

const evaluated = (name: string, benchmark: string) =>
  evaluateBenchmark({
    benchmark: readBenchmark(rowsOf(name), { name: benchmark, runner }),
    policy: canned(rowsFor(name)),
    concurrency: 1,
  });

/** Places where our metric has another value than lm_eval's. */
async function disagreements(name: string, benchmark: string, metrics: Readonly<Record<string, string>>) {
  const record = await evaluated(name, benchmark);
  const meanOf = (value: number | readonly number[]) =>
    typeof value === 'number' ? value : value.reduce((sum, each) => sum + each, 0) / value.length;
  const found = rowsFor(name).flatMap(({ expected, response }, place) =>
    Object.entries(metrics).flatMap(([theirs, ours]) => {
      const given = record.tasks[place]!.components[ours]?.[0];
      const isSame =
        given !== null && given !== undefined && Math.abs(given - meanOf(expected[theirs]!)) < 1e-5;
      return isSame ? [] : [{ theirs, place, response, expected: expected[theirs], given }];
    }),
  );
  return { found, record };
}

describe('on the same responses as lm_eval', () => {
  it('GSM8K has the same strict and flexible matches', async () => {
    const metrics = {
      'exact_match,strict-match': 'exact_match,strict-match',
      'exact_match,flexible-extract': 'exact_match,flexible-extract',
    };
    const { found, record } = await disagreements('gsm8k', 'gsm8k', metrics);
    expect(found).toEqual([]);
    const { aggregate } = golden.gsm8k!;
    for (const name of Object.keys(metrics)) {
      expect(record.components[name]!.value).toBeCloseTo(aggregate![name]!, 10);
    }
    expect(record.accuracy).toBeCloseTo(aggregate!['exact_match,strict-match']!, 10);
  });

  it('MATH has the same matches by the rules of its authors', async () => {
    expect(
      (await disagreements('hendrycks', 'math', { exact_match: 'exact_match,hendrycks' })).found,
    ).toEqual([]);
  });

  it('MATH has the same matches by the rules of Minerva', async () => {
    expect((await disagreements('minerva', 'math', { exact_match: 'exact_match' })).found).toEqual([]);
  });

  it('IFEval has the same verdicts on prompts and instructions, strict and loose', async () => {
    const names = [
      'prompt_level_strict_acc',
      'inst_level_strict_acc',
      'prompt_level_loose_acc',
      'inst_level_loose_acc',
    ];
    const metrics = Object.fromEntries(names.map((name) => [name, name]));
    const { found, record } = await disagreements('ifeval', 'ifeval', metrics);
    // langdetect takes "yes" for another language than English, so lm_eval calls it not lowercase English.
    expect([...new Set(found.map(({ response }) => response))]).toEqual(['yes']);
    expect(found).toHaveLength(4);
    for (const [name, step] of [
      ['prompt_level_strict_acc', 1 / 408],
      ['prompt_level_loose_acc', 1 / 408],
    ] as const) {
      const theirs = golden.ifeval!.aggregate![`${name},none`]!;
      expect(record.components[name]!.value).toBeCloseTo(theirs + step, 10);
    }
    const parts = golden.ifeval!.rows.flatMap(
      ({ expected }) => expected.inst_level_strict_acc as number[],
    ).length;
    for (const name of ['inst_level_strict_acc', 'inst_level_loose_acc']) {
      const theirs = golden.ifeval!.aggregate![`${name},none`]!;
      expect(record.components[name]!.value).toBeCloseTo(theirs + 1 / parts, 10);
    }
  });

  it.skipIf(!hasPython).each(['humaneval', 'mbpp'])('%s passes the same programs', async (name) => {
    expect((await disagreements(name, name, { 'pass@1': 'pass@1' })).found).toEqual([]);
  });

  it.each([
    ['arc', { acc: 'acc', acc_norm: 'acc_norm' }],
    ['hellaswag', { acc: 'acc', acc_norm: 'acc_norm' }],
    ['mmlu', { acc: 'acc' }],
    ['truthfulqa_mc2', { acc: 'acc' }],
  ] as const)('%s chooses the same options', async (name, metrics) => {
    expect((await disagreements(name, name, metrics)).found).toEqual([]);
  });
});
