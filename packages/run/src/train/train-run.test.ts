import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { closeRun } from '@rlp/algorithms/run';
import { loadModel } from '@rlp/models';
import { JsonlLogger, logRowsFromJsonl, metricRowsFromJsonl } from '@rlp/tracking';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunConfig } from '../config/run-schema.ts';
import { trainRun } from './train-run.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-run-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** A stream that remembers, and calls `onWrite` with what was written. */
function recorded(onWrite: (text: string) => void = () => {}) {
  const written: string[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      written.push(String(chunk));
      onWrite(String(chunk));
      done();
    },
  });
  return { stream, text: () => written.join('') };
}

const tiny: RunConfig = {
  model: {
    create: {
      tokenizer: {
        characters: '0123456789+=,',
        others: ['<reasoning>', '</reasoning>', '<answer>', '</answer>'],
      },
      ...{ layers: 1, hiddenSize: 16, heads: 2, contextLength: 64 },
    },
  },
  data: { tasks: 'addition', options: { count: 60, digits: 1 } },
  sft: { rows: 30, updates: 4, sequencesPerBatch: 8, backend: { learningRate: 1e-2 } },
  algorithm: { iterations: 3, tasksPerIteration: 2, rollout: { groupSize: 2, sampling: { maxTokens: 12 } } },
  rewards: {
    accuracy: 'exactAnswer',
    format: { name: 'tagFormat', params: { tags: ['reasoning', 'answer'] } },
  },
  evaluation: { heldOut: 10, every: 2, maxTokens: 12 },
  checkpoints: { every: 1 },
  trajectories: { every: 2 },
  engine: { thread: 'inline', threads: 1 },
};

