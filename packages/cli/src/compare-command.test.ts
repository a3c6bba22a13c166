import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Evaluation } from '@rlp/core';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'cli-compare-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function compare(...args: string[]) {
  const said: string[] = [];
  const complaints: string[] = [];
  const code = await runCli(['compare', ...args], {
    print: (line) => said.push(line),
    printError: (line) => complaints.push(line),
  });
  return { code, said: said.join('\n'), complaints: complaints.join('\n') };
}

describe('rlp compare', () => {
  it('compares configurations and metrics of run folders', async () => {
    for (const [name, rate] of [
      ['one', 1e-3],
      ['two', 2e-3],
    ] as const) {
      mkdirSync(join(directory, name));
      writeFileSync(join(directory, name, 'run.json'), JSON.stringify({ config: { a: { rate }, same: 1 } }));
      writeFileSync(
        join(directory, name, 'metrics.jsonl'),
        `{"reward/mean":0}\n{"reward/mean":${rate},"error/rate":0}\n`,
      );
    }
    const { said } = await compare(join(directory, 'one'), join(directory, 'two'));
    expect(said).toBe(
      'Configuration\n  a.rate: 0.001 → 0.002\nLast metrics\n  reward/mean: 0.001 → 0.002\n  0 in both, left out: 1',
    );
    const same = await compare(join(directory, 'one'), join(directory, 'one'));
    expect(same.said).toContain('reward/mean: 0.001 → 0.001');
  });

  it('compares the last metrics as they were logged, and nothing else of a log', async () => {
    const folder = join(directory, 'three');
    mkdirSync(folder);
    const metrics = join(folder, 'metrics.jsonl');
    const rows = [
      { step: 0, metrics: { 'loss/policy': 0.5, 'kl/reference': 1 } },
      { step: 1, metrics: { 'loss/policy': 'NaN' } },
      { step: 1, note: 'the loss is not finite' },
    ];
    writeFileSync(metrics, `${rows.map((row) => JSON.stringify(row)).join('\n')}\n{"step":2,"metr`);
    expect((await compare(folder, folder)).said).toBe(
      'Last metrics\n  kl/reference: 1 → 1\n  loss/policy: NaN → NaN',
    );
    writeFileSync(metrics, 'null\n');
    expect(await compare(folder, folder)).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/metrics\.jsonl, line 1: expected a JSON object with metrics$/),
    });
  });

  it('says which tasks it leaves out, because runs with other seeds hold out other rows', async () => {
    const evaluation = (name: string, right: Readonly<Record<string, boolean>>): string => {
      const answers = Object.entries(right);
      const record: Evaluation = {
        ...{ record: 'evaluation', name: 'final', seed: '0', policyVersion: 0, samples: 1, confidence: 0.95 },
        accuracy: answers.filter(([, isRight]) => isRight).length / answers.length,
        ...{ components: {}, unscored: { count: 0, causes: {} }, notes: [] },
        tasks: answers.map(([task, isRight]) => {
          return { task, rewards: [isRight ? 1 : 0], components: {}, correct: [isRight], tokens: [1] };
        }),
      };
      writeFileSync(join(directory, name), JSON.stringify(record));
      return join(directory, name);
    };
    const first = evaluation('first.json', { a: true, b: true, c: true, d: false });
    const second = evaluation('second.json', { a: true, x: false });
    expect((await compare(first, first)).said).not.toContain('note');
    expect((await compare(first, second)).said).toContain(
      'of 1 tasks\n    note: only tasks of both sides are compared; whole accuracy: 0.7500 of 4 → 0.5000 of 2. Measure both on the same rows',
    );
  });
});
