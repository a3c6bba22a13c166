import { describe, expect, it } from 'vitest';
import { WeightTurns } from './turns.ts';

const never = new AbortController().signal;

/** Work that ends when the test says. */
function work(log: string[], name: string) {
  let end: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const run = async () => {
    log.push(`${name} begins`);
    await done;
    log.push(`${name} ends`);
  };
  return { run, end };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('WeightTurns', () => {
  it('runs work of the name in force together, and switches when it has ended', async () => {
    const log: string[] = [];
    const turns = new WeightTurns('a', async (name) => void log.push(`to ${name}`));
    const [one, two, other, third] = ['a1', 'a2', 'b1', 'a3'].map((name) => work(log, name));
    const all = Promise.all([
      ...[turns.run('a', never, one!.run), turns.run('a', never, two!.run)],
      ...[turns.run('b', never, other!.run), turns.run('a', never, third!.run)],
    ]);
    await settled();
    expect(log).toEqual(['a1 begins', 'a2 begins']);
    for (const { end } of [one!, two!, other!, third!]) end();
    await all;
    // Nobody waits for ever, although "a" is asked for all the time.
    expect(log.filter((line) => !line.endsWith('ends'))).toEqual([
      ...['a1 begins', 'a2 begins', 'to b', 'b1 begins', 'to a', 'a3 begins'],
    ]);
  });

  it('runs a change alone, also while it is paused, and lets work wait for it', async () => {
    const log: string[] = [];
    const turns = new WeightTurns('a', async () => undefined);
    const first = work(log, 'first');
    const running = turns.run('a', never, first.run);
    const paused = turns.pause().then(() => log.push('paused'));
    const second = turns.run('b', never, async () => void log.push('second'));
    await settled();
    expect(log).toEqual(['first begins']);
    first.end();
    await Promise.all([running, paused]);
    await turns.change(async () => {
      log.push('change');
      return 'b';
    });
    expect(log).toEqual(['first begins', 'first ends', 'paused', 'change']);
    turns.resume();
    await second;
    expect(log.at(-1)).toBe('second');
  });

  it('starts no work for the weights in force while a change waits', async () => {
    const log: string[] = [];
    const turns = new WeightTurns('a', async () => undefined);
    const first = work(log, 'first');
    const running = turns.run('a', never, first.run);
    const changed = turns.change(async () => {
      log.push('change');
      return 'a';
    });
    const late = turns.run('a', never, async () => void log.push('late'));
    await settled();
    expect(log).toEqual(['first begins']);
    first.end();
    await Promise.all([running, changed, late]);
    expect(log).toEqual(['first begins', 'first ends', 'change', 'late']);
  });

  it('fails the work whose weights cannot be had, and goes on', async () => {
    const turns = new WeightTurns('a', async (name) => {
      if (name === 'broken') throw new Error('no such weights');
    });
    await expect(turns.run('broken', never, async () => 1)).rejects.toThrow('no such weights');
    const failing = turns.change(async () => {
      throw new Error('cannot change');
    });
    await expect(failing).rejects.toThrow('cannot change');
    expect(await turns.run('a', never, async () => 2)).toBe(2);
    expect(await turns.run('b', never, async () => 3)).toBe(3);
  });

  it('forgets work that is aborted while it waits', async () => {
    const turns = new WeightTurns('a', async () => undefined);
    await turns.pause();
    const stop = new AbortController();
    const waiting = turns.run('b', stop.signal, async () => 1);
    stop.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    turns.resume();
    expect(await turns.run('a', never, async () => 2)).toBe(2);
  });

  it('keeps work apart that failed', async () => {
    const turns = new WeightTurns('a', async () => undefined);
    const failed = turns.run('a', never, () => Promise.reject(new Error('broken work')));
    await expect(failed).rejects.toThrow('broken work');
    await turns.pause();
    turns.resume();
    expect(await turns.run('b', never, async () => 1)).toBe(1);
  });
});
