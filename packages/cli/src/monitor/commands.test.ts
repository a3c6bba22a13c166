import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { runCli } from '../run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'monitor-'));
afterAll(() => rmSync(directory, { recursive: true }));

/** Complaints about so many responses, of which every second one is rewarded, and the page. */
async function analysed(count: number, ...flags: string[]) {
  const [path, page] = [join(directory, 'responses.jsonl'), join(directory, 'page.html')];
  const line = (_: unknown, at: number) => JSON.stringify({ response: `answer ${at}`, reward: at % 2 });
  writeFileSync(path, Array.from({ length: count }, line).join('\n'));
  const complaints: string[] = [];
  const context = { print: () => undefined, printError: (text: string) => void complaints.push(text) };
  await runCli(['monitor', 'analyze', path, '--out', page, ...flags], context);
  return { complaints: complaints.join('\n'), page: readFileSync(page, 'utf8') };
}

it('says that reward hacking was not looked for, on the page too, and which batches are small enough', async () => {
  const large = await analysed(240);
  expect(large.complaints).toMatch(
    /not looked for: .*4 batches with 240 .*, 120 of them.*; pass --batch-size 16$/,
  );
  expect(large.page).toMatch(/No alerts were reported\. Reward hacking was not looked for\./);
  expect(large.page).toContain('pass --batch-size 16<');
  const small = await analysed(240, '--batch-size', '16');
  expect(small.complaints).toBe('');
  expect(small.page).not.toContain('not looked for');
});

it('says how many responses are enough to look for reward hacking if a file has too few', async () => {
  const { complaints } = await analysed(40);
  expect(complaints).toMatch(
    /1 batch with 40 .*, 20 of them.*; analyse about 132 responses with --batch-size 4$/,
  );
  expect((await analysed(132, '--batch-size', '4')).complaints).toBe('');
});
