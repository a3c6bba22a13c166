/**
 * Prints the tables of lab/notes/answers.md: how far our answer checks agree with published graders and labels, on the shared data
 * at `RLP_SHARED` (default `../shared`).
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finalAnswer, mathAnswersAgree, mathNormalForm } from '@rlp/answers';
import type { Message, RewardFunction, Trajectory } from '@rlp/core';
import { followsInstruction, loadLanguageDetector } from '@rlp/rewards/instructions';
import { gsm8kAnswer, mathAnswer, toolCalls } from '@rlp/rewards/stock';

const language = await loadLanguageDetector();
const shared = process.env.RLP_SHARED ?? join('..', 'shared');
const print = (line: string) => process.stdout.write(`${line}\n`);
const linesOf = (path: string) =>
  readFileSync(join(shared, path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

interface Pair {
  readonly given: string;
  readonly gold: string;
  readonly hendrycks: boolean;
  readonly prm800k: boolean;
}

type Checker = (given: string, gold: string) => boolean;

function mathPairs(): Pair[] {
  const { cases } = JSON.parse(readFileSync(join(shared, 'conformance/math_answers.json'), 'utf8'));
  return cases
    .filter(({ fn }: { fn: string }) => fn === 'equiv')
    .map(({ inputs, expected }: { inputs: object; expected: object }) => ({ ...inputs, ...expected }));
}

function mathTables(checkers: Readonly<Record<string, Checker>>): void {
  const pairs = mathPairs();
  const agreed = pairs.filter(({ hendrycks, prm800k }) => hendrycks === prm800k);
  const golds = [...new Set(pairs.map(({ gold }) => gold))].filter((gold) => gold !== '');
  const strangers = golds.flatMap((one) =>
    golds.filter((other) => other !== one).map((other) => [one, other] as const),
  );
  print(
    `| checker | as Hendrycks | as PRM800K | as both, where they agree | refused though one accepts | accepted of other answers |`,
  );
  print(`|---|---|---|---|---|---|`);
  for (const [name, check] of Object.entries(checkers)) {
    const count = (list: readonly Pair[], holds: (pair: Pair, verdict: boolean) => boolean) =>
      list.filter((pair) => holds(pair, check(pair.given, pair.gold))).length;
    const cells = [
      `${count(pairs, ({ hendrycks }, verdict) => verdict === hendrycks)} of ${pairs.length}`,
      `${count(pairs, ({ prm800k }, verdict) => verdict === prm800k)}`,
      `${count(agreed, ({ prm800k }, verdict) => verdict === prm800k)} of ${agreed.length}`,
      `${count(pairs, ({ hendrycks, prm800k }, verdict) => !verdict && (hendrycks || prm800k))}`,
      `${strangers.filter(([given, gold]) => check(given, gold)).length} of ${strangers.length}`,
    ];
    print(`| ${[name, ...cells].join(' | ')} |`);
  }
  const [, ours] = Object.entries(checkers).at(-1)!;
  const more = pairs.filter(
    ({ given, gold, hendrycks, prm800k }) => ours(given, gold) && !hendrycks && !prm800k,
  );
  print(
    `\nAccepted though both refuse: ${more.map(({ given, gold }) => `\`${given}\` for \`${gold}\``).join(', ')}`,
  );
  const met = strangers.filter(([given, gold]) => Object.values(checkers).at(-1)!(given, gold));
  print(`\nOf other answers: ${met.map(([given, gold]) => `\`${given}\` for \`${gold}\``).join(', ')}\n`);
}

function judge<Metadata>(
  reward: RewardFunction<Metadata>,
  response: string,
  metadata: Metadata,
  messages: readonly Message[] = [],
): unknown {
  const task = { id: '0', prompt: '', metadata };
  const trajectory: Trajectory<Metadata> = {
    id: '0',
    task,
    steps: [],
    messages,
    response,
    status: 'completed',
    policyVersion: 0,
  };
  return reward(trajectory, { signal: new AbortController().signal });
}

function gsm8kTable(): void {
  const rows = linesOf('data/gsm8k/model_solutions.jsonl').flatMap(({ ground_truth, completions }) =>
    completions.map(({ solution, is_correct }: { solution: string; is_correct: boolean }) => ({
      answer: ground_truth.slice(ground_truth.lastIndexOf('A:') + 2).trim() as string,
      solution,
      isCorrect: is_correct,
    })),
  );
  const reference = ({ answer }: { answer: string }) => answer;
  const readings: Readonly<Record<string, RewardFunction<{ answer: string }>>> = {
    '`mathAnswer`': mathAnswer({ reference }),
    '`gsm8kAnswer`': gsm8kAnswer({ reference }),
    '`gsm8kAnswer`, last number': gsm8kAnswer({ reference, extract: finalAnswer({ from: ['number'] }) }),
    '`gsm8kAnswer`, last number of 300 characters': gsm8kAnswer({
      reference,
      extract: finalAnswer({ from: ['number'], within: 300 }),
    }),
    '`gsm8kAnswer`, `####` only': gsm8kAnswer({ reference, extract: finalAnswer({ from: ['hash'] }) }),
  };
  const forms: Readonly<Record<string, (text: string) => string>> = {
    'as published (`A: 18`)': (text) => text,
    'rewritten to `#### 18`': (text) => text.replace(/A: (?=[^\n]*$)/, '#### '),
    'rewritten to `The answer is $18.`': (text) =>
      text.replace(/A: ([^\n]*)$/, (_, n: string) => `The answer is $${n}.`),
    'rewritten to `**Final Answer**`, a line, `18`': (text) =>
      text.replace(/A: (?=[^\n]*$)/, '**Final Answer**\n\n'),
    'rewritten to `So it is 18 dollars in all.`': (text) =>
      text.replace(/A: ([^\n]*)$/, (_, n: string) => `So it is ${n} dollars in all.`),
  };
  print('| reading | solutions | right accepted | wrong accepted |');
  print('|---|---|---|---|');
  for (const [reading, reward] of Object.entries(readings)) {
    for (const [form, rewrite] of Object.entries(forms)) {
      const accepted = rows.filter(
        ({ solution, answer }) => judge(reward, rewrite(solution), { answer }) === 1,
      );
      const right = rows.filter(({ isCorrect }) => isCorrect).length;
      const hits = accepted.filter(({ isCorrect }) => isCorrect).length;
      print(
        `| ${reading} | ${form} | ${hits} of ${right} | ${accepted.length - hits} of ${rows.length - right} |`,
      );
    }
  }
  print('');
}

function instructionTable(): void {
  const counts = new Map<string, [verdicts: number, strict: number, loose: number]>();
  for (const model of ['qwen2.5-0.5b', 'mistral-7b', 'gpt-4o-mini']) {
    for (const row of linesOf(`data/instruction_following/${model}.jsonl`)) {
      row.instruction_id_list.forEach((id: string, k: number) => {
        const [verdicts, strict, loose] = counts.get(id) ?? [0, 0, 0];
        const instruction = { id, args: row.kwargs[k] };
        const follows = (reading: 'strict' | 'loose') =>
          followsInstruction(row.response, instruction, { reading, language });
        counts.set(id, [
          verdicts + 1,
          strict + (follows('strict') === row.strict[k] ? 1 : 0),
          loose + (follows('loose') === row.loose[k] ? 1 : 0),
        ]);
      });
    }
  }
  const sums = [...counts.values()].reduce(
    (sum, row) => sum.map((value, k) => value + row[k]!) as typeof row,
    [0, 0, 0],
  );
  const isWhole = ([verdicts, strict, loose]: readonly number[]) => strict === verdicts && loose === verdicts;
  const whole = [...counts.values()].filter(isWhole);
  print('| instruction | verdicts | agree, strict | agree, loose |');
  print('|---|---|---|---|');
  for (const [id, row] of [...counts].filter(([, row]) => !isWhole(row)).sort()) {
    print(`| \`${id.slice(3)}\` | ${row.join(' | ')} |`);
  }
  print(
    `| the other ${whole.length} kinds | ${whole.reduce((sum, [verdicts]) => sum + verdicts, 0)} | all | all |`,
  );
  print(`| **all ${counts.size} kinds** | ${sums.join(' | ')} |`);
}

function toolCallTable(): void {
  const rows = linesOf('data/trajectories/airline_gpt4o.jsonl');
  print('\n| expected calls are among those made | rewarded runs | runs without reward |');
  print('|---|---|---|');
  for (const order of ['kept', 'free'] as const) {
    const reward = toolCalls({
      expected: (calls: readonly { readonly name: string; readonly arguments: unknown }[]) => calls,
      order,
      comparison: 'subset',
      extra: 'allowed',
    });
    const met = (isRewarded: boolean) => {
      const runs = rows.filter((row) => row.reward >= 1 === isRewarded);
      const matching = runs.filter(({ expected_actions, messages }) => {
        const calls = expected_actions.map(({ name, kwargs }: { name: string; kwargs: unknown }) => ({
          name,
          arguments: kwargs,
        }));
        return judge(reward, '', calls, messages) === 1;
      });
      return `${matching.length} of ${runs.length}`;
    };
    print(`| ${order === 'kept' ? 'in their order' : 'in any order'} | ${met(true)} | ${met(false)} |`);
  }
}

const byForm = (rules: 'hendrycks' | 'mathd' | 'minerva'): Checker => {
  return (given, gold) => mathNormalForm(given, rules) === mathNormalForm(gold, rules);
};
mathTables({
  'equal text': (given, gold) => given === gold,
  'Hendrycks form': byForm('hendrycks'),
  'mathd form': byForm('mathd'),
  'Minerva form': byForm('minerva'),
  '`mathAnswersAgree`': (given, gold) => mathAnswersAgree(given, gold),
  "the same, `form: 'simplified'`": (given, gold) => mathAnswersAgree(given, gold, { form: 'simplified' }),
});
gsm8kTable();
instructionTable();
toolCallTable();
