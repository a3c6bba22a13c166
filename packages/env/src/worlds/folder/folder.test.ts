import { existsSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Message } from '@rlp/core';
import { describeEnvironment, describeWorld } from '@rlp/core/testing';
import { createSandbox } from '@rlp/sandbox';
import { afterAll, describe, expect, it } from 'vitest';
import { folderStore, folderTools, folderWorld } from '../../folder.ts';
import { ConversationEnvironment, createWorldPool, withWorld } from '../../index.ts';
import { textOf } from './folder-world.ts';

const directory = mkdtempSync(join(tmpdir(), 'rlp-test-'));
const sandbox = createSandbox();
const task = { id: 't', prompt: 'Mend the program.', metadata: undefined };
const files = () => ({ 'src/sum.js': 'console.log(1 + 1)', 'data/numbers.txt': '3 4' });
const world = () => folderWorld({ files, directory, maxFiles: 4, maxBytes: 500 });
const pool = createWorldPool(world());
afterAll(async () => {
  await Promise.all([pool.close(), sandbox.close()]);
  const left = readdirSync(directory);
  rmSync(directory, { recursive: true });
  expect(left).toEqual([]); // every live folder is gone
});

const call = (name: string, args: unknown = {}) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
const environment = withWorld(
  new ConversationEnvironment({ maxTurns: 9, nextUserTurn: () => 'More.' }),
  pool,
  folderTools({ sandbox }),
  { observe: async (folder) => (await folder.list()).map(({ path }) => path) },
);
async function resultsOf(...responses: string[]): Promise<readonly string[]> {
  let state = await environment.reset(task, 1);
  for (const response of responses) state = await environment.updateState(state, response);
  const messages = environment.buildPrompt(state) as readonly Message[];
  return messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
}

describeWorld('a folder', {
  create: world,
  task,
  act: async (folder) =>
    folder.write('log.txt', `${(await folder.list()).length} ${Math.random()}`.slice(0, 1)),
  read: (folder) => folder.list(),
});
describeEnvironment('a folder with tools', {
  create: () => environment,
  task,
  responses: [
    call('list_files'),
    call('write_file', { path: 'src/sum.js', content: 'writeFile("out.txt", "7")' }),
    call('run_file', { path: 'src/sum.js' }),
    'Done.',
  ],
});

describe('folderTools', () => {
  it('list, read, write, run and delete', async () => {
    const program = `
      const [a, b] = readFile('data/numbers.txt').split(' ').map(Number);
      writeFile('out/sum.txt', a + b);
      console.log(listFiles().length, readFile('out/sum.txt'));`;
    const results = await resultsOf(
      call('write_file', { path: './src//sum.js', content: program }),
      call('run_file', { path: 'src/sum.js' }),
      call('read_file', { path: 'out/sum.txt' }),
      call('delete_file', { path: 'data/numbers.txt' }),
      call('list_files'),
    );
    expect(results.slice(0, 4)).toEqual(['written', '3 7\n', '7', 'deleted']);
    expect(JSON.parse(results[4]!).map((file: { path: string }) => file.path)).toEqual([
      'out/sum.txt',
      'src/sum.js',
    ]);
  });

  it.each(['../x', '/etc/passwd', 'a/../../x', 'a\\..\\x', 'C:x', '.', 'a\0b', 'x'.repeat(201)])(
    'refuse the path %j',
    async (path) => {
      const [written, read] = await resultsOf(
        call('write_file', { path, content: 'x' }),
        call('read_file', { path }),
      );
      expect(written).toContain('Error: expected the path of a file below the folder');
      expect(read).toContain('Error: expected the path of a file below the folder');
    },
  );

  it('refuse what is over the limits, and undo it', async () => {
    const results = await resultsOf(
      call('write_file', { path: 'big.txt', content: 'x'.repeat(501) }),
      call('write_file', { path: '3.txt', content: 'x' }) +
        call('write_file', { path: '4.txt', content: 'x' }),
      call('write_file', { path: '5.txt', content: 'x' }),
      call('read_file', { path: 'none.txt' }) + call('read_file', { path: 'src' }),
    );
    expect(results).toEqual([
      expect.stringMatching(/^Error: the folder may hold 500 bytes, and this would make \d+$/),
      'written',
      'written',
      'Error: the folder may hold 4 files, and this would make 5',
      'Error: there is no file "none.txt"',
      'Error: there is no file "src"',
    ]);
  });

  it.each([
    ['while (true);', /took longer|interrupted|ms/],
    ['throw new Error("broken")', /broken/],
    ['writeFile("../x", "y")', /expected the path of a file below the folder/],
    ['writeFile("src/sum.js", "z"); writeFile("big", "x".repeat(1000))', /500 bytes/],
    ['require("fs")', /Error/],
  ])('leave the files as they were if the program fails: %s', async (content, message) => {
    const results = await resultsOf(
      call('write_file', { path: 'p.js', content }),
      call('run_file', { path: 'p.js' }),
      call('read_file', { path: 'src/sum.js' }),
    );
    expect(results[1]).toMatch(message);
    expect(results[2]).toBe('console.log(1 + 1)');
  });

  it('take any name of a file, also one that every object has', async () => {
    const content = 'writeFile("__proto__", "kept"); console.log(listFiles().includes("constructor"))';
    const results = await resultsOf(
      call('run_file', { path: 'constructor' }),
      call('write_file', { path: 'constructor', content }),
      call('run_file', { path: './constructor' }),
      call('read_file', { path: '__proto__' }),
    );
    expect(results).toEqual(['Error: there is no text file "constructor"', 'written', 'true\n', 'kept']);
  });

  it('run promises to their end', async () => {
    const content = 'Promise.resolve(5).then((five) => { writeFile("p.txt", five); console.log("done") })';
    const results = await resultsOf(
      call('write_file', { path: 'p.js', content }),
      call('run_file', { path: 'p.js' }),
      call('read_file', { path: 'p.txt' }),
    );
    expect(results.slice(1)).toEqual(['done\n', '5']);
  });
});

