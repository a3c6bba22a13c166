/**
 * Prints what the eighth round of attacks earns from the text graders, and whether honest rows pass:
 * `npx tsx --conditions=@rlp/source lab/hack-forms.ts [--wrong]`. The rows are in `bench/hacks/eighth-forms.json`.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message, RewardFunction } from '@rlp/core';
import { instructionFollowing } from '@rlp/rewards/instructions';
import * as stock from '@rlp/rewards/stock';
import * as verification from '@rlp/rewards/verification';
import { answering } from './bench/hacks/graders.ts';

interface Row {
  readonly id: string;
  readonly grader: string;
  readonly input: Input;
  readonly honest: boolean;
  /** `none`, `full`, or `at most 0.3`. */
  readonly expected: string;
  readonly why: string;
}

interface Input {
  readonly response?: string;
  readonly messages?: readonly Message[];
  readonly reference?: string;
  readonly expected?: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly schema?: object;
  readonly instruction_id_list?: readonly string[];
  readonly kwargs?: readonly object[];
  readonly options?: { readonly tags?: string[]; readonly language?: string; readonly size?: number };
}

const verdict =
  (verifier: verification.TextVerifier): RewardFunction<unknown> =>
  async ({ response }) => {
    const [report] = await verifier.verifyBatch([{ prompt: '', response }]);
    return report!.result === 'fail' ? 0 : 1;
  };

function graderOf(name: string, { options = {}, ...input }: Input): RewardFunction<unknown> {
  const reference = () => input.reference!;
  const instructions = () =>
    input.instruction_id_list!.map((id, at) => ({ id, args: input.kwargs![at] })) as never;
  const repetition = stock.repetitionPenalty({ size: options.size, unit: 'words' });
  const graders: Readonly<Record<string, () => RewardFunction<unknown>>> = {
    thinkFormat: () => stock.thinkFormat(),
    tagFormat: () => stock.tagFormat({ tags: options.tags! }),
    jsonFormat: () => stock.jsonFormat({ schema: input.schema }),
    answerF1: () => stock.answerF1({ reference }),
    answerRougeL: () => stock.answerRougeL({ reference }),
    answerExactMatch: () => stock.answerExactMatch({ reference }),
    toolCalls: () => stock.toolCalls({ expected: () => input.expected! }),
    'mathAnswer (multiple choice)': () => stock.mathAnswer({ reference }),
    instructionFollowing: () => instructionFollowing({ instructions }),
    ToxicityVerifier: () => verdict(new verification.ToxicityVerifier()),
    SafetyPatternVerifier: () => verdict(new verification.SafetyPatternVerifier()),
    LanguageVerifier: () => verdict(new verification.LanguageVerifier({ languages: [options.language!] })),
    LengthVerifier: () =>
      verdict(new verification.LengthVerifier({ ...options, unit: 'characters' } as never)),
    repetitionPenalty: () => async (trajectory, given) => 1 + ((await repetition(trajectory, given)) ?? 0),
  };
  return graders[name]!();
}

/** Whether a row earns what it should. Honest rows may miss a share of an overlap. */
async function isRight({ id, grader, input, honest, expected }: Row): Promise<boolean> {
  const trajectory = answering(input.response ?? '', input, id);
  const { signal } = new AbortController();
  const given = { ...trajectory, messages: input.messages ?? trajectory.messages };
  const reward = await graderOf(grader, input)(given, { signal });
  if (reward === null) return false;
  if (honest) return reward >= (/F1|Rouge/.test(grader) ? 0.5 : grader === 'repetitionPenalty' ? 0.8 : 1);
  return reward <= Number(/[\d.]+/.exec(expected)?.[0] ?? 0) + 0.011;
}

const file = join(import.meta.dirname, 'bench/hacks/eighth-forms.json');
const rows: Row[] = JSON.parse(readFileSync(file, 'utf8'));
const judged = await Promise.all(rows.map(async (row) => ({ ...row, right: await isRight(row) })));
console.log('| grader | attacks | pay | honest | refused |\n|---|--:|--:|--:|--:|');
for (const grader of [...new Set(rows.map((row) => row.grader)), 'all']) {
  const own = judged.filter((row) => grader === 'all' || row.grader === grader);
  const cells = [false, true].flatMap((honest) => {
    const of = own.filter((row) => row.honest === honest);
    return [of.length, of.filter(({ right }) => !right).length];
  });
  console.log(`| ${[grader, ...cells].join(' | ')} |`);
}
if (process.argv.includes('--wrong'))
  for (const { grader, why } of judged.filter(({ right }) => !right)) console.log(`${grader}: ${why}`);
