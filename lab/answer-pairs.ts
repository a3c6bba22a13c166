/**
 * Prints how many answer pairs `mathAnswer` judges rightly, by set, or by kind for one set:
 * `npx tsx --conditions=@rlp/source lab/answer-pairs.ts [FILE] [--set NAME] [--wrong]`.
 *
 * FILE has a row `{set, given, reference, equal, kind}` on each line, or with a whole `response` instead of `given`. A row may say `why`,
 * and the `question` of a response.
 * Default: `answers/pairs.jsonl`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { mathAnswersAgree } from '@rlp/answers';
import { mathAnswer } from '@rlp/rewards/stock';

interface Pair {
  readonly set: string;
  readonly given?: string;
  readonly response?: string;
  readonly question?: string;
  readonly reference: string;
  readonly equal: boolean;
  readonly kind: string;
  readonly why?: string;
}

const reward = mathAnswer({ reference: (metadata: { reference: string }) => metadata.reference });

async function accepts({ given, response, question = '', reference }: Pair): Promise<boolean> {
  if (response === undefined) return mathAnswersAgree(given ?? '', reference);
  const messages = [{ role: 'user' as const, content: '' }];
  const trajectory = {
    id: '0',
    task: { id: '0', prompt: question, metadata: { reference } },
    steps: [],
    messages,
    response,
    status: 'completed' as const,
    policyVersion: 0,
  };
  return (await reward(trajectory, { signal: new AbortController().signal })) === 1;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { set: { type: 'string' }, wrong: { type: 'boolean', default: false } },
});
const file = positionals[0] ?? join(import.meta.dirname, 'answers/pairs.jsonl');
const rows = readFileSync(file, 'utf8').trimEnd().split('\n');
const everything: Pair[] = rows.map((row) => JSON.parse(row));
const pairs = everything.filter(({ set }) => values.set === undefined || set === values.set);
if (pairs.length === 0) {
  const sets = [...new Set(everything.map(({ set }) => set))].join(', ');
  throw new Error(`no set ${values.set} in ${file}, expected one of ${sets}`);
}
const column = values.set === undefined ? 'set' : 'kind';

const begun = performance.now();
const judged = await Promise.all(pairs.map(async (pair) => ({ ...pair, verdict: await accepts(pair) })));
const milliseconds = performance.now() - begun;

const print = (line: string) => process.stdout.write(`${line}\n`);
print(`| ${column} | pairs | right | false accepts | false rejects |`);
print('|---|--:|--:|--:|--:|');
for (const name of [...new Set(pairs.map((pair) => pair[column])), 'all']) {
  const members = judged.filter((pair) => name === 'all' || pair[column] === name);
  const right = members.filter(({ verdict, equal }) => verdict === equal).length;
  const accepted = members.filter(({ verdict, equal }) => verdict && !equal).length;
  print(`| ${name} | ${members.length} | ${right} | ${accepted} | ${members.length - right - accepted} |`);
}
print(`\n${(milliseconds / pairs.length).toFixed(2)} ms a pair`);
for (const { set, given, response, reference, verdict, equal, kind, why } of values.wrong ? judged : []) {
  if (verdict === equal) continue;
  const reason = why === undefined ? '' : ` (${why})`;
  print(
    `${set}, ${kind}: \`${given ?? response}\` for \`${reference}\` ${verdict ? 'accepted' : 'refused'}${reason}`,
  );
}
