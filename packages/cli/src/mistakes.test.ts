import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { commandTable } from './command-table.ts';
import { runCli } from './run-cli.ts';

const directory = mkdtempSync(join(tmpdir(), 'cli-mistakes-'));
afterAll(() => rmSync(directory, { recursive: true }));
const at = (name: string) => join(directory, name);
writeFileSync(at('file'), 'x');
writeFileSync(at('empty.jsonl'), '');
writeFileSync(at('broken.jsonl'), '{"a":\n');
writeFileSync(at('bad.yaml'), 'modle: x\n');
writeFileSync(at('datas.yaml'), 'model: m\ndatas: rows.jsonl\n');
writeFileSync(at('list.yaml'), '- a\n');
writeFileSync(at('rows.jsonl'), '{"question":"2+2=","answer":"4"}\n');
mkdirSync(at('run'));
writeFileSync(at('run/run.json'), '{}');
mkdirSync(at('empty'));
mkdirSync(at('half'));
writeFileSync(at('half/run.json'), '{');

/** Mistakes of each command, beside a flag that it does not have. `@` stands for the folder of the test. */
const mistakes: Readonly<Record<string, readonly (readonly [string, RegExp])[]>> = {
  init: [
    ['@file', /is a file; choose another folder/],
    ['@new --template none', /template: expected reward, sft/],
    ['@new @other', /expected at most 1 argument, got also/],
  ],
  train: [
    ['', /missing --model DIR/],
    ['@none.yaml', /none\.yaml does not exist; correct the path/],
    ['@none.yaml --out', /--out needs a value, as in --out DIR/],
    [
      '@bad.yaml --out @o',
      /missing --model DIR .* and --data FILE [^.]*\. Unrecognized option "modle"; did you mean mode or model\? Give it as in/,
    ],
    ['@datas.yaml --out @o', /missing --data FILE [^.]*\. Unrecognized option "datas"; did you mean data\?/],
    ['@rows.jsonl --model m', /Give it as in: rlp train \S+rows\.jsonl --model m --out DIR,/],
    ['@list.yaml', /list\.yaml: expected options by name, such as model: models\/qwen, got a list/],
    ['@rows.jsonl --learning-rate 1', /unknown flag --learning-rate; did you mean --backend\.learningRate/],
    ['@rows.jsonl --output_dir=x', /in rlp this is --out\. See/],
    ['@rows.jsonl --output=x', /did you mean --out\?/],
    [
      '@rows.jsonl --seed 1 --seed 2',
      /^rlp train: --seed takes one value and was given more than once; keep/,
    ],
    ['@rows.jsonl --sft.epochs=1 --seed=1 --sft.epochs=2', /--sft\.epochs takes one value/],
    ['@rows.jsonl --sed 1', /unknown flag --sed; did you mean --seed\?/],
    [
      '@rows.jsonl --num_generations=4',
      /in rlp this is --algorithm\.rollout\.groupSize or --distill\.rollout\.groupSize\. See/,
    ],
  ],
  eval: [
    ['', /Missing required positional argument: MODEL/],
    ['@none @empty.jsonl', /does not exist; give a model folder/],
    ['@none @empty.jsonl more', /got also "more"/],
  ],
  generate: [
    ['', /Missing required positional argument: MODEL/],
    ['@none text', /does not exist; give a model folder/],
    ['@none text more', /got also "more"/],
  ],
  chat: [
    ['', /Missing required positional argument: MODEL/],
    ['@none', /does not exist; give a model folder/],
    ['@none more', /got also "more"/],
  ],
  serve: [
    ['', /Missing required positional argument: MODEL/],
    ['@none', /does not exist; give a model folder/],
    ['@none --port x', /--port must be an integer from 0 to 65535, got "x"/],
  ],
  compare: [
    ['', /Missing required positional argument: FIRST/],
    ['@none @other', /none does not exist; correct the path/],
    ['@empty @half', /expected a run folder with run\.json/],
    ['@broken.jsonl @half', /expected JSON: .*; give the folder of a run, or a file of rlp eval --out/],
  ],
  export: [
    ['', /Missing required positional argument: MODEL/],
    ['@none --to gguf --out @o', /does not exist; give a model folder/],
    ['@none --to x --out @o', /expected --to merged, adapter, onnx, gguf, got x/],
  ],
  doctor: [
    ['@none --rows x', /--rows must be an integer from 1, got "x"/],
    ['@none --length 0', /--length must be an integer/],
    ['@none more', /got also "more"/],
  ],
  view: [
    ['', /Missing required positional argument: PATH/],
    ['@none', /none does not exist; correct the path/],
    ['@empty.jsonl', /contains no trajectories/],
    ['@run', /recorded no trajectories; runs that practise record them/],
  ],
  dashboard: [
    ['@none', /expected a folder of runs, got nothing of that name/],
    ['@file', /expected a folder of runs, got a file/],
    ['@empty --out @x.html', /holds no runs/],
  ],
  'monitor report': [
    ['', /Missing required argument: --metrics/],
    ['--metrics @none', /none does not exist; correct the path/],
    ['--metrics @broken.jsonl', /contains no metrics/],
  ],
  'monitor analyze': [
    ['', /Missing required positional argument: FILE/],
    ['@none', /none does not exist; correct the path/],
    ['@empty.jsonl', /contains no responses/],
    ['@empty.jsonl --out a --html b', /--out takes one value and was given more than once/],
  ],
  'run list': [
    ['@none', /none does not exist; correct the path/],
    ['@file', /file: expected a folder, got a file/],
    ['@empty more', /got also "more"/],
  ],
  'run resume': [
    ['', /Missing required positional argument: DIRECTORY/],
    ['@none', /holds no run: it has no run\.json/],
    ['@half', /expected the record of a run, and the file is broken/],
  ],
  'run schema': [
    ['more', /expected no arguments, got also "more"/],
    ['--out', /unknown flag --out/],
    ['@a @b', /got also/],
  ],
  'run verify': [
    ['', /Missing required positional argument: DIRECTORY/],
    ['@none', /none does not exist; correct the path/],
    ['@empty', /holds no checkpoints/],
  ],
  'data preview': [
    ['', /Missing required positional argument: SOURCE/],
    ['@none.jsonl', /none\.jsonl does not exist/],
    ['@broken.jsonl', /line 1: expected one JSON object per line/],
    ['@rows.jsonl[5:2]', /contains no rows; look at the file, the split and the slice/],
    ['@rows.jsonl[a:b]', /does not exist in .*; correct the path, or write the slice as in rows/],
  ],
  'data stats': [
    ['', /Missing required positional argument: SOURCE/],
    ['@none.jsonl', /none\.jsonl does not exist/],
    ['@broken.jsonl', /line 1: expected one JSON object per line/],
  ],
  completion: [
    ['', /Missing required positional argument: SHELL/],
    ['tcsh', /expected bash, zsh or fish, got "tcsh"/],
    ['bash more', /got also "more"/],
  ],
};

it('covers every command', () => {
  expect(Object.keys(mistakes).sort()).toEqual(Object.keys(commandTable).sort());
});

const cases = Object.entries(mistakes).flatMap(([command, each]) =>
  each.map(([args, said]) => [`${command} ${args}`.trim(), said] as const),
);

it.each(cases)('answers `rlp %s` with one sentence', async (line, expected) => {
  const complaints: string[] = [];
  const code = await runCli(line.replaceAll('@', `${directory}/`).split(' '), {
    print: () => {},
    printError: (text) => complaints.push(text),
  });
  expect(code).toBeGreaterThan(0);
  expect(complaints).toEqual([expect.stringMatching(expected)]);
  expect(complaints[0]).not.toContain('\n');
  expect(complaints[0]).not.toContain('unexpected');
});
