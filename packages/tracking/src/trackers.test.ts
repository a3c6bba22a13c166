import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeMetricsLogger } from '@rlp/core/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { MlflowLogger, TensorBoardLogger, wandbLogger } from './index.ts';
import { crc32c } from './tensorboard/crc32c.ts';
import { eventRecord } from './tensorboard/event-file.ts';
import { finding, hasModule, python, samples } from './testing/readers.ts';

const directory = mkdtempSync(join(tmpdir(), 'trackers-'));
afterAll(() => rmSync(directory, { recursive: true }));
let runs = 0;
const newDirectory = () => join(directory, `run-${runs++}`);

describeMetricsLogger('TensorBoardLogger', {
  create: () => new TensorBoardLogger({ directory: newDirectory() }),
});
describeMetricsLogger('wandbLogger', { create: () => wandbLogger({ log: () => undefined }) });

describe('crc32c', () => {
  // RFC 3720, appendix B.4.
  it.each([
    [new Uint8Array(32), 0x8a9136aa],
    [new Uint8Array(32).fill(255), 0x62a8ab43],
    [Uint8Array.from({ length: 32 }, (_, at) => at), 0x46dd794e],
  ])('is that of the standard', (bytes, checksum) => {
    expect(crc32c(bytes)).toBe(checksum);
  });
});

describe('TensorBoardLogger', () => {
  const write = async (to: string) => {
    const logger = new TensorBoardLogger({ directory: to, clock: () => 1_700_000_000_500 });
    logger.note(0, 'one');
    logger.samples(0, samples);
    logger.finding(0, finding);
    for (let step = -1; step < 199; step++)
      logger.log(step, { 'reward/mean': step / 4, 'loss/policy': Number.NaN });
    await logger.close();
    const [file, ...others] = readdirSync(to);
    expect(others).toEqual([]);
    return join(to, file!);
  };

  it('begins its file as the format wants it', async () => {
    const file = await write(newDirectory());
    expect(file).toMatch(/events\.out\.tfevents\.1700000000\.rlp\.\d+\.\d+$/);
    const bytes = readFileSync(file);
    expect(bytes.readBigUInt64LE(0)).toBe(24n);
    // Event { wall_time: 1700000000.5, file_version: "brain.Event:2" }
    expect(bytes.subarray(12, 36).toString('hex')).toBe(
      `09${Buffer.from(new Float64Array([1_700_000_000.5]).buffer).toString('hex')}1a0d${Buffer.from('brain.Event:2').toString('hex')}`,
    );
  });

  it('writes steps below 0, as of an evaluation before the first, as whole numbers of 64 bits', () => {
    const stepIn = (step: number) =>
      Buffer.from(eventRecord({ wallTime: 0, step }))
        .subarray(21, -4)
        .toString('hex');
    // Field 2, a varint: -1 is ten bytes of two's complement.
    expect([-1, 0, 300, 2.5, Number.NaN].map(stepIn)).toEqual([
      '10ffffffffffffffffff01',
      '1000',
      '10ac02',
      '1002',
      '1000',
    ]);
  });

  it('writes texts as tensors of one string, for the plugin `text`', () => {
    const record = Buffer.from(eventRecord({ wallTime: 0, texts: { notes: 'hi' } })).subarray(21, -4);
    // Event.summary { value { tag: "notes", tensor { DT_STRING, shape [1], "hi" }, metadata { plugin_data { "text" } } } }
    const text = (value: string) => Buffer.from(value).toString('hex');
    expect(record.toString('hex')).toBe(
      `2a210a1f0a05${text('notes')}4a080a060a04${text('text')}420c08071204120208014202${text('hi')}`,
    );
  });

  it.skipIf(!hasModule('tensorboard'))("is read by TensorBoard's own reader", async () => {
    const to = newDirectory();
    await write(to);
    const script = [
      'import sys, json',
      'from tensorboard.backend.event_processing.event_accumulator import EventAccumulator',
      'events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0}).Reload()',
      'texts = {tag: events.Tensors(tag)[0].tensor_proto.string_val[0].decode() for tag in events.Tags()["tensors"]}',
      'print(json.dumps(texts))',
      'print(json.dumps({tag: [[e.step, e.value, e.wall_time] for e in events.Scalars(tag)] for tag in events.Tags()["scalars"]}))',
    ].join('\n');
    const read = execFileSync(python, ['-c', script, to], { encoding: 'utf8' });
    const [texts, scalars] = read
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line.replaceAll('NaN', 'null')));
    expect(texts).toEqual({
      notes: 'one',
      samples:
        '| task | prompt | response | reward | exact | short |\n|---|---|---|---|---|---|\n| t1 | 1+1= | 2 | 1 | 1 |  |\n| t2 | 1+2= | a\\|b ⏎ c |  |  | 0.5 |',
      findings: '**high spread**: wide',
    });
    expect(Object.keys(scalars)).toEqual(['reward/mean', 'loss/policy']);
    expect(scalars['reward/mean']).toHaveLength(200);
    expect(scalars['reward/mean'][0][0]).toBe(-1);
    expect(scalars['reward/mean'][8]).toEqual([7, 1.75, 1_700_000_000.5]);
  });
});

describe('wandbLogger', () => {
  it('logs by step, and says once that the run fails', async () => {
    const logged: unknown[] = [];
    const problems: string[] = [];
    const run = {
      log(data: unknown, { step }: { readonly step: number }) {
        if (step > 0) throw new Error('offline');
        logged.push([step, data]);
      },
    };
    const logger = wandbLogger(run, { onProblem: (message) => problems.push(message) });
    for (let step = 0; step < 4; step++) logger.log(step, { a: step });
    await logger.close();
    expect(logged).toEqual([[0, { a: 0 }]]);
    expect(problems).toEqual([
      'wandbLogger: metrics are not logged: offline; further failures are only counted',
      'wandbLogger: metrics are not logged: 3 times in total',
    ]);
    expect(() => wandbLogger(undefined as never)).toThrow('start the run before the logger');
  });
});

describe('a listener that throws', () => {
  it('ends no run: logging and closing go on', async () => {
    const onProblem = () => {
      throw new Error('nobody listens');
    };
    const gone: typeof fetch = async () => {
      throw new Error('gone');
    };
    const loggers = [
      new MlflowLogger({ url: 'http://127.0.0.1:1', experiment: 'e', fetch: gone, attempts: 1, onProblem }),
      wandbLogger({ log: () => Promise.reject(new Error('offline')) }, { onProblem }),
      new TensorBoardLogger({ directory: newDirectory(), onProblem }),
    ];
    for (const logger of loggers) {
      logger.log(0, { a: 1 });
      logger.log(1, { a: 1 });
      await logger.close();
      logger.log(2, { a: 1 });
    }
  });
});
