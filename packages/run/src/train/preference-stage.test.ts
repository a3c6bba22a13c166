import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfig } from '../config/run-schema.ts';
import { trainRun } from './train-run.ts';

let directory: string;
let data: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-preferences-'));
  data = join(directory, 'pairs.jsonl');
  const rows = Array.from({ length: 12 }, (_, index) => ({
    id: `pair-${index}`,
    prompt: `${index}+1=`,
    chosen: '7',
    rejected: '3',
  }));
  await writeFile(data, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
});
afterAll(() => rm(directory, { recursive: true }));

const stream = new Writable({ write: (_chunk, _encoding, done) => done() });
const tiny = (): RunConfig => ({
  model: {
    create: {
      tokenizer: { characters: '0123456789+=' },
      ...{ layers: 1, hiddenSize: 16, heads: 2, contextLength: 32 },
    },
  },
  data,
  preference: { epochs: 3, pairsPerBatch: 4, backend: { learningRate: 1e-2 } },
  evaluation: 'none',
  engine: { thread: 'inline', threads: 1 },
});

describe('mode dpo', () => {
  it.each([
    [{ prompt: '1+1=', chosen: '2', answer: '2' }, /: expected a preferred answer .*; correct rejected$/],
    [
      { prompt: '1+1=', good: '2' },
      /: expected columns chosen and rejected, .*, got the prompt, good; name them under data.fields, /,
    ],
  ])('names the file and the row that holds no pair: %j', async (row, message) => {
    const path = join(directory, 'torn.jsonl');
    await writeFile(path, JSON.stringify(row));
    const run = trainRun({ ...tiny(), data: path, output: join(directory, 'torn') }, { stream });
    await expect(run).rejects.toThrow(`${path}, row 1: expected`);
    await expect(run).rejects.toThrow(message);
  });

  it.each(['a', 'c'])('names the first row of the file, also if it is held out (seed %s)', async (seed) => {
    const path = join(directory, 'answers.jsonl');
    const rows = Array.from({ length: 12 }, (_, index) => ({
      question: `${index}+1=`,
      answer: `${index + 1}`,
    }));
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const config = { ...tiny(), seed, data: path, evaluation: { heldOut: 6 } };
    const run = trainRun({ ...config, output: join(directory, 'answers') }, { stream });
    await expect(run).rejects.toThrow(`${path}, row 1: expected columns chosen and rejected`);
  });

  it('learns from answers with labels if the loss is over single answers', async () => {
    const path = join(directory, 'labels.jsonl');
    const rows = Array.from({ length: 12 }, (_, index) => {
      return { prompt: `${index}+1=`, completion: index % 2 ? '7' : '3', label: index % 2 === 1 ? 1 : false };
    });
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const preference = { ...tiny().preference, loss: 'kto' } as const;
    const config = {
      ...tiny(),
      data: path,
      preference,
      evaluation: undefined,
      output: join(directory, 'kto'),
    };
    const result = await trainRun(config, { stream });
    expect(result).toMatchObject({ status: 'finished', mode: 'dpo' });
    const metrics = metricRowsFromJsonl(await readFile(result.files.metrics, 'utf8'), 'metrics');
    // 11 rows of 12 are learned from, three times.
    expect(metrics).toHaveLength(9);
    expect(metrics[0]!.metrics['loss/preference']).toBeCloseTo(0.5, 3);
    expect(metrics.at(-1)!.metrics['reward/margin']).toBeGreaterThan(0);
    expect(existsSync(join(result.files.evaluations, 'final.json'))).toBe(false);
    const pairs = trainRun(
      { ...config, preference: tiny().preference, output: join(directory, 'no') },
      { stream },
    );
    await expect(pairs).rejects.toThrow("preference.loss: 'kto' learns from answers with labels");
    await writeFile(path, `${JSON.stringify({ ...rows[0], label: 'fine' })}\n`);
    const odd = trainRun({ ...config, evaluation: 'none', output: join(directory, 'odd') }, { stream });
    await expect(odd).rejects.toThrow(
      `${path}, row 1: expected an answer and a label of true or false (1 or 0), got the label "fine"`,
    );
  });

  it('learns from pairs of a file whose columns are named, and goes on after a stop', async () => {
    const named = join(directory, 'named.jsonl');
    const text = (await readFile(data, 'utf8')).replaceAll('chosen', 'good').replaceAll('rejected', 'bad');
    await writeFile(named, text);
    const output = join(directory, 'run');
    const controller = new AbortController();
    const stopping = new Writable({
      write(chunk, _encoding, done) {
        if (/Preferences 4\//.test(String(chunk))) controller.abort();
        done();
      },
    });
    const fields = { chosen: 'good', rejected: 'bad' };
    const config = { ...tiny(), data: { path: named, fields }, output };
    const stopped = await trainRun(config, { stream: stopping, signal: controller.signal });
    expect(stopped).toMatchObject({ status: 'stopped', mode: 'dpo' });
    const result = await trainRun(config, { stream });
    expect(result.status).toBe('finished');
    const rows = metricRowsFromJsonl(await readFile(result.files.metrics, 'utf8'), 'metrics');
    expect(rows).toHaveLength(9);
    const losses = rows.map(({ metrics }) => metrics['loss/preference']!);
    expect(losses[0]).toBeCloseTo(Math.LN2, 6);
    expect(losses.at(-1)).toBeLessThan(losses[0]!);
    expect(JSON.parse(await readFile(join(output, 'run.json'), 'utf8'))).toMatchObject({
      status: 'finished',
    });
  }, 60_000);

  it.each([
    ['against a reference', {}, false],
    [
      'without a reference',
      { loss: 'simpo' as const, backend: { learningRate: 1e-2, reference: 'none' as const } },
      true,
    ],
  ])(
    'measures held-out pairs, %s',
    async (_, own, hasBefore) => {
      const output = join(directory, `measured-${hasBefore}`);
      const preference = { ...tiny().preference, ...own };
      const config = { ...tiny(), preference, output, evaluation: { heldOut: 4, every: 2 } };
      const result = await trainRun(config, { stream });
      expect(result.evaluation).toMatchObject({ accuracy: 1, unscored: { count: 0 } });
      expect(result.evaluation!.tasks).toHaveLength(4);
      const during = await readFile(join(output, 'evaluations', 'preference-00000002.json'), 'utf8');
      expect(result.evaluation!.policyVersion).toBeGreaterThan(JSON.parse(during).policyVersion);
      expect(existsSync(join(output, 'evaluations', 'before.json'))).toBe(hasBefore);
      const rows = metricRowsFromJsonl(await readFile(result.files.metrics, 'utf8'), 'metrics');
      expect(rows.flatMap(({ metrics }) => metrics['evaluation/accuracy'] ?? []).at(-1)).toBe(1);
    },
    60_000,
  );

  it('names the row without two answers before anything is trained', async () => {
    const path = join(directory, 'half.jsonl');
    await writeFile(path, '{"prompt":"1+1=","chosen":"2"}\n{"prompt":"1+2=","chosen":"3"}\n');
    const run = trainRun({ ...tiny(), data: path, output: join(directory, 'half') }, { stream });
    await expect(run).rejects.toThrow(/row .*expected a preferred answer in chosen .* correct rejected/);
  });
});
