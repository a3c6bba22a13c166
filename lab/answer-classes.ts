/**
 * Judges every two answers of `answers/classes.json` of one kind: `npx tsx --conditions=@rlp/source lab/answer-classes.ts [--wrong] [--across]`.
 *
 * The file has classes of answers that are the same. Answers of one class must be accepted for each other, those of different
 * classes refused. `--across` also compares classes of different kinds.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mathAnswersAgree } from '@rlp/answers';

const file = join(import.meta.dirname, 'answers/classes.json');
const kinds: Readonly<Record<string, readonly (readonly string[])[]>> = JSON.parse(
  readFileSync(file, 'utf8'),
);
const across = process.argv.includes('--across');
const groups = across ? { all: Object.values(kinds).flat() } : kinds;

const print = (line: string) => process.stdout.write(`${line}\n`);
const wrong: string[] = [];
print('| kind | pairs of one class | refused | pairs of two classes | accepted |');
print('|---|--:|--:|--:|--:|');
for (const [kind, classes] of Object.entries(groups)) {
  const answers = classes.flatMap((forms, of) => forms.map((form) => ({ form, of })));
  const counts = { same: 0, refused: 0, different: 0, accepted: 0 };
  for (const given of answers) {
    for (const reference of answers) {
      if (given === reference) continue;
      const verdict = mathAnswersAgree(given.form, reference.form);
      const isSame = given.of === reference.of;
      counts[isSame ? 'same' : 'different']++;
      if (verdict === isSame) continue;
      counts[isSame ? 'refused' : 'accepted']++;
      wrong.push(`${kind}: \`${given.form}\` for \`${reference.form}\` ${verdict ? 'accepted' : 'refused'}`);
    }
  }
  print(`| ${kind} | ${counts.same} | ${counts.refused} | ${counts.different} | ${counts.accepted} |`);
}
if (process.argv.includes('--wrong')) wrong.forEach(print);
