import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Evaluation, evaluationSchema } from '@rlp/core';
import { characterTokenizer, createModel, parseModelConfig, saveModel } from '@rlp/models';
import { afterAll, describe, expect, it } from 'vitest';
import { commandTable } from './command-table.ts';
import { nodeFinding } from './doctor/machine.ts';
import { runCli } from './run-cli.ts';

const stories = fileURLToPath(new URL('../../../examples/models/stories260k', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'cli-models-'));
afterAll(() => rmSync(directory, { recursive: true }));

async function* pieces(...texts: string[]) {
  yield* texts;
}

async function rlpWith(input: string[], ...args: string[]) {
  const said: string[] = [];
  const complaints: string[] = [];
  const written: string[] = [];
  const code = await runCli(args, {
    print: (line) => said.push(line),
    printError: (line) => complaints.push(line),
    write: (text) => written.push(text),
    input: pieces(...input),
    engine: { thread: 'inline', threads: 1 },
  });
  return { code, said: said.join('\n'), complaints: complaints.join('\n'), written: written.join('') };
}

const rlp = (...args: string[]) => rlpWith([], ...args);

function file(name: string, ...rows: unknown[]): string {
  const path = join(directory, name);
  writeFileSync(path, rows.map((row) => `${typeof row === 'string' ? row : JSON.stringify(row)}\n`).join(''));
  return path;
}

const questions = file(
  'questions.jsonl',
  ...Array.from({ length: 6 }, (_, k) => ({
    question: `Once ${k}`,
    answer: `${k}`,
    level: k % 2 ? 'odd' : 'even',
  })),
);

describe.each(Object.keys(commandTable))('rlp %s', (name) => {
  it('has help with usage and an example that begins with its name', async () => {
    const { code, said } = await rlp(...name.split(' '), '--help');
    expect([code, said]).toEqual([0, expect.stringContaining(`USAGE rlp ${name}`)]);
    expect(said).toContain(`EXAMPLES\n\n  rlp ${name}`);
    expect(said).not.toContain('\u001b');
    expect((await rlp('--help')).said).toContain(commandTable[name]!.summary);
  });

  it('refuses a flag that it does not have, and names the nearest', async () => {
    const { code, complaints } = await rlp(...name.split(' '), 'x', '--hepl');
    expect([code, complaints]).toEqual([2, expect.stringContaining(`rlp ${name}: unknown flag --hepl`)]);
  });
});

describe('rlp', () => {
  it('says what a misspelt command or flag may have meant', async () => {
    expect((await rlp('evla')).complaints).toContain('did you mean eval?');
    expect((await rlp('runs')).complaints).toContain('did you mean run?');
    expect((await rlp('monitor', 'analyse')).complaints).toContain('did you mean monitor analyze?');
    const flag = await rlp('eval', stories, questions, '--smaples', '2');
    expect(flag).toMatchObject({ code: 2, complaints: expect.stringContaining('did you mean --samples?') });
  });

  it('gives one sentence for an error, and the stack with --debug', async () => {
    const missing = ['generate', join(directory, 'none'), 'Once'];
    const { code, complaints } = await rlp(...missing);
    expect([code, complaints.split('\n').length]).toEqual([1, 1]);
    expect(complaints).toContain('does not exist; give a model folder with config.json');
    expect((await rlp(...missing, '--debug')).complaints).toMatch(/\n\s+at /);
  });
});

