import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenWorld } from '@rlp/core';
import { afterAll, describe, expect, it } from 'vitest';
import { folderStore, folderWorld } from '../folder.ts';
import { createWorldPool, memoryStore } from '../index.ts';
import { createSqlWorld } from '../sql.ts';
import { safePath } from './folder/safe-path.ts';
import { wordWorld } from './value-world.fixture.ts';
import { WorldLease } from './world-lease.ts';

const task = { id: 't', prompt: 'Go.', metadata: undefined };
const directory = mkdtempSync(join(tmpdir(), 'rlp-edges-'));
afterAll(() => {
  const left = readdirSync(directory);
  rmSync(directory, { recursive: true });
  expect(left).toEqual([]);
});

/** A number as a world. */
class Count implements OpenWorld {
  value: number;
  snapshots = 0;
  constructor(value: number) {
    this.value = value;
  }
  async snapshot() {
    this.snapshots++;
    if (this.value < 0) throw new Error('below zero');
    return String(this.value);
  }
  async close() {}
}

/** A lease of a count, what it asked its keeper for, and its end. */
function leased({ isNew = false, restoring = true } = {}) {
  const asked: string[] = [];
  const world = new Count(1);
  const controller = new AbortController();
  const lease = new WorldLease<Count>(
    {
      restore: async (wanted) => {
        asked.push(`restore ${wanted}`);
        if (!restoring) throw new Error('lost');
        return new Count(Number(wanted));
      },
      discard: async ({ value }) => void asked.push(`discard ${value}`),
    },
    { world, id: isNew ? undefined : '1', signal: controller.signal },
  );
  return { asked, world, controller, lease };
}
const fails = (change: number) => (world: Count) => {
  world.value += change;
  throw new Error('no');
};
const adds = (change: number) => (world: Count) => {
  world.value += change;
  return world.value;
};

describe('WorldLease', () => {
  it('takes a snapshot once, and a new one after each piece of work', async () => {
    const { lease, world, asked } = leased({ isNew: true });
    expect([await lease.snapshot(), await lease.snapshot(), world.snapshots]).toEqual(['1', '1', 1]);
    expect(await Promise.all([lease.act(adds(1)), lease.act(adds(2)), lease.snapshot()])).toEqual([
      2,
      4,
      '4',
    ]);
    expect(await lease.read(({ value }) => value)).toBe(4);
    expect([await lease.end(), world.snapshots, asked]).toEqual([{ world, id: '4' }, 3, []]);
  });

  it('keeps a world that failed without a change, and restores one that changed', async () => {
    const { lease, world, asked } = leased();
    await expect(lease.act(fails(0))).rejects.toThrow('no');
    expect([asked, (await lease.end()).world]).toEqual([[], world]);
    await expect(lease.act(fails(5))).rejects.toThrow('no');
    expect([asked, await lease.end()]).toEqual([['discard 6'], { world: undefined, id: '1' }]);
    expect(await lease.act(adds(1))).toBe(2);
    expect(asked).toEqual(['discard 6', 'restore 1']);
    lease.requireWorld();
  });

  it('restores a world that has no snapshot any more', async () => {
    const { lease, asked } = leased();
    await expect(lease.act(adds(-2))).rejects.toThrow('below zero');
    expect(asked).toEqual(['discard -1']);
    expect(await lease.snapshot()).toBe('1');
  });

  it('discards a world whose work was given up, changed or not', async () => {
    const { lease, asked } = leased();
    const given = AbortSignal.abort(new Error('late'));
    await expect(lease.act(() => new Promise(() => undefined), given)).rejects.toThrow('late');
    expect(asked).toEqual(['discard 1']);
  });

  it('cannot bring back a world that had no snapshot', async () => {
    const { lease, asked } = leased({ isNew: true });
    await expect(lease.act(fails(1))).rejects.toThrow('no');
    const gone = 'the world is gone, and it had no snapshot yet; begin the episode again';
    await expect(lease.act(adds(1))).rejects.toThrow(gone);
    await expect(lease.read(({ value }) => value)).rejects.toThrow(gone);
    expect(asked).toEqual(['discard 2']);
  });

  it('says later that its world was lost', async () => {
    const { lease } = leased({ restoring: false });
    lease.requireWorld();
    await expect(lease.act(fails(1))).rejects.toThrow('no');
    await expect(lease.read(({ value }) => value)).rejects.toThrow('lost');
    expect(() => lease.requireWorld()).toThrow('lost');
  });

  it('gives up a look that hangs once its turn is stopped', async () => {
    const { lease, controller } = leased();
    const looking = lease.read(() => new Promise(() => undefined));
    controller.abort(new Error('stopped'));
    await expect(looking).rejects.toThrow('stopped');
  });
});

