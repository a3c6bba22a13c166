import { EnvironmentError } from '../errors.ts';
import type { Task } from '../task.ts';
import type { OpenWorld, World } from '../world.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from a kind of world. */
export interface WorldSubject<Live extends OpenWorld, Metadata> {
  readonly create: () => World<Live, Metadata>;
  readonly task: Task<Metadata>;
  /** Changes a live world. A second call changes it further. */
  readonly act: (world: Live) => unknown;
  /** What is in a live world, as a value. */
  readonly read: (world: Live) => unknown;
}

const seed = 7;

/**
 * Contract of {@link World}. Run it on every kind.
 *
 * @param name - Names the kind in the report.
 */
export function describeWorld<Live extends OpenWorld, Metadata>(
  name: string,
  { create, task, act, read }: WorldSubject<Live, Metadata>,
): void {
  /** Runs a test with live worlds, and closes them. */
  const during = async (
    work: (world: World<Live, Metadata>, keep: (live: Live) => Live) => Promise<void>,
  ) => {
    const open: Live[] = [];
    const keep = (live: Live) => {
      open.push(live);
      return live;
    };
    try {
      await work(create(), keep);
    } finally {
      await Promise.all(open.map((live) => live.close()));
    }
  };

  describe(`${name} is a World`, () => {
    it('opens equal worlds with equal snapshots for equal arguments', () =>
      during(async (world, keep) => {
        const lives = [keep(await world.open(task, seed)), keep(await create().open(task, seed))] as const;
        expect(await read(lives[0])).toEqual(await read(lives[1]));
        expect(await lives[0].snapshot()).toBe(await lives[1].snapshot());
      }));

    it('restores what a snapshot holds, also after the world was closed', () =>
      during(async (world, keep) => {
        const live = keep(await world.open(task, seed));
        await act(live);
        const [id, content] = [await live.snapshot(), await read(live)];
        await act(live);
        await live.close();
        const restored = keep(await world.restore(id));
        expect(await read(restored)).toEqual(content);
        expect(await restored.snapshot()).toBe(id);
      }));

    it('names a change by another id, and changes nothing by a snapshot', () =>
      during(async (world, keep) => {
        const live = keep(await world.open(task, seed));
        const [before, content] = [await live.snapshot(), await read(live)];
        expect(await live.snapshot()).toBe(before);
        expect(await read(live)).toEqual(content);
        await act(live);
        expect(await live.snapshot()).not.toBe(before);
        expect(typeof before).toBe('string');
      }));

    it('never shares a live world', () =>
      during(async (world, keep) => {
        const first = keep(await world.open(task, seed));
        const id = await first.snapshot();
        const [second, third] = [keep(await world.restore(id)), keep(await world.restore(id))];
        const content = await read(third);
        await act(first);
        await act(second);
        expect(await read(third)).toEqual(content);
        await Promise.all([first.close(), second.close()]);
        expect(await read(third)).toEqual(content);
      }));

    it('does the same to equal worlds', () =>
      during(async (world, keep) => {
        const first = keep(await world.open(task, seed));
        const second = keep(await world.restore(await first.snapshot()));
        await act(first);
        await act(second);
        expect(await read(first)).toEqual(await read(second));
      }));

    it('refuses a snapshot that it does not know', async () => {
      await expect(create().restore('unknown')).rejects.toThrow(EnvironmentError);
    });

    it('opens nothing once aborted', async () => {
      const signal = AbortSignal.abort(new Error('stopped'));
      await expect(create().open(task, seed, signal)).rejects.toThrow('stopped');
    });

    it('can be closed twice', () =>
      during(async (world) => {
        const live = await world.open(task, seed);
        await live.close();
        await live.close();
      }));
  });
}
