import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RlpError } from '@rlp/core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkRun, defineRun, runJsonSchema } from './check-run.ts';
import { modeOf } from './modes.ts';
import { withOverrides } from './overrides.ts';
import { readRunFile, withPathsFrom } from './read-run.ts';
import type { RunConfig } from './run-schema.ts';

const base: RunConfig = { model: 'models/qwen', data: 'rows.jsonl', output: 'runs/one' };
let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-config-'));
});
afterAll(() => rm(directory, { recursive: true }));

async function file(name: string, text: string | Uint8Array): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe('the mode of a run', () => {
  it.each([
    [{}, 'sft'],
    [{ sft: {} }, 'sft'],
    [{ rewards: { right: 'answer' } }, 'rl'],
    [{ algorithm: { name: 'ppo' } }, 'rl'],
    [{ environment: 'countdown', data: undefined }, 'rl'],
    [{ environment: 'countdown', data: undefined, algorithm: { name: 'gigpo' } }, 'rl'],
    [{ sft: {}, algorithm: {} }, 'sft+rl'],
    [{ sft: {}, rewards: { right: 'answer' } }, 'sft'],
    [{ mode: 'eval', rewards: { right: 'answer' } }, 'eval'],
  ] as const)('of %j is %s', (more, mode) => {
    expect(modeOf({ ...base, ...more })).toBe(mode);
    expect(() => checkRun({ ...base, ...more }, 'test')).not.toThrow();
  });
});

describe('a configuration', () => {
  it.each([
    [{ mode: 'eval', algorithm: {} }, /algorithm: mode 'eval' does not use it/],
    [{ mode: 'eval', evaluation: 'none' }, /evaluation: mode 'eval' does nothing else/],
    [
      { sft: {}, backend: { precision: 'mixed' }, algorithm: { backend: { lora: { base: 'nf4' } } } },
      /algorithm\.backend\.precision: 'mixed' is not combined with base 'nf4' of lora; leave one/,
    ],
    [
      { algorithm: { name: 'gigpo', rollout: { sampling: { temperature: 0 } } } },
      /algorithm\.rollout\.sampling\.temperature: must be above 0.*\n.*environment: has no stateKey, and gigpo/,
    ],
    [
      { backend: { reference: 'none' }, algorithm: { loss: { klCoefficient: 0.1 } } },
      /algorithm\.loss\.klCoefficient: needs the reference policy, which reference: 'none' of the backend drops/,
    ],
    [
      {
        algorithm: {
          backend: { reference: 'none' },
          referenceUpdate: { method: 'copy', everyIterations: 9 },
        },
      },
      /algorithm\.referenceUpdate: needs the reference policy/,
    ],
    [{ mode: 'distill' }, /distill: is missing; mode 'distill' learns from a teacher/],
    [{ mode: 'evall' }, /mode: .*did you mean 'eval'/],
    [{ data: undefined }, /data: is missing/],
    [
      { data: [{ prompt: '2+2=' }] as never },
      /data\.0: expected a task .* whose id is text, got one with prompt/,
    ],
    [{ environment: 'sudoku' }, /data: sudoku makes its own tasks/],
    [{ environment: 'sudoku', data: undefined, sft: {} }, /sft\.data: is missing; sudoku has no answers/],
    [
      { sft: {}, algorithm: { rollout: { groupSize: 1 } } },
      /algorithm\.rollout\.groupSize: must be at least 2: a completion alone/,
    ],
    [
      {
        algorithm: {
          name: 'reinforce',
          reinforce: { baseline: 'group-mean' },
          rollout: { groupSize: 1 },
        },
      },
      /algorithm\.rollout\.groupSize: must be at least 2/,
    ],
    [{ environment: 'sudoko' }, /environment: .*did you mean 'sudoku'/],
    [{ environment: { name: 'text', tasks: { count: 3 } } }, /environment\.tasks: belongs to games/],
    [{ rewards: {} }, /rewards: expected at least one reward/],
    [{ rewards: { right: { name: 'answer', reward: () => 1 } } }, /rewards\.right: expected either/],
    [
      { rewards: { right: { name: 'exactAnswer', params: { tags: 'a' } } } },
      /rewards\.right\.params: .*tags/,
    ],
    [
      { rewards: { right: 'answer' }, evaluation: { component: 'wrong' } },
      /evaluation\.component: .*\(right\)/,
    ],
    [{ evaluation: { data: 'a.jsonl', heldOut: 3 } }, /evaluation\.heldOut: must not be given together/],
    [{ data: { path: 'a.jsonl', tasks: 'addition' } }, /data\.tasks: must not be given together with path/],
    [{ algorithm: { name: 'grpo', gae: {} } }, /algorithm: Unrecognized option "gae"/],
    [
      { algorithm: { per_device_train_batch_size: 4 } },
      /in rlp this is algorithm\.backend\.tokensPerMicroBatch/,
    ],
    [{ model: { create: { hiddenSize: 30, heads: 4 } } }, /hiddenSize: must be a multiple of heads/],
    [{ model: { create: { hiddenSize: 12, heads: 4 } } }, /hiddenSize: must be an even multiple of heads/],
    [
      { evaluation: { component: 'right' } },
      /evaluation\.component: names a component of rewards, and the run/,
    ],
    [{ engine: { threads: 5000 } }, /engine\.threads: expected a number of at most 1024/],
    [{ backend: { schedule: { kind: 'cosinus' } } }, /backend\.schedule\.kind: /],
  ])('%j is refused', (more, problem) => {
    expect(() => checkRun({ ...base, ...more }, 'test')).toThrow(problem);
  });

  it('is described for editors', () => {
    const { properties } = runJsonSchema() as { properties: Record<string, object> };
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(['model', 'data', 'algorithm', 'sft']));
  });
});