it('memoryStore keeps as many bytes as it may, and the last snapshot in any case', async () => {
  const bytes = (length: number) => new Uint8Array(length).fill(length);
  const store = memoryStore({ maxBytes: 10 });
  const [four, six] = [await store.put(bytes(4)), await store.put(bytes(6))];
  expect([await store.get(four), await store.get(six)]).toEqual([bytes(4), bytes(6)]);
  const large = await store.put(bytes(30));
  for (const gone of [four, six])
    await expect(store.get(gone)).rejects.toThrow(`the snapshot "${gone}" is unknown`);
  expect(await store.get(large)).toEqual(bytes(30));
  const one = await store.put(bytes(1));
  await expect(store.get(large)).rejects.toThrow('more than 10 bytes were kept');
  expect(await store.get(one)).toEqual(bytes(1));
  await expect(store.get('x'.repeat(99))).rejects.toThrow(`the snapshot "${'x'.repeat(80)}" is`);
  expect(four).toMatch(/^[0-9a-f]{64}$/);
  expect(() => memoryStore({ maxBytes: 0 })).toThrow('maxBytes');
});

it.each<[string, string | undefined]>([
  ['a', 'a'],
  ['./a//b/./c', 'a/b/c'],
  ['a'.repeat(200), 'a'.repeat(200)],
  [Array(32).fill('a').join('/'), Array(32).fill('a').join('/')],
  [' ~!', ' ~!'],
  ['a..b', 'a..b'],
  ['', undefined],
  ['./', undefined],
  ['/a', undefined],
  ['a/..', undefined],
  ['a'.repeat(201), undefined],
  [Array(33).fill('a').join('/'), undefined],
  ['a\u001f', undefined],
  ['a\\b', undefined],
  ['c:', undefined],
])('the path %j leads to %j', (given, path) => {
  if (path === undefined)
    expect(() => safePath(given)).toThrow(
      `expected the path of a file below the folder, such as "src/main.js", got ${JSON.stringify(given.slice(0, 200))}`,
    );
  else expect(safePath(given)).toBe(path);
});

