/**
 * Prints how many answer pairs `mathAnswer` judges rightly, by kind: `npx tsx --conditions=@rlp/source lab/answer-pairs.ts [FILE] [--wrong]`.
 * FILE has rows of `{given, reference, equal, kind}`, or with a whole `response` instead of `given`. Default: the pairs of `lab/answers`, which
 * nobody tuned on.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mathAnswersAgree } from '@rlp/answers';
import { mathAnswer } from '@rlp/rewards/stock';

interface Pair {
  readonly given?: string;
  readonly response?: string;
  readonly reference: string;
  readonly equal: boolean;
  readonly kind: string;
}

const reward = mathAnswer({ reference: (metadata: { reference: string }) => metadata.reference });

async function accepts({ given, response, reference }: Pair): Promise<boolean> {
  if (response === undefined) return mathAnswersAgree(given ?? '', reference);
  const messages = [{ role: 'user' as const, content: '' }];
  const trajectory = {
    id: '0',
    task: { id: '0', prompt: '', metadata: { reference } },
    steps: [],
    messages,
    response,
    status: 'completed' as const,
    policyVersion: 0,
  };
  return (await reward(trajectory, { signal: new AbortController().signal })) === 1;
}

const files = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const file = files[0] ?? join(import.meta.dirname, 'answers/held-out-pairs.json');
const pairs: Pair[] = JSON.parse(readFileSync(file, 'utf8'));
const begun = performance.now();
const judged = await Promise.all(pairs.map(async (pair) => ({ ...pair, verdict: await accepts(pair) })));
const milliseconds = performance.now() - begun;

const print = (line: string) => process.stdout.write(`${line}\n`);
print('| kind | pairs | right | false accepts | false rejects |');
print('|---|--:|--:|--:|--:|');
for (const kind of [...new Set(pairs.map((pair) => pair.kind)), 'all']) {
  const rows = judged.filter((pair) => kind === 'all' || pair.kind === kind);
  const right = rows.filter(({ verdict, equal }) => verdict === equal).length;
  const accepted = rows.filter(({ verdict, equal }) => verdict && !equal).length;
  print(`| ${kind} | ${rows.length} | ${right} | ${accepted} | ${rows.length - right - accepted} |`);
}
print(`\n${(milliseconds / pairs.length).toFixed(2)} ms a pair`);
if (process.argv.includes('--wrong')) {
  for (const { given, response, reference, verdict, equal, kind } of judged) {
    if (verdict !== equal)
      print(`${kind}: \`${given ?? response}\` for \`${reference}\` ${verdict ? 'accepted' : 'refused'}`);
  }
}