describe('folderWorld', () => {
  it('refuses a file below a file, and has text of UTF-8 only', async () => {
    const folder = await world().open(task, 1);
    await folder.write('bytes', Uint8Array.of(0xff, 0xfe));
    await expect(folder.write('bytes/x', 'x')).rejects.toThrow('"bytes/x" lies below a file');
    expect(() => textOf(Uint8Array.of(0xff, 0xfe))).toThrow('expected UTF-8 text, got other bytes');
    expect(textOf(await folder.read('src/sum.js'))).toBe('console.log(1 + 1)');
    await folder.close();
  });

  const secret = join(directory, '..', 'rlp-secret.txt');

  it.each(['read', 'write', 'remove'] as const)('refuses links: %s', async (verb) => {
    writeFileSync(secret, 'secret');
    const folder = await world().open(task, 1);
    symlinkSync(secret, join(folder.root, 'link'));
    symlinkSync(tmpdir(), join(folder.root, 'out'));
    const work = (path: string) => (verb === 'write' ? folder.write(path, 'x') : folder[verb](path));
    await expect(work('link')).rejects.toThrow('"link" is a link or a device');
    await expect(work('out/rlp-secret.txt')).rejects.toThrow('is a link or a device');
    await expect(folder.snapshot()).rejects.toThrow('is a link or a device');
    await folder.close();
    expect(existsSync(secret)).toBe(true);
    rmSync(secret);
  });

  it('refuses a first content that does not fit, and leaves nothing behind', async () => {
    const before = readdirSync(directory).length;
    const large = folderWorld({ directory, files: () => ({ a: 'x'.repeat(11) }), maxBytes: 10 });
    await expect(large.open(task, 1)).rejects.toThrow('10 bytes');
    const outside = folderWorld({ directory, files: () => ({ '../a': 'x' }) });
    await expect(outside.open(task, 1)).rejects.toThrow('below the folder');
    expect(readdirSync(directory)).toHaveLength(before);
  });

  it('goes on from a store on the disk, and refuses what is not there', async () => {
    const place = mkdtempSync(join(tmpdir(), 'rlp-store-'));
    const live = await folderWorld({ directory, files, store: folderStore(place) }).open(task, 1);
    const id = await live.snapshot();
    await live.close();
    const later = folderWorld({ directory, store: folderStore(place) });
    const again = await later.restore(id);
    expect(new TextDecoder().decode(await again.read('data/numbers.txt'))).toBe('3 4');
    await again.close();
    await expect(later.restore('../../etc/passwd')).rejects.toThrow('is not in');
    rmSync(place, { recursive: true });
  });
});