describe('withOverrides', () => {
  it('reads values as the option takes them', () => {
    const config = withOverrides(base, [
      { path: 'seed', value: '7' },
      { path: 'algorithm.loss.clipHigh', value: '0.3' },
      { path: 'backend.schedule', value: '{ kind: cosine }' },
      { path: 'data.template', value: 'Q: {prompt}' },
      { path: 'rewards.right', value: 'answer' },
      { path: 'rewards.right.weight', value: '2' },
    ]);
    expect(config).toEqual({
      ...base,
      seed: '7',
      algorithm: { loss: { clipHigh: 0.3 } },
      backend: { schedule: { kind: 'cosine' } },
      data: { path: 'rows.jsonl', template: 'Q: {prompt}' },
      rewards: { right: { name: 'answer', weight: 2 } },
    });
    expect(() => checkRun(config, 'test')).not.toThrow();
  });

  it('refuses paths that lead nowhere', () => {
    expect(() => withOverrides(base, [{ path: 'algorithm..x', value: '1' }])).toThrow(/joined by dots/);
    const odd = withOverrides(base, [{ path: 'algorithm.lossOptions.clipHigh', value: '0.3' }]);
    expect(() => checkRun(odd, 'test')).toThrow(/"lossOptions"; in rlp this is algorithm\.loss/);
  });
});

