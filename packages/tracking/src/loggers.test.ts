import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { FormatError, type MetricsLogger } from '@rlp/core';
import { describeMetricsLogger } from '@rlp/core/testing';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type ConsoleLoggerOptions,
  compositeLogger,
  consoleLogger,
  JsonlLogger,
  logRowsFromJsonl,
  metricRowsFromJsonl,
} from './index.ts';
import { LogFile } from './log-file.ts';
import { defaultColumns, formatColumns, formatDuration, formatNumber } from './progress-line.ts';

const directory = mkdtempSync(join(tmpdir(), 'tracking-'));
afterAll(() => rmSync(directory, { recursive: true }));

let path: string;
let files = 0;
const newPath = () => join(directory, 'nested', `${++files}.jsonl`);
beforeEach(() => {
  path = newPath();
});
const read = async () => metricRowsFromJsonl(readFileSync(path, 'utf8'));
const quiet = { onProblem: () => undefined };
const newJsonl = () => {
  path = newPath();
  return new JsonlLogger({ path, ...quiet });
};
const sink = () => new PassThrough().resume();

const readRows = async () => logRowsFromJsonl(readFileSync(path, 'utf8'));

describeMetricsLogger('JsonlLogger', { create: newJsonl, read: readRows });
describeMetricsLogger('consoleLogger', { create: () => consoleLogger({ iterations: 6, stream: sink() }) });
describeMetricsLogger('compositeLogger', {
  create: () => compositeLogger(consoleLogger({ iterations: 6, stream: sink() }), newJsonl()),
  read: readRows,
});