describe('what is read besides JSON Lines', () => {
  it('eval takes columns with other names', async () => {
    const odd = file(
      'named.jsonl',
      '{"Q": {"text": "Once 1"}, "gold": 1}',
      '{"Q": {"text": "Once 2"}, "gold": 2}',
    );
    const short = ['--max-tokens', '2', '--threads', '1', '--json'];
    expect((await rlp('eval', stories, odd, ...short)).complaints).toContain(
      'the row has Q, gold; name them, as in --fields prompt=query,answer=reply',
    );
    const { code, said } = await rlp('eval', stories, odd, '--fields', 'prompt=Q.text,answer=gold', ...short);
    expect([code, said]).toEqual([0, expect.stringContaining('"tasks":2')]);
    expect((await rlp('eval', stories, odd, '--fields', 'prompt=Q.text', ...short)).complaints).toContain(
      'row 1: expected an answer; name its column as in --fields answer=reply',
    );
    expect((await rlp('eval', stories, odd, '--fields', 'Q', ...short)).complaints).toContain(
      '--fields must be like prompt=query,answer=reply, got "Q"',
    );
  });

  it('eval takes slices and CSV, and doctor the configuration of a run', async () => {
    const csv = file('questions.csv', 'question,answer', 'Once 1,1', 'Once 2,2', 'Once 3,3');
    const short = ['--max-tokens', '2', '--threads', '1', '--json'];
    const scored = await rlp('eval', stories, `${csv}[0:2]`, ...short);
    expect([scored.code, scored.complaints]).toEqual([0, '']);
    expect(scored.said).toContain('"tasks":2');
    const config = file('run.yaml', `model: ${stories}`, 'data: ./questions.csv', 'algorithm: {}');
    const small = ['--rows', '1', '--length', '16', '--json'];
    const checked = await rlp('doctor', config, ...small);
    const { findings } = JSON.parse(checked.said) as { findings: { name: string; state: string }[] };
    const states = findings.map(({ name, state }) => `${name} ${state}`);
    expect(states).toEqual(
      expect.arrayContaining(['configuration fine', 'model fine', 'rewards: answer fine']),
    );
    const odd = file('odd.jsonl', '{"Query": "Once 1", "gold": ["1"]}', '{"Query": "Once 2", "gold": ["2"]}');
    const mapped = `data: { path: ${odd}, fields: { prompt: Query, answer: gold.0 } }`;
    const tags = file(
      'tags.yaml',
      `model: ${stories}`,
      mapped,
      'rewards: { right: exactAnswer }',
      'algorithm: {}',
    );
    const noted = await rlp('doctor', tags, ...small);
    expect(noted.code).toBe(0);
    expect(noted.said).toContain('0 of 2 answers, as the rows write them, score above 0');
    const few = file(
      'few.yaml',
      `model: ${stories}`,
      'data: ./questions.csv',
      'evaluation: { heldOut: 9 }',
      'sft: {}',
    );
    expect(await rlp('doctor', few, ...small)).toMatchObject({
      code: 1,
      said: expect.stringContaining(
        'evaluation.heldOut is 9 and the data has 3 rows, so none is left to learn from',
      ),
    });
    const wrong = file('wrong.yaml', `model: ${stories}`, 'algorithm: { iteratoins: 3 }');
    const refused = await rlp('doctor', wrong, ...small);
    expect([refused.code, refused.said]).toEqual([1, expect.stringContaining('did you mean')]);
  });
});

describe('rlp generate', () => {
  it('streams the same text for the same seed', async () => {
    const args = ['generate', stories, 'Once upon a time', '--max-tokens', '12', '--seed', '1'];
    const [one, two, other] = [await rlp(...args), await rlp(...args), await rlp(...args.slice(0, -1), '2')];
    expect([one.code, one.complaints]).toEqual([0, '']);
    expect(one.written.length).toBeGreaterThan(10);
    expect(two.written).toBe(one.written);
    expect(other.written).not.toBe(one.written);
  });

  it('reads prompts from a file or stdin, and prints JSON', async () => {
    const prompts = file('prompts.jsonl', { prompt: 'Lily' }, { prompt: 'Tom' });
    const short = ['--max-tokens', '3', '--json'];
    const { said } = await rlp('generate', stories, '--prompts', prompts, '--count', '2', ...short);
    const lines = said.split('\n').map((line) => JSON.parse(line) as { prompt: string; tokens: number });
    const counts = lines.map(({ prompt, tokens }) => `${prompt} ${tokens}`);
    expect(counts).toEqual(['Lily 3', 'Lily 3', 'Tom 3', 'Tom 3']);
    const piped = await rlpWith(['Once ', 'upon\n'], 'generate', stories, ...short);
    expect(JSON.parse(piped.said)).toMatchObject({ prompt: 'Once upon' });
  });

  it('says which characters the model cannot read', async () => {
    const tokenizer = characterTokenizer('0123456789+=', { end: '.', unknown: '<unk>' });
    const shape = {
      ...{ model_type: 'llama', hidden_size: 8, intermediate_size: 16, num_hidden_layers: 1 },
      ...{ num_attention_heads: 1, max_position_embeddings: 16, vocab_size: tokenizer.vocabularySize },
    };
    const folder = join(directory, 'digits');
    await saveModel(folder, createModel({ config: parseModelConfig(shape), tokenizer, seed: 'lost' }));
    const { code, complaints } = await rlp('generate', folder, '1+1 ist?', '--max-tokens', '2');
    expect([code, complaints]).toEqual([
      0,
      expect.stringContaining('lacks 4 characters (i s t ?) of 1 prompt'),
    ]);
  });

  it.each([
    [['x', '--temperature', 'hot'], '--temperature must be a number from 0, got "hot"'],
    [['x', '--max-tokens', '0'], '--max-tokens must be an integer from 1, got "0"'],
    [[], 'no prompt; give it as an argument'],
    [['x', '--prompts', 'y'], 'not both'],
    [['x', '--system', 'Be kind.'], 'has no chat template'],
  ])('refuses %j', async (args, problem) => {
    expect(await rlp('generate', stories, ...args)).toMatchObject({
      code: problem === 'has no chat template' ? 1 : 2,
      complaints: expect.stringContaining(problem),
    });
  });
});

