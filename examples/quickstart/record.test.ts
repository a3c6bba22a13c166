import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closeRun } from '@rlp/algorithms/run';
import { holdDirectory } from '@rlp/data/store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFrom } from './record.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'rlp-quickstart-'));
});
afterAll(() => rm(directory, { recursive: true }));

describe('the directory of the quickstart', () => {
  const flags = { seed: '0', resume: false, new: false };
  const progress = (seed: string, rest = {}) => JSON.stringify({ seed, seconds: 3, ...rest });
  const runIn = async (text: string) => {
    const out = await mkdtemp(join(directory, 'run-'));
    await writeFile(join(out, 'progress.json'), text);
    return out;
  };

  it('keeps an earlier run until it is told otherwise, and says how', async () => {
    const out = await runIn(progress('3', { before: { accuracy: 0, responses: [] } }));
    await expect(startFrom({ ...flags, out })).rejects.toThrow(
      `quickstart: ${out} holds a run with seed 3, stopped during SFT. Continue it with --seed 3 --resume. ` +
        'Keep it and start another with --out DIR. Delete it and start anew with --new',
    );
    await expect(startFrom({ ...flags, out, resume: true })).rejects.toThrow(
      /holds a run with seed 3, and this command has seed 0\. Continue that run with --seed 3 --resume/,
    );
    expect(await startFrom({ ...flags, out, seed: '3', resume: true })).toMatchObject({
      seed: '3',
      seconds: 3,
    });
    expect(await startFrom({ ...flags, out, new: true })).toEqual({ seed: '0', seconds: 0 });
    await closeRun(out);
    expect((await readdir(out)).filter((name) => !name.startsWith('.'))).toEqual([]);
  });

  it('is not touched if it holds other files', async () => {
    const mine = await mkdtemp(join(directory, 'mine-'));
    await writeFile(join(mine, 'thesis.txt'), 'years of work');
    for (const choice of [{}, { resume: true }, { new: true }]) {
      await expect(startFrom({ ...flags, out: mine, ...choice })).rejects.toThrow(
        'holds files that are not an earlier run',
      );
    }
    expect(await readdir(mine)).toEqual(['thesis.txt']);
  });

  it('is not resumed from a broken file', async () => {
    for (const text of ['{"seed":', '{"seed":"0"}']) {
      const out = await runIn(text);
      await expect(startFrom({ ...flags, out, resume: true })).rejects.toThrow(
        `${join(out, 'progress.json')}: expected the progress of a run`,
      );
    }
  });

  it('is not touched while another process writes there', async () => {
    const out = await runIn(progress('0'));
    await holdDirectory(out);
    await closeRun(out);
    const released = join(out, '.lease-00000001', 'released.json');
    const other = { ...JSON.parse(await readFile(released, 'utf8')), pid: process.ppid, started: 0 };
    await writeFile(join(out, '.lease-00000001', 'holder.json'), JSON.stringify(other));
    for (const choice of [{ resume: true }, { new: true }]) {
      await expect(startFrom({ ...flags, out, ...choice })).rejects.toThrow(
        new RegExp(`process ${process.ppid} on .* has been writing here for`),
      );
    }
    expect(await readdir(out)).toContain('progress.json');
  });
});
