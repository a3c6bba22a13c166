import { RandomStream } from '@rlp/core';
import { beforeEach, describe, expect, it } from 'vitest';
import { DirectoryInUseError, directoryHolder, holdDirectory, releaseDirectory } from '../store.ts';
import { SimulatedDisk } from '../testing/index.ts';

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
