import { ArgumentError, RandomStream } from '@rlp/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { DirectoryInUseError, directoryHolder, holdDirectory, releaseDirectory } from '../store.ts';
import { SimulatedDisk } from '../testing/index.ts';
import { writeNewFile } from './file-system.ts';

let disk: SimulatedDisk;
beforeEach(() => {
  disk = new SimulatedDisk(RandomStream.named('0', 'lease'));
});

/** A process on another machine with the same disk. */
function elsewhere() {
  const host = disk.startSecondProcess();
  const self = { ...host.self, host: 'other-host', machine: 'ffffffff' };
  const beats: (() => void)[] = [];
  const every = (_: number, beat: () => void) => {
    beats.push(beat);
    return () => void beats.splice(0);
  };
  const liveness = ({ machine }: { readonly machine: string }) =>
    machine === 'ffffffff' ? ('alive' as const) : ('unknown' as const);
  return { ...host, self, every, liveness, beats };
}

describe('holdDirectory', () => {
  it('refuses a second process with the name of the first, and lets one process ask again', async () => {
    const first = disk.startProcess();
    const lease = await holdDirectory('/run', first);
    expect(await holdDirectory('/run', first)).toBe(lease);
    disk.advance(300_000);
    const second = holdDirectory('/run', disk.startSecondProcess());
    await expect(second).rejects.toThrow(DirectoryInUseError);
    await expect(second).rejects.toThrow(
      '/run: process 1 on simulated has been writing here for 5 min. Stop that process, or use another directory',
    );
    expect(await directoryHolder('/run', disk.startSecondProcess())).toMatchObject({ pid: 1 });
    disk.advance(6_900_000);
    await expect(holdDirectory('/run', disk.startSecondProcess())).rejects.toThrow('here for 2 h. Stop');
    await lease.check();
  });

  it('takes over from a process that has ended', async () => {
    await holdDirectory('/run', disk.startProcess());
    const lease = await holdDirectory('/run', disk.startProcess());
    expect(lease.predecessor).toMatchObject({ pid: 1 });
    await lease.check();
    expect(disk.paths()).toEqual(['/run', '/run/.lease-00000002', '/run/.lease-00000002/holder.json']);
  });

  it('is free after a release', async () => {
    const first = disk.startProcess();
    await holdDirectory('/run', first);
    await releaseDirectory('/run', first);
    const other = disk.startSecondProcess();
    expect(await directoryHolder('/run', other)).toBeUndefined();
    expect((await holdDirectory('/run', other)).predecessor).toBeUndefined();
    await expect(holdDirectory('/run', first)).rejects.toThrow('process 2 on simulated');
    await releaseDirectory('/run', first);
  });

  it('waits 120 s for a sign of life of another machine, and tells the old holder', async () => {
    const remote = elsewhere();
    const old = await holdDirectory('/run', remote);
    const here = disk.startSecondProcess();
    disk.advance(100_000);
    await expect(holdDirectory('/run', here)).rejects.toThrow(
      /process 1 on other-host .*last sign of life was 100 s ago; after 2 min without one, the directory is free/,
    );
    for (const beat of remote.beats) beat();
    await new Promise((resolve) => setTimeout(resolve, 5));
    disk.advance(100_000);
    await expect(holdDirectory('/run', here)).rejects.toThrow('last sign of life was 100 s ago');
    disk.advance(30_000);
    const taken = await holdDirectory('/run', here);
    expect(taken.predecessor).toBeUndefined();
    await expect(old.check()).rejects.toThrow(
      /process 2 on simulated took the directory over, .* nothing was saved/,
    );
    await taken.check();
  });

  it('is given to one of many that ask at once', async () => {
    await holdDirectory('/run', disk.startProcess());
    disk.startProcess();
    const hosts = Array.from({ length: 8 }, () => disk.startSecondProcess());
    const outcomes = await Promise.allSettled(hosts.map((host) => holdDirectory('/run', host)));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(DirectoryInUseError);
    }
  });

  it.each([
    [0, '0 s'],
    [119_400, '119 s'],
    [119_600, '2 min'],
    [7_199_000, '120 min'],
    [7_200_000, '2 h'],
  ])('says after %d ms that the holder has been writing for %s', async (ms, duration) => {
    await holdDirectory('/run', disk.startProcess());
    disk.advance(ms);
    await expect(holdDirectory('/run', disk.startSecondProcess())).rejects.toThrow(
      `has been writing here for ${duration}. Stop that process, or use another directory`,
    );
  });

  it('is free for another machine after 120 s without a sign of life', async () => {
    await holdDirectory('/run', elsewhere());
    const here = disk.startSecondProcess();
    disk.advance(119_900);
    await expect(holdDirectory('/run', here)).rejects.toThrow(DirectoryInUseError);
    expect(disk.paths().filter((path) => path.includes('partial'))).toEqual([]);
    disk.advance(200);
    await (await holdDirectory('/run', here)).check();
  });

  it('beats every 15 s and would be given back at the exit of the process, until it is released', async () => {
    const calls: unknown[] = [];
    const host = {
      ...disk.startProcess(),
      every: (ms: number) => {
        calls.push(ms);
        return () => calls.push('stopped');
      },
      renameAtExit: (from: string, to: string) => {
        calls.push(`${from} ${to}`);
        return () => calls.push('kept');
      },
    };
    const lease = await holdDirectory('/run', host as never);
    const grant = '/run/.lease-00000001';
    expect([lease.directory, calls]).toEqual([
      '/run',
      [15_000, `${grant}/holder.json ${grant}/released.json`],
    ]);
    await lease.release();
    await lease.release();
    expect(calls.slice(2, 4)).toEqual(['stopped', 'kept']);
    expect(disk.paths()).toContain(`${grant}/released.json`);
  });

  it('has the highest generation, and sweeps the lower ones and attempts of processes that have ended', async () => {
    const first = disk.startProcess();
    await first.files.mkdir('/run');
    const attempt = (pid: number, target: string) => `/run/.${target}.00000000-${pid}-1.00000001.partial`;
    for (const name of ['.lease-00000009', '.lease-100000000', '.lease-0000001', '.lease-00000009x'])
      await first.files.mkdir(`/run/${name}`);
    await first.files.mkdir(attempt(1, '.lease-00000003'));
    await first.files.mkdir(attempt(2, '.lease-00000004'));
    await first.files.mkdir(attempt(1, 'other'));
    const second = disk.startProcess();
    const lease = await holdDirectory('/run', second);
    expect(lease.predecessor).toBeUndefined();
    expect((await second.files.readdir('/run')).sort()).toEqual(
      [
        ...['.lease-0000001', '.lease-00000009x', '.lease-100000001'],
        ...[attempt(2, '.lease-00000004'), attempt(1, 'other')].map((path) => path.slice('/run/'.length)),
      ].sort(),
    );
  });

  it('is free if what names its holder cannot be read', async () => {
    const first = disk.startProcess();
    for (const text of ['', '{"pid": 1}', '{']) {
      const lease = await holdDirectory('/run', first);
      const [holder] = disk.paths().filter((path) => path.endsWith('holder.json'));
      await first.files.unlink(holder!);
      await writeNewFile(first.files, holder!, text);
      expect(await directoryHolder('/run', first)).toBeUndefined();
      await expect(lease.check()).rejects.toThrow(DirectoryInUseError);
      const other = disk.startSecondProcess();
      await (await holdDirectory('/run', other)).release();
    }
  });

  it('tells a process that goes on that its directory was moved', async () => {
    const host = disk.startProcess();
    const lease = await holdDirectory('/run', host);
    await host.files.rename('/run', '/moved');
    await expect(lease.check()).rejects.toThrow(
      new ArgumentError(
        '/run was renamed, moved or deleted while this process wrote to it; nothing more was saved. Continue the run where it is now',
      ),
    );
  });

  it('names this process if the other one has given the directory back again', async () => {
    const remote = { ...disk.startSecondProcess(), liveness: () => 'dead' as const };
    const host = disk.startSecondProcess();
    const lease = await holdDirectory('/run', host);
    await (await holdDirectory('/run', remote)).release();
    const lost = lease.check();
    await expect(lost).rejects.toMatchObject({ holder: { ...host.self, since: expect.any(Number) } });
    await expect(lost).rejects.toThrow(
      /^\/run: process 2 on simulated took the directory over, because this process showed no sign of life; nothing was saved\. Stop one of the two, and resume the run with the other$/,
    );
  });

  it('is nothing to give back for a process that holds nothing', async () => {
    const host = disk.startProcess();
    await releaseDirectory('/run', host);
    await holdDirectory('/run', host);
    await releaseDirectory('/other', host);
    expect(await directoryHolder('/run', host)).toMatchObject({ pid: 1 });
  });

  it('is taken again if another process made a higher generation in the meantime', async () => {
    const host = disk.startProcess();
    let isFirst = true;
    const rename = async (from: string, to: string) => {
      await host.files.rename(from, to);
      if (isFirst) await host.files.mkdir('/run/.lease-00000007');
      isFirst = false;
    };
    const lease = await holdDirectory('/run', { ...host, files: { ...host.files, rename } });
    expect(disk.paths()).toEqual(['/run', '/run/.lease-00000008', '/run/.lease-00000008/holder.json']);
    await lease.check();
  });

  it('can be taken again after the directory was deleted', async () => {
    const host = disk.startProcess();
    const lease = await holdDirectory('/run', host);
    await host.files.unlink('/run/.lease-00000001/holder.json');
    await host.files.rmdir('/run/.lease-00000001');
    await host.files.rmdir('/run');
    const again = await holdDirectory('/run', host);
    expect(again).not.toBe(lease);
    await again.check();
  });
});