describe('JsonlLogger', () => {
  it('has every row in the file before log returns', () => {
    const logger = new JsonlLogger({ path });
    logger.log(0, { 'reward/mean': 0.5 });
    expect(readFileSync(path, 'utf8')).toBe('{"step":0,"metrics":{"reward/mean":0.5}}\n');
  });

  it('keeps metrics apart from notes, samples and findings, and refuses anything else', async () => {
    const logger = new JsonlLogger({ path });
    const evidence = { gap: Number.POSITIVE_INFINITY };
    logger.log(0, { a: 1 });
    logger.note(0, 'NaN');
    logger.finding(0, { rule: 'gap', severity: 'low', message: 'wide', evidence, iteration: 0 });
    await logger.close();
    expect(await read()).toEqual([{ step: 0, metrics: { a: 1 } }]);
    const [, note, found] = await readRows();
    expect([note, found]).toMatchObject([{ note: 'NaN' }, { finding: { evidence } }]);
    for (const line of [
      '{"step":0,"note":1}',
      '{"step":0,"samples":[{}]}',
      '{"step":0,"finding":{"evidence":{}}}',
      '{"step":0,"note":"a","metrics":{}}',
    ]) {
      expect(() => metricRowsFromJsonl(line, 'log.jsonl')).toThrow(/log.jsonl, line 1: expected/);
    }
  });

  it('keeps numbers that JSON does not know', async () => {
    const logger = new JsonlLogger({ path });
    const metrics = { a: Number.NaN, b: Number.POSITIVE_INFINITY, c: Number.NEGATIVE_INFINITY };
    logger.log(0, metrics);
    await logger.close();
    expect(await read()).toEqual([{ step: 0, metrics }]);
  });

  it('stays readable after a sample whose reward is not finite', async () => {
    const logger = new JsonlLogger({ path });
    const sample = { task: 't', prompt: 'p', response: 'r' };
    logger.samples(0, [{ ...sample, reward: Number.NaN, components: { a: Number.POSITIVE_INFINITY, b: 1 } }]);
    logger.log(0, { a: 1 });
    await logger.close();
    const samples = [{ ...sample, reward: null, components: { a: null, b: 1 } }];
    expect(await readRows()).toEqual([
      { step: 0, samples },
      { step: 0, metrics: { a: 1 } },
    ]);
  });

  it('continues a file, without the line that a crash cut short', async () => {
    await log(new JsonlLogger({ path }), 0);
    appendFileSync(path, `{"step":1,"metrics":{"filler":${'1'.repeat(70_000)}`);
    await log(new JsonlLogger({ path }), 1);
    expect((await read()).map(({ step }) => step)).toEqual([0, 1]);
    writeFileSync(path, '{"step"');
    await log(new JsonlLogger({ path }), 2);
    expect((await read()).map(({ step }) => step)).toEqual([2]);
  });

  it('takes nothing from a file whose last line is whole, or is no row of its own', async () => {
    for (const line of ['{"step":0,"metrics":{}}', 'notes of mine']) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, line);
      await log(new JsonlLogger({ path }), 1);
      expect(readFileSync(path, 'utf8')).toMatch(new RegExp(`^${line}\\n{"step":1,.*}\\n$`));
    }
  });

  it('reads the last row of a step that a resumed run repeated', async () => {
    for (const value of [1, 2]) {
      const logger = new JsonlLogger({ path });
      for (const step of [value, value + 1]) logger.log(step, { value });
      await logger.close();
    }
    expect(await read()).toEqual([
      { step: 1, metrics: { value: 1 } },
      { step: 2, metrics: { value: 2 } },
      { step: 3, metrics: { value: 2 } },
    ]);
  });

  it.skipIf(!existsSync('/dev/full'))('reports once that the disk is full, and goes on', async () => {
    const problems: string[] = [];
    const logger = new JsonlLogger({ path: '/dev/full', onProblem: (problem) => problems.push(problem) });
    for (const step of [0, 1, 2]) logger.log(step, { a: 1 });
    await logger.close();
    expect(problems).toEqual([
      expect.stringMatching(/^JsonlLogger: metrics are not written to \/dev\/full: ENOSPC/),
      // Three rows, and that they are not on disk in the end.
      'JsonlLogger: metrics are not written to /dev/full: 3 times in total',
    ]);
  });

  it('loses only the row that a full disk cut short', () => {
    const problems: string[] = [];
    let room = 25;
    const write = (descriptor: number, bytes: Uint8Array, offset: number) => {
      if (room === 0) throw new Error('ENOSPC');
      const written = writeSync(descriptor, bytes, offset, Math.min(room, bytes.length - offset));
      room -= written;
      return written;
    };
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, 'earlier\n');
    const file = new LogFile({
      path,
      owner: 'test',
      onProblem: (problem) => problems.push(problem),
      write,
    });
    for (const row of ['a whole row\n', 'one that is cut\n', 'one that has no room\n']) {
      file.append(Buffer.from(row));
    }
    room = 100;
    file.append(Buffer.from('the next\n'));
    file.close();
    expect(readFileSync(path, 'utf8')).toBe('earlier\na whole row\nthe next\n');
    expect(problems.at(-1)).toBe(`test: metrics are not written to ${path}: 2 times in total`);
  });

  it('fails at once where it can never write', () => {
    expect(() => new JsonlLogger({ path: directory })).toThrow('EISDIR');
    expect(() => new JsonlLogger({ path, file: 'x' } as never)).toThrow('Unrecognized option "file"');
  });
});

describe('metricRowsFromJsonl', () => {
  it.each(['{"step":1}', '{"step":1,"metrics":{"a":"x"}}', '{'])('names the line of %s', (line) => {
    const read = () => metricRowsFromJsonl(`{"step":0,"metrics":{}}\n${line}`, 'metrics.jsonl');
    expect(read).toThrow(FormatError);
    expect(read).toThrow(/^metrics\.jsonl, line 2: expected \{"step", "metrics"\} as JSON, .*: /);
  });
});