describe('a folder', () => {
  const opened = (maxFiles: number, maxBytes: number) =>
    folderWorld({ directory, maxFiles, maxBytes }).open(task, 1);

  it('lists its files in order, and holds what just fits', async () => {
    const folder = await opened(3, 10);
    for (const [path, content] of [
      ['b/z', '123'],
      ['b/a', Uint8Array.of(255, 254)],
      ['a', 'é'],
    ] as const)
      await folder.write(path, content);
    expect(await folder.list()).toEqual([
      { path: 'a', bytes: 2 },
      { path: 'b/a', bytes: 2 },
      { path: 'b/z', bytes: 3 },
    ]);
    expect(await folder.read('b/a')).toEqual(Uint8Array.of(255, 254));
    // A file that is replaced makes room for itself.
    await folder.write('b/z', '123456');
    await expect(folder.write('b/z', '1234567')).rejects.toThrow(
      'the folder may hold 10 bytes, and this would make 11',
    );
    await expect(folder.write('c', '')).rejects.toThrow('the folder may hold 3 files, and this would make 4');
    await folder.remove('a');
    await folder.write('c', 'ab');
    await expect(folder.remove('a')).rejects.toThrow('there is no file "a"');
    await expect(folder.remove('b')).rejects.toThrow('there is no file "b"');
    await expect(folder.read('c/d')).rejects.toThrow('there is no file "c/d"');
    await folder.close();
    await folder.close();
  });

  it('is refused by its snapshot if a program left more than fits', async () => {
    const [many, large] = [await opened(1, 10), await opened(9, 4)];
    for (const name of ['a', 'b', 'c']) writeFileSync(join(many.root, name), '');
    await expect(many.snapshot()).rejects.toThrow('the folder may hold 1 file, and this would make 3');
    writeFileSync(join(large.root, 'a'), '12345');
    await expect(large.snapshot()).rejects.toThrow('the folder may hold 4 bytes, and this would make 5');
    await expect(large.read('a')).rejects.toThrow('the folder may hold 4 bytes, and this would make 5');
    await many.close();
    await large.close();
  });

  it('stops at its signal, and leaves nothing', async () => {
    const signal = AbortSignal.abort(new Error('stopped'));
    const world = folderWorld({ directory, store: folderStore(join(directory, 'store')) });
    const folder = await world.open(task, 1);
    await folder.write('a', 'x');
    const id = await folder.snapshot();
    await expect(folder.snapshot(signal)).rejects.toThrow('stopped');
    await folder.close();
    const before = readdirSync(directory);
    await expect(world.open(task, 1, signal)).rejects.toThrow('stopped');
    await expect(world.restore(id, signal)).rejects.toThrow('stopped');
    expect(readdirSync(directory)).toEqual(before);
    rmSync(join(directory, 'store'), { recursive: true });
  });

  it('refuses limits of nothing', () => {
    for (const wrong of [{ maxFiles: 0 }, { maxBytes: 0 }, { directory: '' }])
      expect(() => folderWorld(wrong)).toThrow(new RegExp(`folderWorld: [\\s\\S]*${Object.keys(wrong)[0]}`));
  });
});

describe('createWorldPool', () => {
  it('closes its worlds with its block', async () => {
    const world = wordWorld();
    {
      await using pool = createWorldPool(world, { maxOpen: 1 });
      expect(await pool.begin(task, 5, (lease) => lease.read(({ words }) => words))).toEqual(['t', '5']);
    }
    expect(world.lives.map(({ isClosed }) => isClosed)).toEqual([true]);
  });

  it('refuses limits of nothing', () => {
    for (const wrong of [{ maxOpen: 0 }, { closeTimeoutMs: 0 }, { onLeak: 1 }, { signal: 1 }])
      expect(() => createWorldPool(wordWorld(), wrong as never)).toThrow(
        new RegExp(`createWorldPool: [\\s\\S]*${Object.keys(wrong)[0]}`),
      );
  });
});

it('createSqlWorld refuses limits of nothing, and stops at a signal', async () => {
  for (const wrong of [
    { timeoutMs: 0 },
    { maxRows: 0 },
    { maxCharacters: 0 },
    { maxBytes: 8191 },
    { threads: 0 },
    { threads: 65 },
  ])
    expect(() => createSqlWorld(wrong)).toThrow(
      new RegExp(`createSqlWorld: [\\s\\S]*${Object.keys(wrong)[0]}`),
    );
  const world = createSqlWorld({ maxBytes: 8192, threads: 64, maxRows: 1, maxCharacters: 1, timeoutMs: 1 });
  const signal = AbortSignal.abort(new Error('stopped'));
  await expect(world.open(task, 1, signal)).rejects.toThrow('stopped');
  await expect(world.restore('x', signal)).rejects.toThrow('stopped');
  await world[Symbol.asyncDispose]();
});
