/**
 * How many answers of solutions are found with and without their boxes.
 *
 *     pnpm tsx --conditions=@rlp/source lab/math-prose.ts FILE.jsonl [--show 20]
 *
 * FILE has rows with `solution` or `output`, as in the MATH data set. The right answer is what the last box holds. Without boxes their
 * contents stay, so that the answer has to be read from the author's prose. `--show` prints so many that are not found.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { finalAnswer, lastBoxed, mathAnswersAgree } from '@rlp/answers';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { show: { type: 'string', default: '0' } },
});
const [file] = positionals;
if (file === undefined) throw new Error('usage: math-prose.ts FILE.jsonl [--show 20]');

const read = finalAnswer({ from: ['boxed', 'hash', 'phrase', 'sentence'] });
const solutions = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line): string => {
    const { solution, output } = JSON.parse(line);
    return solution ?? output ?? '';
  })
  .filter((solution) => solution.includes('\\boxed{') && lastBoxed(solution)?.content);

function withoutBoxes(solution: string): string {
  const box = lastBoxed(solution);
  if (box?.command !== 'boxed') return solution;
  const at = solution.lastIndexOf(box.text);
  return withoutBoxes(solution.slice(0, at) + box.content + solution.slice(at + box.text.length));
}

const tried = solutions.map((solution) => {
  const right = lastBoxed(solution)!.content;
  const prose = withoutBoxes(solution);
  const given = read(prose);
  const agrees = (answer: string | undefined) => answer !== undefined && mathAnswersAgree(answer, right);
  return { right, given, prose, inBox: agrees(read(solution)), inProse: agrees(given) };
});
const missed = tried.filter(({ inProse }) => !inProse);
const every = Math.max(1, Math.floor(missed.length / Math.max(1, Number(values.show))));
for (const { right, given, prose } of missed
  .filter((_, at) => at % every === 0)
  .slice(0, Number(values.show))) {
  console.log(JSON.stringify({ right, given, end: prose.slice(-160) }));
}
console.log(
  JSON.stringify({
    solutions: tried.length,
    inBoxes: tried.filter(({ inBox }) => inBox).length,
    inProse: tried.length - missed.length,
    nothingRead: missed.filter(({ given }) => given === undefined).length,
  }),
);