describe('rlp chat', () => {
  it.each([
    [['chat'], 2, 'MODEL'],
    [['chat', join(directory, 'none')], 1, 'does not exist'],
    [['chat', stories], 1, 'has no chat template; use rlp generate'],
    [['chat', stories, '--top-p', '2'], 2, '--top-p must be a number from 0 to 1'],
  ] as const)('refuses %j', async (args, code, problem) => {
    const refused = await rlp(...args);
    expect([refused.code, refused.complaints]).toEqual([
      code,
      expect.stringMatching(new RegExp(problem, 'i')),
    ]);
  });
});

describe('rlp eval and rlp compare', () => {
  const [before, after] = [join(directory, 'made/before.json'), join(directory, 'made/after.json')];
  const settings = ['--max-tokens', '4', '--samples', '2', '--k', '1,2', '--category', 'level'];

  it('prints numbers, writes the record and compares two of them', async () => {
    const made = await rlp('eval', stories, questions, ...settings, '--json', '--out', before);
    expect([made.code, made.complaints]).toEqual([0, '']);
    const numbers = JSON.parse(made.said) as Evaluation;
    expect(numbers).toMatchObject({ samples: 2, accuracy: expect.any(Number), unscored: { count: 0 } });
    expect(Object.keys(numbers.passAt!)).toEqual(['1', '2']);
    expect(Object.keys(numbers.categories!)).toEqual(['even', 'odd']);
    expect(evaluationSchema.parse(JSON.parse(readFileSync(before, 'utf8'))).tasks).toHaveLength(6);
    const inFile = join(before, 'record.json');
    expect(await rlp('eval', join(directory, 'none'), questions, '--out', inFile)).toMatchObject({
      code: 1,
      complaints: expect.stringMatching(/before\.json: expected a folder, got a file/),
    });
    expect(await rlp('eval', stories, questions, ...settings, '--json', '--out', directory)).toMatchObject({
      code: 1,
      said: made.said,
    });
    const shown = await rlp('eval', stories, questions, ...settings, '--seed', 'other', '--out', after);
    expect(shown.said).toMatch(/6 tasks, intervals at 95 %\n\s+accuracy\s+\d\.\d{4}/);
    const compared = await rlp('compare', before, after);
    expect(compared).toMatchObject({ code: 0, said: expect.stringContaining('of 6 tasks') });
    const asJson = JSON.parse((await rlp('compare', before, after, '--json')).said);
    expect(asJson.evaluations[0].comparison).toMatchObject({ tasks: 6 });
  });

  it('knows a benchmark by its fields, and a run folder by its checkpoints', async () => {
    const options = file(
      'arc.jsonl',
      {
        question: 'Who?',
        choices: { text: ['a cat', 'the king of Spain'], label: ['A', 'B'] },
        answerKey: 'A',
      },
      { question: 'What?', choices: { text: ['a dog', 'xylophones'], label: ['A', 'B'] }, answerKey: 'B' },
    );
    const { code, said } = await rlp('eval', stories, options, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(said)).toMatchObject({
      name: 'arc',
      components: { acc: { tasks: 2 }, acc_norm: { tasks: 2 } },
      interval: 'wilson',
    });
  });

  it.each([
    [['eval', stories], 'DATA'],
    [['eval', stories, join(directory, 'none.jsonl')], 'does not exist'],
    [
      ['eval', stories, questions, '--benchmark', 'gsm8'],
      'no benchmark is named "gsm8"; did you mean gsm8k?',
    ],
    [['eval', stories, questions, '--benchmark', 'mmlu'], 'row 1: choices'],
    [['eval', stories, questions, '--grader', 'vibes'], '--grader must be math or exact'],
    [['eval', stories, questions, '--k', '4'], 'k: must not be larger than samples'],
    [['eval', stories, questions, '--style', 'essay'], '--style must be completion or chat'],
    [['eval', stories, file('bad.jsonl', { question: 'x' })], 'row 1: expected one of answer'],
    [['eval', stories, file('broken.jsonl', '{"question": ')], 'line 1'],
    [['compare', stories, stories], 'expected a run folder'],
    [['compare', questions, questions], 'expected JSON'],
    [['compare', join(directory, 'none'), questions], 'does not exist; correct the path'],
    [['compare', file('no.json', { a: 1 }), questions], 'is not an evaluation'],
  ])('refuses %j', async (args, problem) => {
    const refused = await rlp(...args);
    expect(refused.code).toBeGreaterThan(0);
    expect(refused.complaints).toMatch(new RegExp(problem.replace(/[()?]/g, '\\$&'), 'i'));
  });
});