describe('readRunFile', () => {
  it('reads YAML, JSON and TypeScript', async () => {
    const yaml = await file(
      'run.yaml',
      'model: m\ndata: { path: d, fields: { prompt: q } }\nalgorithm: { iterations: 5 }',
    );
    expect(await readRunFile(yaml)).toEqual({
      ...{ model: 'm', data: { path: 'd', fields: { prompt: 'q' } }, algorithm: { iterations: 5 } },
    });
    expect(await readRunFile(await file('run.json', '{"model": "m"}'))).toEqual({ model: 'm' });
    const program = await file(
      'run.ts',
      'const model: string = "m";\nexport default { model, rewards: { a: () => 1 } };',
    );
    expect(await readRunFile(program)).toMatchObject({ model: 'm', rewards: { a: expect.any(Function) } });
  });

  it('finds models and data beside the file, wherever the program runs', async () => {
    const read = async (name: string, text: string) => {
      const config = await readRunFile(await file(name, text));
      return JSON.parse(JSON.stringify(config).replaceAll(JSON.stringify(directory).slice(1, -1), 'HERE'));
    };
    for (const name of ['own.jsonl', 'package.json']) await file(name, '');
    const text = 'output: ./own.jsonl\nmodel: a/b\nsft: { data: "./own.jsonl[0:5]" }\ndata: { path: ';
    const rest = { output: './own.jsonl', model: 'a/b', sft: { data: 'HERE/own.jsonl[0:5]' } };
    for (const [given, found] of [
      ['./own.jsonl', 'HERE/own.jsonl'],
      ['own.jsonl', 'HERE/own.jsonl'],
      ['./package.json', 'HERE/package.json'],
      ['package.json', 'package.json'],
      ['./README.md', './README.md'],
      ['./none.jsonl', 'HERE/none.jsonl'],
      ['none.jsonl', 'none.jsonl'],
      ['/none.jsonl', '/none.jsonl'],
    ] as const)
      expect(await read('paths.yaml', `${text}${given} }`)).toEqual({ ...rest, data: { path: found } });
    const rewarded =
      'rewards: { right: { name: rewardModel, params: { model: ./own.jsonl } }, short: length }';
    expect(await read('rewards.yaml', rewarded)).toEqual({
      rewards: { right: { name: 'rewardModel', params: { model: 'HERE/own.jsonl' } }, short: 'length' },
    });
    expect(await withPathsFrom(directory, { model: 'own.jsonl', data: 'a/b', output: 'c' })).toEqual({
      ...{ model: join(directory, 'own.jsonl'), data: 'a/b', output: 'c' },
    });
    expect(await read('paths.ts', 'export default { data: "./own.jsonl" };')).toEqual({
      data: 'HERE/own.jsonl',
    });
  });

  it.each([
    ['bad.yaml', 'model: [', /bad\.yaml: expected YAML: /],
    ['bad.json', '{', /bad\.json: expected JSON: /],
    ['empty.ts', 'export const model = 1;', /empty\.ts: expected the configuration as default export/],
    [
      'broken.ts',
      'const a = 1;\nexprt default a;',
      /cannot be loaded: .*Missing semicolon in line 2; correct/,
    ],
    [
      'thrown.ts',
      'export default {};\nmissing();',
      /cannot be loaded: missing is not defined, at thrown\.ts:2; correct/,
    ],
    ['rows.jsonl', '{}', /holds data, not a configuration/],
    ['run.toml', '', /ends in \.yaml, \.json or \.ts/],
    ['latin.yaml', Buffer.from('# ü\nmodel: m', 'latin1'), /latin\.yaml: .* save the file as UTF-8/],
    ['wide.yaml', Buffer.from('\ufeffmodel: m', 'utf16le'), /wide\.yaml: .* save the file as UTF-8/],
    ['wide.json', Buffer.from('{"model": "m"}', 'utf16le'), /wide\.json: .* save the file as UTF-8/],
    ['large.yaml', Buffer.alloc(2 ** 20 + 1, 'a: b\n'), /at most 1 MiB, got 2 MiB; put rows into a file/],
    ['deep.yaml', '['.repeat(10_000), /deep\.yaml: expected YAML: Maximum call stack/],
    [
      'aliases.yaml',
      `a: &a [${'x,'.repeat(99)}]\nb: &b [${'*a,'.repeat(99)}]\nc: [${'*b,'.repeat(99)}]`,
      /aliases\.yaml: expected YAML: Excessive alias count/,
    ],
  ] as const)('refuses %s', async (name, text, problem) => {
    const error: Error = await readRunFile(await file(name, text)).catch((reason) => reason);
    expect(error).toBeInstanceOf(RlpError);
    expect(error.message).toMatch(problem);
  });

  it('refuses a folder, and reads past a mark of the byte order', async () => {
    const folder = join(directory, 'folder.yaml');
    await mkdir(folder);
    await expect(readRunFile(folder)).rejects.toThrow('folder.yaml is a folder; give the file');
    await expect(readRunFile(directory)).rejects.toThrow('is a folder; give the file');
    for (const [name, text] of [
      ['mark.yaml', '\ufeffmodel: m'],
      ['mark.json', '\ufeff{"model": "m"}'],
    ] as const)
      expect(await readRunFile(await file(name, text))).toEqual({ model: 'm' });
  });
});

it('defineRun returns what it checked', () => {
  expect(defineRun(base)).toBe(base);
  expect(() => defineRun([] as unknown as RunConfig)).toThrow(
    /expected a configuration such as .* got a list/,
  );
});
