import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'cli-train-'));
afterAll(() => rmSync(directory, { recursive: true }));
const model = fileURLToPath(new URL('../../../examples/models/stories260k', import.meta.url));

async function rlp(...args: string[]) {
  const said: string[] = [];
  const complaints: string[] = [];
  const code = await runCli(args, {
    print: (line) => said.push(line),
    printError: (line) => complaints.push(line),
  });
  return { code, said: said.join('\n'), complaints: complaints.join('\n') };
}

const rows = join(directory, 'rows.jsonl');
const lines = Array.from({ length: 6 }, (_, n) => JSON.stringify({ question: `${n}+1=`, answer: n + 1 }));
writeFileSync(rows, `${lines.join('\n')}\n`);

it('trains on questions and answers as they are, and finds the run again', async () => {
  const out = join(directory, 'runs', 'one');
  const flags = ['--model', model, '--data', rows, '--out', out, '--json'];
  const short = [
    '--sft.updates=1',
    '--evaluation.heldOut=2',
    '--evaluation.maxTokens=4',
    '--engine.threads=1',
  ];
  const trained = await rlp('train', ...flags, ...short);
  expect(trained).toMatchObject({
    code: 0,
    complaints: expect.stringContaining('4 rows to imitate, 2 held out'),
  });
  expect(JSON.parse(trained.said)).toMatchObject({ status: 'finished', mode: 'sft', accuracy: 0, low: 0 });
  expect((await rlp('run', 'list', join(directory, 'runs'))).said).toContain('one: sft, finished');
  const measured = await rlp('eval', out, rows, '--max-tokens', '2', '--threads', '1');
  expect(measured.said).toContain(`! 4 of 6 tasks are rows that ${out} learned from: they measure memory`);
  const elsewhere = await rlp('eval', model, rows, '--max-tokens', '2', '--threads', '1');
  expect(elsewhere.said).not.toContain('learned from');
  expect(await rlp('run', 'resume', out)).toMatchObject({
    code: 0,
    said: expect.stringContaining('report.html'),
  });
  const record = readFileSync(join(out, 'run.json'), 'utf8');
  writeFileSync(join(out, 'run.json'), record.replace('"status": "finished"', '"status": "running"'));
  expect((await rlp('run', 'list', join(directory, 'runs'))).said).toContain('one: sft, interrupted');
  const checkpoints = join(out, 'checkpoints', 'sft');
  const checkpoint = join(checkpoints, readFileSync(join(checkpoints, 'latest'), 'utf8').trim());
  const small = ['--max-tokens', '2', '--threads', '1'];
  expect(await rlp('generate', checkpoint, 'Once', ...small)).toMatchObject({ code: 0, complaints: '' });
  renameSync(join(checkpoint, 'backend', 'config.json'), join(checkpoint, 'backend', 'adapter_config.json'));
  expect((await rlp('generate', checkpoint, 'Once', ...small)).complaints).toMatch(
    /holds an adapter without its model; merge them first: rlp export MODEL --adapter \S+backend --to merged/,
  );
  rmSync(join(out, 'checkpoints', 'best'), { recursive: true });
  rmSync(join(out, 'checkpoints', 'last'), { recursive: true });
  expect(await rlp('generate', out, 'x')).toMatchObject({
    code: 1,
    complaints: `the run ${out} has saved no model yet; continue it with rlp run resume ${out}`,
  });
  expect(await rlp('train', ...flags)).toMatchObject({
    code: 1,
    complaints: expect.stringContaining('another configuration (sft.updates: 1 there, nothing here'),
  });
}, 240_000);

it('says what is missing and how to give it', async () => {
  expect((await rlp('train', rows)).complaints).toMatch(
    /^rlp train: missing --model DIR .* and --out DIR .*rows\.jsonl --model DIR/,
  );
  expect((await rlp('train')).complaints).toMatch(/missing --model DIR .*--data FILE .*--out DIR/);
  expect((await rlp('train', '--help')).said).toContain('train examples/arithmetic.yaml --out');
});

it.each([
  [['train', rows, '--modle', 'm'], 2, /unknown flag --modle; did you mean --model/],
  [
    ['train', rows, '--model', model, '--out', 'x', '--algorithm.loss.cliphigh=1'],
    1,
    /did you mean algorithm\.loss\.clipHigh/,
  ],
  [['train', rows, '--model', 'nowhere', '--out', join(directory, 'x')], 1, /nowhere does not exist/],
  [['train', 'none.jsonl', '--model', model, '--out', join(directory, 'x')], 1, /none\.jsonl does not exist/],
  [['train', 'none.yaml'], 1, /none\.yaml does not exist/],
  [['train', 'none.yaml', 'more.yaml', '--sft.updates=1'], 2, /at most 1 argument, got also "more\.yaml"/],
  [
    ['train', rows, '--model', model, '--out', 'x', '--sft.updates'],
    2,
    /expected a value after --sft\.updates/,
  ],
  [['run', 'resume', directory], 1, /holds no run/],
  [['run', 'list', join(directory, 'gone')], 1, /gone does not exist/],
])('rlp %j fails with one message', async (args, code, problem) => {
  expect(await rlp(...args)).toMatchObject({ code, complaints: expect.stringMatching(problem) });
});