describe('rlp doctor', () => {
  it('checks machine, model and rewards, and says what is missing', async () => {
    const { code, said } = await rlp(
      'doctor',
      stories,
      '--data',
      questions,
      '--rows',
      '2',
      '--length',
      '32',
      '--json',
    );
    const { ok, findings } = JSON.parse(said) as {
      ok: boolean;
      findings: { name: string; state: string; text: string }[];
    };
    const byName = Object.fromEntries(findings.map(({ name, state }) => [name, state]));
    expect(byName).toMatchObject({
      ...{
        node: 'fine',
        threads: 'fine',
        memory: 'fine',
        'provider cpu': 'fine',
        model: 'fine',
        tokenizer: 'fine',
      },
      ...{ template: 'note', 'memory of a training step': 'fine', speed: 'fine', 'rewards: correct': 'fine' },
    });
    expect([ok, code]).toEqual([true, 0]);
    const cuda = findings.find(({ name }) => name === 'provider cuda')!;
    expect(cuda.text.length).toBeGreaterThan(3);
  });

  it('looks at preference pairs: missing and equal answers, and long ones', async () => {
    const pair = (chosen: string, rejected?: string) => JSON.stringify({ prompt: 'Once', chosen, rejected });
    const pairsOf = async (name: string, ...rows: string[]) => {
      const { said } = await rlp(
        'doctor',
        stories,
        '--data',
        file(name, ...rows),
        '--rows',
        '1',
        '--length',
        '16',
        '--json',
      );
      const { findings } = JSON.parse(said) as { findings: { name: string; state: string; text: string }[] };
      return findings.flatMap(({ name, state, text }) => (name === 'pairs' ? [`${state}: ${text}`] : []));
    };
    expect(await pairsOf('sound.jsonl', pair(' upon', ' more'), pair(' a', ' b'))).toEqual([
      'fine: 2 pairs with two different answers',
    ]);
    expect(await pairsOf('unsound.jsonl', pair(' upon', ' more'), pair(' a'), pair(' c', ' c'))).toEqual([
      expect.stringMatching(
        /^problem: 1 of 3 rows holds no pair, the first: .*row 2: expected a preferred answer.*correct rejected$/,
      ),
      expect.stringMatching(/^problem: 1 of 3 pairs has equal answers, the first is .*row 3; remove them$/),
    ]);
    expect(await pairsOf('long.jsonl', pair(' upon', ' more'.repeat(600)))).toEqual([
      expect.stringMatching(/^note: 1 of 1 pair is longer than 512 tokens, the longest has \d+$/),
    ]);
  });

  it('fails for a model that does not load, and for a file that has no answers', async () => {
    const noAnswers = file('no-answers.jsonl', { question: 'x' });
    const { code, said } = await rlp('doctor', join(directory, 'none'), '--data', noAnswers);
    expect(code).toBe(1);
    expect(said).toMatch(/PROBLEM {2}model\s+.*does not exist/);
    expect(said).toMatch(/PROBLEM {2}rewards\s+.*expected one of answer/);
    expect(await rlp('doctor', stories, '--rows', 'many')).toMatchObject({ code: 2 });
  });

  it('knows which versions of Node.js run it', () => {
    expect(['18.20.0', '20.18.9', '20.19.0', '24.1.0'].map((version) => nodeFinding(version).state)).toEqual([
      'problem',
      'problem',
      'fine',
      'fine',
    ]);
  });
});

describe('rlp completion', () => {
  it.each(['bash', 'zsh', 'fish'])('prints a script for %s with commands and flags', async (shell) => {
    const { code, said } = await rlp('completion', shell);
    expect(code).toBe(0);
    for (const word of ['eval', 'doctor', 'monitor', 'analyze', 'max-tokens']) expect(said).toContain(word);
  });

  it('completes in bash', async () => {
    if (!existsSync('/bin/bash')) return;
    const { execFileSync } = await import('node:child_process');
    const { said } = await rlp('completion', 'bash');
    const complete = (...words: string[]) =>
      execFileSync('/bin/bash', [
        '-c',
        `${said}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _rlp; echo "\${COMPREPLY[*]}"`,
      ])
        .toString()
        .trim();
    expect(complete('rlp', 'ev')).toBe('eval');
    expect(complete('rlp', 'monitor', 'an')).toBe('analyze');
    expect(complete('rlp', 'generate', '--max')).toBe('--max-tokens');
    expect(complete('rlp', 'run', 'verify', '--js')).toBe('--json');
  });

  it('refuses other shells', async () => {
    expect(await rlp('completion', 'tcsh')).toMatchObject({
      code: 2,
      complaints: expect.stringContaining('"tcsh"'),
    });
    expect((await rlp('completion')).code).toBe(2);
  });
});
