import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FormatError, type Trajectory } from '@rlp/core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { trajectoriesFromJsonl, trajectoryFromLine, trajectoryToLine } from './index.ts';
import { appendTrajectories, readTrajectories } from './jsonl.ts';

const trajectory = (id: string): Trajectory => ({
  id,
  task: { id: 'a', prompt: 'Größe?', metadata: { answer: '2' } },
  steps: [
    {
      promptTokens: [1],
      tokens: [2, 0],
      behaviorLogprobs: [-0.1, -1e-30],
      text: '2\u2028',
      stopReason: 'stop',
    },
  ],
  messages: [{ role: 'user', content: 'Größe?' }],
  response: '2\u2028',
  status: 'failed',
  policyVersion: 3,
  group: { id: '0/a', member: 1 },
  failure: { boundary: 'environment', message: 'broke\nin two' },
});

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rollout-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

describe('trajectory records', () => {
  it('come back as they went', () => {
    const text = `${trajectoryToLine(trajectory('a'))}\n\n${trajectoryToLine(trajectory('b'))}\n`;
    expect(trajectoriesFromJsonl(text)).toEqual([trajectory('a'), trajectory('b')]);
    expect(trajectoriesFromJsonl(`\uFEFF${text.replaceAll('\n', '\r\n')}`)).toEqual(
      trajectoriesFromJsonl(text),
    );
  });

  it('come back one by one, and name the place of a line that is no record', () => {
    expect(trajectoryFromLine(` ${trajectoryToLine(trajectory('a'))}\r`, 'here')).toEqual(trajectory('a'));
    expect(() => trajectoryFromLine('{"id"', 'log 3')).toThrow(
      /^log 3: expected one JSON object per line: .*JSON/,
    );
    expect(() => trajectoryFromLine('{"id"', 'log 3')).toThrow(FormatError);
    for (const line of ['7', 'null', '"a"'])
      expect(() => trajectoryFromLine(line, 'log 3')).toThrow('log 3: not a trajectory: expected an object');
  });

  it('name the field that cannot be written, and the line that no place was given for', () => {
    const own = { ...trajectory('a'), outcome: { at: 1n } };
    expect(() => trajectoryToLine(own as never)).toThrow(
      new FormatError('trajectoryToLine: "a" needs plain data, but trajectory.outcome.at is a bigint'),
    );
    const odd = {
      ...trajectory('a'),
      outcome: {
        toJSON: () => {
          throw new Error('no words');
        },
      },
    };
    expect(() => trajectoryToLine(odd as never)).toThrow('but trajectory.outcome.toJSON is a function');
    expect(() => trajectoryFromLine('{')).toThrow(/^line: expected one JSON object per line: /);
    expect(() => trajectoriesFromJsonl('{')).toThrow(
      /^trajectories, line 1: expected one JSON object per line/,
    );
  });

  it('end with the signal, and keep what was appended before', async () => {
    const path = join(directory, 'aborted.jsonl');
    const controller = new AbortController();
    const given = (function* () {
      yield trajectory('a');
      controller.abort(new Error('enough'));
      yield trajectory('b');
    })();
    await expect(appendTrajectories(path, given, { signal: controller.signal })).rejects.toThrow('enough');
    expect(await collect(readTrajectories(path))).toEqual([trajectory('a')]);
    await expect(collect(readTrajectories(path, { signal: controller.signal }))).rejects.toThrow('enough');
  });

  it('are appended behind a line that was cut short, which is removed', async () => {
    const path = join(directory, 'torn.jsonl');
    await writeFile(path, `${trajectoryToLine(trajectory('a'))}\n{"id":"b","ta`);
    expect(await appendTrajectories(path, [])).toBe(0);
    expect(await collect(readTrajectories(path))).toEqual([trajectory('a')]);
  });

  it('of the wrong kind are named with their file and line', async () => {
    const path = join(directory, 'wrong.jsonl');
    await writeFile(path, `${trajectoryToLine(trajectory('a'))}\n\n7\n`);
    await expect(collect(readTrajectories(path))).rejects.toThrow(`${path}, line 3: not a trajectory`);
  });

  it('are not read one by one from a line that has a group of them', () => {
    const group = ['a', 'b'].map(trajectory);
    const scored = { id: '0/a', task: group[0]!.task, trajectories: group };
    expect(() => trajectoryFromLine(JSON.stringify(scored), 'log 3')).toThrow(
      'log 3: expected one trajectory, got a group of 2',
    );
  });

  it('name source, line and fields of what is malformed', () => {
    const bad = JSON.stringify({
      version: 1,
      ...trajectory('b'),
      policyVersion: -1,
      steps: [{ tokens: 'x' }],
    });
    const read = (line: string) => () =>
      trajectoriesFromJsonl(`${trajectoryToLine(trajectory('a'))}\n${line}`, 'run.jsonl');
    expect(read(bad)).toThrow(FormatError);
    expect(read(bad)).toThrow(/^run\.jsonl, line 2: not a trajectory: .*steps\.0\.tokens.*policyVersion/s);
    expect(read(JSON.stringify({ ...trajectory('b'), version: 2 }))).toThrow(
      'run.jsonl, line 2: not a trajectory: version: expected 1, got 2',
    );
    expect(read('{"id"')).toThrow(/^run\.jsonl, line 2: expected one JSON object per line/);
  });

  it('are appended to a file and read from it', async () => {
    const path = join(directory, 'trajectories.jsonl');
    expect(await appendTrajectories(path, [trajectory('a')])).toBe(1);
    expect(await appendTrajectories(path, [trajectory('b'), trajectory('c')])).toBe(2);
    expect((await readFile(path, 'utf8')).endsWith('}\n')).toBe(true);
    expect(await collect(readTrajectories(path))).toEqual(['a', 'b', 'c'].map(trajectory));
  });

  it('name the file and line of a record cut short', async () => {
    const path = join(directory, 'cut.jsonl');
    await writeFile(path, `${trajectoryToLine(trajectory('a'))}\n{"id":"b","ta`);
    await expect(collect(readTrajectories(path))).rejects.toThrow(
      `${path}, line 2: expected one JSON object`,
    );
  });

  it('say that a file is missing', async () => {
    await expect(collect(readTrajectories(join(directory, 'none.jsonl')))).rejects.toThrow('ENOENT');
  });
});