describe('trainRun', () => {
  it('imitates, practises and evaluates, in a folder that says what happened', async () => {
    const output = join(directory, 'whole');
    const { stream, text } = recorded();
    const tracked = join(directory, 'tracked.jsonl');
    const logger = new JsonlLogger({ path: tracked });
    const result = await trainRun({ ...tiny, output }, { stream, logger });
    await logger.close();
    const logged = logRowsFromJsonl(await readFile(tracked, 'utf8'));
    expect(logged.filter((row) => 'metrics' in row)).toEqual(
      logRowsFromJsonl(await readFile(join(output, 'metrics.jsonl'), 'utf8')),
    );
    expect(logged.filter((row) => 'note' in row || 'finding' in row)).toEqual(
      logRowsFromJsonl(await readFile(join(output, 'notes.jsonl'), 'utf8')),
    );
    // Before training, during and after imitation (4 iterations), during and after practice (3).
    const samples = logged.flatMap((row) => ('samples' in row ? [row] : []));
    expect(samples.map(({ step, samples: { length } }) => [step, length])).toEqual(
      [0, 1, 3, 5, 6].map((step) => [step, 10]),
    );
    expect(result).toMatchObject({
      status: 'finished',
      mode: 'sft+rl',
      model: join(output, 'checkpoints', 'last'),
    });
    expect((await readdir(output)).filter((name) => !name.startsWith('.')).sort()).toEqual([
      ...[
        'checkpoints',
        'evaluations',
        'metrics.jsonl',
        'notes.jsonl',
        'report.html',
        'run.json',
        'summary.json',
        'trajectories',
      ],
    ]);
    const rows = metricRowsFromJsonl(await readFile(join(output, 'metrics.jsonl'), 'utf8'));
    expect(rows.map(({ step }) => step)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    const final = JSON.parse(await readFile(join(output, 'evaluations', 'final.json'), 'utf8'));
    expect(final.accuracy).toBeGreaterThanOrEqual(final.low);
    expect(final.high).toBeGreaterThanOrEqual(final.accuracy);
    expect(final.tasks).toHaveLength(10);
    const record = JSON.parse(await readFile(join(output, 'run.json'), 'utf8'));
    expect(record).toMatchObject({ status: 'finished', mode: 'sft+rl', seeds: { run: '0' } });
    const { config, weights } = await loadModel(result.model!);
    expect(config.layers).toBe(1);
    const summary = JSON.parse(await readFile(join(output, 'summary.json'), 'utf8'));
    expect(result.summary).toEqual(summary);
    expect(summary).toMatchObject({
      ...{ seed: '0', heldOutProblems: 10, sftSteps: 4, rlSteps: 3 },
      parameters: [...weights.values()].reduce((sum, { data }) => sum + data.length, 0),
      heldOutAccuracyAfterRl: final.accuracy,
    });
    for (const field of ['heldOutAccuracyBefore', 'heldOutAccuracyAfterSft'])
      expect(summary[field]).toBeTypeOf('number');
    expect(Math.min(summary.trainTokensPerSecond, summary.generateTokensPerSecond)).toBeGreaterThan(0);
    const page = await readFile(join(output, 'report.html'), 'utf8');
    for (const label of ['accuracy before', 'accuracy after SFT', 'accuracy after RL'])
      expect(page).toContain(label);
    expect(text()).toContain('30 rows to imitate, 20 to practise, 10 held out');
  }, 240_000);

  it('names the row that its tokenizer cannot write', async () => {
    const create = {
      ...(tiny.model as { create: object }).create,
      tokenizer: { characters: '0123456789+=,' },
    };
    const config = {
      ...tiny,
      model: { create },
      output: join(directory, 'letters'),
      evaluation: 'none',
    } as RunConfig;
    await expect(trainRun(config, { stream: recorded().stream })).rejects.toThrow(
      /^sft: row \S+: encode: "<" is not in the alphabet; add it to the alphabet/,
    );
  });

  it('refuses rows without what they are for, before the model is trained', async () => {
    const rows = [
      { prompt: '1+1=', answer: '2' },
      { prompt: '1+2=' },
      { prompt: '1+3=', answer: { sum: 4 } },
    ];
    const data = join(directory, 'gaps.jsonl');
    await writeFile(data, rows.map((row) => JSON.stringify(row)).join('\n'));
    const { model, algorithm } = tiny;
    const output = join(directory, 'gaps');
    const shared = { model, data, output, evaluation: 'none' as const };
    await expect(trainRun({ ...shared, algorithm, rewards: { right: 'answer' } })).rejects.toThrow(
      `rewards.right: 2 of 3 rows have no answer to compare with, the first is ${data}, row 2; give them`,
    );
    await expect(trainRun({ ...shared, sft: { updates: 1 } })).rejects.toThrow(
      `sft: 2 of 3 rows have no text to imitate, the first is ${data}, row 2; give them`,
    );
    await expect(trainRun({ ...shared, evaluation: { heldOut: 1 }, sft: { updates: 1 } })).rejects.toThrow(
      `sft: 2 of 3 rows have no text to imitate, the first is ${data}, row 2; give them`,
    );
    expect(await readdir(directory)).not.toContain('gaps');
  });

  it('imitates the texts of a corpus whole, and refuses to imitate what it practises', async () => {
    const data = join(directory, 'corpus.jsonl');
    const texts = ['1+1=2', '1+2=3', '1+3=4'];
    await writeFile(data, texts.map((text) => JSON.stringify({ text })).join('\n'));
    const { model, algorithm } = tiny;
    const { stream, text } = recorded();
    const output = join(directory, 'corpus');
    const shared = { model, data, sft: { updates: 1 } };
    await trainRun({ ...shared, output }, { stream });
    expect(text()).toContain('3 rows to imitate, none held out, because texts have no answer');
    const [sft] = metricRowsFromJsonl(await readFile(join(output, 'metrics.jsonl'), 'utf8'));
    // Every character of each text, and its end.
    expect(sft!.metrics['tokens/trained']).toBe(3 * 6);
    const both = { ...shared, algorithm, rewards: { right: 'answer' as const }, output: `${output} 2` };
    await expect(trainRun(both)).rejects.toThrow('sft: 3 of 3 rows have no text to imitate');
  });

  it('plans a smaller batch at the end of each pass over the rows', async () => {
    const data = join(directory, 'odd.jsonl');
    await writeFile(data, ['1+1=2', '1+2=3', '1+3=4'].map((text) => JSON.stringify({ text })).join('\n'));
    const backend = { learningRate: 1e-2, schedule: { kind: 'linear' as const } };
    const sft = { epochs: 2, sequencesPerBatch: 2, backend };
    const output = join(directory, 'odd');
    await trainRun({ model: tiny.model, data, sft, output });
    const rows = metricRowsFromJsonl(await readFile(join(output, 'metrics.jsonl'), 'utf8'));
    expect(rows.map(({ metrics }) => metrics['learning-rate'])).toEqual(
      [1, 0.75, 0.5, 0.25].map((share) => expect.closeTo(share * 1e-2, 6)),
    );
  });

  it('says before training that its rewards give nothing for the answers that it will imitate', async () => {
    const data = join(directory, 'plain.jsonl');
    const rows = Array.from({ length: 12 }, (_, n) =>
      JSON.stringify({ question: `${n}+0=`, answer: `${n}` }),
    );
    await writeFile(data, rows.join('\n'));
    const doubts = async (rewards: RunConfig['rewards'], name: string) => {
      const controller = new AbortController();
      const { stream, text } = recorded((written) => {
        if (/SFT 1\/4/.test(written)) controller.abort();
      });
      const output = join(directory, name);
      const sft = { updates: 4, sequencesPerBatch: 2 };
      const run = { ...tiny, data, rewards, sft, output, evaluation: 'none' as const };
      await trainRun(run, { stream, signal: controller.signal });
      expect(text()).toMatch(/SFT 1\/4/);
      return text().slice(0, text().indexOf('SFT 1/4'));
    };
    const doubt = 'The reward "right" gives 0 to the first 12 answers that will be imitated';
    expect(await doubts({ right: 'exactAnswer' }, 'tags')).toContain(doubt);
    expect(await doubts({ right: 'answer' }, 'ends')).not.toContain('gives 0');
    expect(await doubts({ right: () => 0 }, 'judge')).not.toContain('gives 0');
  }, 60_000);

  it('practises with a correction of frozen weights in 8 bits', async () => {
    const output = join(directory, 'bytes');
    const { stream } = recorded();
    const backend = { learningRate: 1e-2, lora: { rank: 2, base: 'int8' as const } };
    const { sft: _, ...practice } = tiny;
    const result = await trainRun({ ...practice, backend, output }, { stream });
    expect(result.status).toBe('finished');
    const rows = metricRowsFromJsonl(await readFile(join(output, 'metrics.jsonl'), 'utf8'));
    expect(rows.map(({ step }) => step)).toEqual([0, 1, 2]);
    await loadModel(result.model!);
  });

  it('stops at the signal, and the next call ends where an uninterrupted run does', async () => {
    const output = join(directory, 'stopped');
    const controller = new AbortController();
    const during = recorded((written) => {
      if (/RL 1\/3/.test(written)) controller.abort();
    });
    const stopped = await trainRun({ ...tiny, output }, { stream: during.stream, signal: controller.signal });
    expect(stopped).toMatchObject({ status: 'stopped', evaluation: undefined, model: undefined });
    const after = recorded();
    const resumed = await trainRun({ ...tiny, output }, { stream: after.stream });
    expect(resumed.status).toBe('finished');
    expect(after.text()).not.toMatch(/SFT 1\/4|RL 1\/3/);
    expect(after.text()).toMatch(/RL continues after iteration [12]\./);
    const weightsOf = async (name: string) =>
      [...(await loadModel(join(directory, name, 'checkpoints', 'last'))).weights.values()].map(
        ({ data }) => data,
      );
    expect(await weightsOf('stopped')).toEqual(await weightsOf('whole'));
    const again = await trainRun({ ...tiny, output }, { stream: recorded().stream });
    expect(again.evaluation?.accuracy).toBe(resumed.evaluation?.accuracy);
  }, 240_000);

  it('makes more iterations of a finished run as one does that was longer from the start', async () => {
    const rewards: RunConfig['rewards'] = { long: ({ response }) => response.length };
    const { sft: _, ...practice } = { ...tiny, rewards };
    const weightsAfter = async (name: string, iterations: number) => {
      const output = join(directory, name);
      const algorithm = { ...practice.algorithm, iterations };
      const config = { ...practice, output, algorithm, checkpoints: { every: 100 } };
      const { stream, text } = recorded();
      const { status } = await trainRun(config, { stream });
      expect(status).toBe('finished');
      const { weights } = await loadModel(join(output, 'checkpoints', 'last'));
      return { text: text(), weights: [...weights.values()].map(({ data }) => data) };
    };
    const short = await weightsAfter('longer', 1);
    const longer = await weightsAfter('longer', 3);
    expect(longer.text).toContain('RL continues after iteration 1.');
    const whole = await weightsAfter('long', 3);
    expect(longer.weights).toEqual(whole.weights);
    expect(longer.weights).not.toEqual(short.weights);
    const stepsOf = async (name: string) =>
      metricRowsFromJsonl(await readFile(join(directory, name, 'metrics.jsonl'), 'utf8')).map(
        ({ step }) => step,
      );
    expect(await stepsOf('longer')).toEqual(await stepsOf('long'));
  }, 60_000);

  it('keeps what it made before a signal that comes during an evaluation, and evaluates when it goes on', async () => {
    const { sft: _, ...practice } = tiny;
    const output = join(directory, 'evaluating');
    const controller = new AbortController();
    let calls = 0;
    // The policy before training, two iterations, and the evaluation after them.
    const right = () => {
      if (++calls === 10 + 2 * 4 + 1) controller.abort();
      return 0;
    };
    const config: RunConfig = { ...practice, output, rewards: { right }, checkpoints: { every: 100 } };
    const { stream, text } = recorded();
    const { status } = await trainRun(config, { stream, signal: controller.signal });
    expect(status).toBe('stopped');
    const rows = metricRowsFromJsonl(await readFile(join(output, 'metrics.jsonl'), 'utf8'));
    expect(rows.map(({ step }) => step)).toEqual([0, 1]);
    expect(await readdir(join(output, 'evaluations'))).not.toContain('rl-00000002.json');
    await trainRun(config, { stream });
    expect(text()).toContain('RL continues after iteration 2.');
    expect(await readdir(join(output, 'evaluations'))).toContain('rl-00000002.json');
    const after = metricRowsFromJsonl(await readFile(join(output, 'metrics.jsonl'), 'utf8'));
    expect(after.map(({ step }) => step)).toEqual([0, 1, 2]);
    const learned = rows[1]?.metrics['time/learn'];
    expect(after[1]?.metrics).toMatchObject({ 'time/learn': learned, 'evaluation/accuracy': 0 });
  }, 60_000);

  it('stops when its folder is renamed, and goes on there', async () => {
    const output = join(directory, 'renamed');
    const moved = join(directory, 'moved');
    const { sft: _, ...practice } = tiny;
    const config: RunConfig = { ...practice, evaluation: 'none', trajectories: 'none', output };
    const { stream, text } = recorded((written) => {
      if (/RL 2\/3/.test(written) && existsSync(output)) renameSync(output, moved);
    });
    await expect(trainRun(config, { stream })).rejects.toThrow(`${output} was renamed, moved or deleted`);
    expect(await readdir(directory)).not.toContain('renamed');
    expect(await trainRun({ ...config, output: moved }, { stream })).toMatchObject({ status: 'finished' });
    expect(text()).toMatch(/RL continues after iteration [12]\./);
  }, 60_000);

  it('keeps what it made before it stopped by itself', async () => {
    const { sft: _, ...practice } = tiny;
    const output = join(directory, 'outage');
    let calls = 0;
    const right = () => {
      if (++calls > 2 * 4 && calls < 100) throw new Error('the judge is away');
      return calls % 2;
    };
    const algorithm = { ...tiny.algorithm, failureBudget: { retries: 0 } };
    const unsaved = { checkpoints: { every: 100 }, evaluation: 'none' } as const;
    const config: RunConfig = { ...practice, ...unsaved, output, algorithm, rewards: { right } };
    const { stream, text } = recorded();
    await expect(trainRun(config, { stream })).rejects.toThrow('the judge is away');
    calls = 100;
    await trainRun(config, { stream });
    expect(text()).toContain('RL continues after iteration 2.');
  }, 60_000);

  it('fails with the error that came after the signal, and says so in its record', async () => {
    const output = join(directory, 'full-disk');
    const controller = new AbortController();
    const during = recorded((written) => {
      if (!/SFT 2\/4/.test(written) || controller.signal.aborted) return;
      controller.abort();
      // Checkpoints cannot be written from now on.
      mkdirSync(join(output, 'checkpoints'), { recursive: true });
      rmSync(join(output, 'checkpoints', 'sft'), { recursive: true, force: true });
      writeFileSync(join(output, 'checkpoints', 'sft'), '');
    });
    const run = trainRun({ ...tiny, output }, { stream: during.stream, signal: controller.signal });
    await expect(run).rejects.toThrow(/checkpoints\/sft/);
    const record = JSON.parse(await readFile(join(output, 'run.json'), 'utf8'));
    expect(record).toMatchObject({ status: 'failed', problem: expect.stringMatching(/checkpoints\/sft/) });
  }, 60_000);

  it('keeps what the run says of the backend where a stage says something else', async () => {
    const output = join(directory, 'backend');
    const backend = { learningRate: 1e-3 };
    const sft = { ...tiny.sft, updates: 1, backend };
    const rollout = { groupSize: 2, sampling: { maxTokens: 12 } };
    const algorithm = { name: 'ppo', iterations: 1, tasksPerIteration: 2, rollout, backend } as const;
    const config: RunConfig = { ...tiny, output, sft, algorithm, backend: { reference: 'none' } };
    // PPO has a value head, also with a learning rate of its own.
    expect((await trainRun(config, { stream: recorded().stream })).status).toBe('finished');
    for (const stage of ['sft', 'rl']) {
      const saved = await readdir(join(output, 'checkpoints', stage, 'checkpoint-00000001', 'backend'));
      expect(saved).toContain('optimizer.safetensors');
      expect(saved).not.toContain('reference.safetensors');
    }
  }, 60_000);

  it('names every option of the call that is wrong', async () => {
    const wrong = { existing: 'delete', signall: 1, stream: {} } as never;
    await expect(trainRun({ ...tiny, output: join(directory, 'none') }, wrong)).rejects.toThrow(
      /existing: expected one of[\s\S]*stream: must be a stream[\s\S]*"signall"; did you mean signal\?/,
    );
  });

  it('refuses a folder of another configuration, and one with other files', async () => {
    const output = join(directory, 'whole');
    const other = { ...tiny, output, sft: { ...tiny.sft, updates: 5 } };
    await expect(trainRun(other)).rejects.toThrow(
      /another configuration \(sft\.updates: 4 there, 5 here\).*--new/,
    );
    const files = join(directory, 'files');
    await writeFile(files, 'mine');
    await expect(trainRun({ ...tiny, output: files })).rejects.toThrow(/is not a folder/);
    await expect(trainRun({ ...tiny, output: directory })).rejects.toThrow(/not an earlier run's.*--out/);
    await closeRun(output);
  });

  it('refuses answers that cannot fit before it imitates anything', async () => {
    const algorithm = { rollout: { sampling: { maxTokens: 100 } } };
    await expect(trainRun({ ...tiny, algorithm, output: join(directory, 'long-answers') })).rejects.toThrow(
      /trainRun: .*`sampling\.maxTokens` is 100, but the sampler's context holds 64 tokens/s,
    );
    expect(existsSync(join(directory, 'long-answers'))).toBe(false);
  });

  it('names all problems of a configuration at once, before anything is loaded', async () => {
    const wrong = {
      ...tiny,
      mode: 'sft',
      model: 'nowhere',
      learning_rate: 1,
      output_dir: 'runs',
      algorithm: { ...tiny.algorithm, num_generations: 8 },
      rewards: { accuracy: 'exactAnswr', format: { name: 'tagFormat', params: { tag: ['a'] } } },
      output: join(directory, 'none'),
    };
    const problem = await trainRun(wrong as RunConfig).catch((error: Error) => error.message);
    expect(problem).toContain('Unrecognized option "learning_rate"; in rlp this is backend.learningRate');
    expect(problem).toContain('"output_dir"; in rlp this is output');
    expect(problem).toContain('num_generations"; in rlp this is algorithm.rollout.groupSize');
    expect(problem).toContain("algorithm: mode 'sft' does not use it");
    expect(problem).toMatch(/rewards\.accuracy: expected one of .*; did you mean exactAnswer/);
    expect(problem).toContain('rewards.format.params');
  });
});
