import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'cli-traffic-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function view(text: string) {
  const path = join(directory, 'chats.json');
  writeFileSync(path, text);
  const said: string[] = [];
  const complaints: string[] = [];
  const code = await runCli(['view', path, '--out', join(directory, 'page.html'), '--json'], {
    print: (line) => said.push(line),
    printError: (line) => complaints.push(line.replaceAll(path, 'FILE')),
  });
  return { code, said: said.join('\n'), complaints: complaints.join('\n').trim() };
}

const chats = ['In Bern.', 'I do not know.'].map((content) => ({
  messages: [
    { role: 'user', content: 'Where is my bag?' },
    { role: 'assistant', content },
  ],
}));

it.each([
  ['one line', JSON.stringify(chats)],
  ['several lines', `\ufeff\n${JSON.stringify(chats, undefined, 2)}\n`],
])('rlp view shows chats that are one JSON list in %s', async (_, text) => {
  const { code, said, complaints } = await view(text);
  expect(complaints).toBe('FILE is recorded traffic, shown as 2 conversations without tokens.');
  expect([code, JSON.parse(said)]).toEqual([0, expect.objectContaining({ trajectories: 2 })]);
});

it.each([
  [
    JSON.stringify(chats).slice(0, -1),
    /^FILE begins with "\[" but is no JSON list: .+; correct it, or write/,
  ],
  ['[1]', /^1 record cannot be read\. The first: FILE, record 1: expected a request with its response/],
  ['[]', /FILE contains no trajectories; expected records/],
])('rlp view says what is wrong with the list %s', async (text, problem) => {
  expect(await view(text)).toMatchObject({ code: 1, complaints: expect.stringMatching(problem) });
});
