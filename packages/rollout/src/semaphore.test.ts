import { expect, it } from 'vitest';
import { Semaphore } from './semaphore.ts';

/** Acquires permits, and says in which order they were given. */
function users(size: number) {
  const semaphore = new Semaphore(size);
  const entered: string[] = [];
  const enter = async (name: string, count: number) => {
    const taken = await semaphore.acquire(count);
    entered.push(`${name} ${taken}`);
  };
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return { semaphore, entered, enter, settle };
}

it('gives permits while there are some, and then in the order in which they were asked for', async () => {
  const { semaphore, entered, enter, settle } = users(3);
  for (const [name, count] of [
    ['a', 2],
    ['b', 1],
    ['c', 2],
    ['d', 1],
  ] as const)
    void enter(name, count);
  await settle();
  expect(entered).toEqual(['a 2', 'b 1']);
  semaphore.release(1);
  await settle();
  // d would fit, but it came after c.
  expect(entered).toEqual(['a 2', 'b 1']);
  semaphore.release(1);
  await settle();
  expect(entered).toEqual(['a 2', 'b 1', 'c 2']);
  semaphore.release(3);
  await settle();
  expect(entered.at(-1)).toBe('d 1');
});

it('lets several enter at once if what was released is enough for them', async () => {
  const { semaphore, entered, enter, settle } = users(3);
  for (const name of ['a', 'b', 'c', 'd']) void enter(name, name === 'a' ? 3 : 1);
  await settle();
  semaphore.release(3);
  await settle();
  expect(entered).toEqual(['a 3', 'b 1', 'c 1', 'd 1']);
});

it('gives all that there are to whoever asks for more', async () => {
  const { semaphore, entered, enter, settle } = users(2);
  void enter('a', 5);
  void enter('b', 1);
  await settle();
  expect(entered).toEqual(['a 2']);
  semaphore.release(2);
  await settle();
  expect(entered).toEqual(['a 2', 'b 1']);
});

it('lets nobody pass those who wait', async () => {
  const { semaphore, entered, enter, settle } = users(2);
  void enter('a', 1);
  void enter('b', 2);
  void enter('c', 1);
  await settle();
  expect(entered).toEqual(['a 1']);
  semaphore.release(1);
  await settle();
  expect(entered).toEqual(['a 1', 'b 2']);
});