describe('consoleLogger', () => {
  function show(options: Partial<ConsoleLoggerOptions>, tty: 'terminal' | 'file') {
    const stream = Object.assign(new PassThrough(), { isTTY: tty === 'terminal', columns: 120 });
    let now = 0;
    const logger = consoleLogger({ iterations: 20, stream, clock: () => now, label: 'grpo', ...options });
    const log = (step: number) => {
      now += 2000;
      logger.log(step, { 'reward/mean': step / 20, 'kl/reference': 0.0042, 'tokens/computed': 24_000 });
    };
    const text = async () => {
      await logger.close();
      return String(stream.read() ?? '');
    };
    return { log, text, logger };
  }
  afterEach(() => vi.unstubAllEnvs());

  it.each(['terminal', 'file'] as const)('tells notes, findings and some samples on a %s', async (tty) => {
    const { log, text, logger } = show({}, tty);
    log(0);
    logger.note!(0, 'nothing was scored');
    const sample = { task: 't', prompt: 'p'.repeat(70), response: 'a\nb', reward: null, components: {} };
    for (const step of [0, 1, 2, 3]) logger.samples!(step, [sample, sample]);
    for (const severity of ['low', 'medium'] as const)
      logger.finding!(3, { rule: 'gap', severity, message: 'wide', evidence: {}, iteration: 3 });
    const told = (await text()).split(/[\r\n]+/).map((line) => line.replace('\x1b[2K', ''));
    expect(told.filter((line) => / · (note|sample|low|medium)/.test(line))).toEqual([
      'grpo 1/20 · note: nothing was scored',
      `grpo 1/20 · sample: "…${'p'.repeat(60)}" → "a\\nb", reward none`,
      'grpo 2/20 · sample: "…'.concat('p'.repeat(60), '" → "a\\nb", reward none'),
      'grpo 4/20 · sample: "…'.concat('p'.repeat(60), '" → "a\\nb", reward none'),
      'grpo 4/20 · medium finding gap: wide',
    ]);
  });

  it('writes plain lines every so many per cent where there is no terminal', async () => {
    const { log, text } = show({ plainLineEvery: 25 }, 'file');
    for (let step = 0; step < 20; step++) log(step);
    expect((await text()).trimEnd().split('\n')).toEqual([
      'grpo 1/20 · reward 0 · KL 0.004 · tokens/s 12 000 · ETA 38s',
      'grpo 5/20 · reward 0.200 · KL 0.004 · tokens/s 12 000 · ETA 30s',
      'grpo 10/20 · reward 0.450 · KL 0.004 · tokens/s 12 000 · ETA 20s',
      'grpo 15/20 · reward 0.700 · KL 0.004 · tokens/s 12 000 · ETA 10s',
      'grpo 20/20 · reward 0.950 · KL 0.004 · tokens/s 12 000 · ETA 0s',
    ]);
  });

  it('prints the last iteration, whatever the share of a line', async () => {
    const { log, text } = show({ plainLineEvery: 30 }, 'file');
    for (let step = 0; step < 20; step++) log(step);
    const made = (await text())
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ')[1]);
    expect(made).toEqual(['1/20', '6/20', '12/20', '18/20', '20/20']);
  });

  it('counts a resumed run from where it began', async () => {
    const { log, text } = show({ startedAt: 18 }, 'file');
    log(18);
    expect(await text()).toContain('grpo 19/20 · reward 0.900 · KL 0.004 · tokens/s 12 000 · ETA 2s');
  });

  it('does not show an iteration again that an earlier process made', async () => {
    const { log, text } = show({ startedAt: 18 }, 'file');
    log(17);
    log(18);
    expect(await text()).toBe('grpo 19/20 · reward 0.900 · KL 0.004 · tokens/s 12 000 · ETA 4s\n');
  });

  it('draws a bar on a terminal, without colours', async () => {
    vi.stubEnv('CI', '');
    vi.stubEnv('TERM', 'xterm-256color');
    const { log, text } = show({}, 'terminal');
    log(0);
    log(19);
    const drawn = await text();
    expect(drawn).toContain('20/20  reward 0.950 · KL 0.004 · tokens/s 12 000  ETA 0s');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control sequences
    expect(drawn).not.toMatch(/\u001b\[[\d;]*m/);
  });

  it.each([
    ['CI', 'true'],
    ['TERM', 'dumb'],
  ])('writes plain lines where %s is %s', async (name, value) => {
    vi.stubEnv(name, value);
    const { log, text } = show({}, 'terminal');
    log(0);
    expect(await text()).toBe('grpo 1/20 · reward 0 · KL 0.004 · tokens/s 12 000 · ETA 38s\n');
  });

  it('leaves out what was not measured', async () => {
    const stream = new PassThrough();
    const logger = consoleLogger({ iterations: 1, stream, clock: () => 0 });
    logger.log(0, { 'loss/sft': 1234.5 });
    expect(String(stream.read())).toBe('training 1/1 · loss 1 235 · ETA 0s\n');
  });

  it('shows loss and accuracy of preference training', () => {
    const stream = new PassThrough();
    const logger = consoleLogger({ iterations: 1, stream, clock: () => 0 });
    logger.log(0, { 'loss/preference': 0.5, 'reward/accuracy': 0.75, 'reward/margin': 1 });
    expect(String(stream.read())).toBe('training 1/1 · loss 0.500 · accuracy 0.750 · ETA 0s\n');
  });

  it('names every bad option at once', () => {
    expect(() => consoleLogger({ iterations: 0, stream: 1 } as never)).toThrow(
      /iterations[\s\S]*stream: must be a writable stream/,
    );
  });
});

describe('numbers and durations', () => {
  it.each([
    [0, '0'],
    [0.00001, '1.0e-5'],
    [-0.25, '-0.250'],
    [123.456, '123.5'],
    [1234567, '1 234 567'],
    [Number.NaN, 'NaN'],
  ])('writes %d as %s', (value, text) => expect(formatNumber(value)).toBe(text));

  it.each([
    [59.4, '59s'],
    [185, '3m 05s'],
    [3600, '1h 00m'],
    [7800, '2h 10m'],
    [Number.POSITIVE_INFINITY, '?'],
  ])('writes %d seconds as %s', (seconds, text) => expect(formatDuration(seconds)).toBe(text));

  it('leaves out a rate without time, and one of nothing', () => {
    const metrics = { 'reward/mean': 1, 'tokens/computed': 5 };
    expect(formatColumns(defaultColumns, metrics, 0)).toBe('reward 1.000');
    // An iteration whose groups have equal rewards samples, but computes no update.
    expect(formatColumns(defaultColumns, { ...metrics, 'tokens/computed': 0 }, 1)).toBe('reward 1.000');
    expect(formatColumns([{ label: 'x', metric: 'constructor' }], metrics, 1)).toBe('');
  });
});

describe('compositeLogger', () => {
  it('shows the run on the console if one of its loggers does', () => {
    const shown = consoleLogger({ iterations: 1, stream: sink() });
    expect(compositeLogger(newJsonl(), shown).shows).toBe('console');
    expect(compositeLogger({ ...shown, shows: 'findings' }, shown).shows).toBe('console');
    expect(compositeLogger(newJsonl()).shows).toBeUndefined();
  });

  it('refuses a list of loggers, which would log nothing', () => {
    expect(() => compositeLogger([newJsonl()] as never)).toThrow(
      'compositeLogger: expected loggers, got a list; write compositeLogger(first, second)',
    );
  });

  it('gives the others their row when one breaks its contract', async () => {
    const broken: MetricsLogger = {
      log: () => {
        throw new Error('broken');
      },
      close: () => Promise.reject(new Error('broken')),
    };
    const logger = compositeLogger(broken, new JsonlLogger({ path }));
    const warn = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    for (const step of [0, 1, 2]) logger.log(step, { a: 1 });
    await expect(logger.close()).rejects.toThrow('broken');
    expect(await read()).toHaveLength(3);
    expect(warn.mock.calls).toEqual([
      ['compositeLogger: logger 0 threw: broken; further failures are only counted'],
      ['compositeLogger: logger 0 threw: 3 times in total'],
    ]);
    warn.mockRestore();
  });
});

async function log(logger: JsonlLogger, step: number): Promise<void> {
  logger.log(step, { a: step });
  await logger.close();
}
