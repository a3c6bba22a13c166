/**
 * Prints what the eighth and the ninth round of attacks earn from the text graders, and whether honest rows pass:
 * `npx tsx --conditions=@rlp/source lab/hack-forms.ts [ROUND] [--wrong]`. The rows are in `bench/hacks/forms.json`. ROUND is the beginning of
 * their ids: `form` (eighth) or `documents` (ninth, by an author who had read only the documents).
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
  /** `none`, `full`, `less than the best`, or `at most 0.3`. */
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
  readonly options?: Readonly<Record<string, unknown>> & {
    readonly tags?: string[];
    readonly language?: string;
    readonly size?: number;
    readonly keywords?: readonly string[];
  };
}

const verdict =
  (verifier: verification.TextVerifier): RewardFunction<unknown> =>
  async ({ response }) => {
    const [report] = await verifier.verifyBatch([{ prompt: '', response }]);
    return report!.result === 'fail' ? 0 : 1;
  };

const whole = (response: string) => response;

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
    exactAnswer: () => stock.exactAnswer({ reference }),
    fuzzyMatch: () => stock.fuzzyMatch({ reference, extract: whole }),
    numericMatch: () => stock.numericMatch({ reference, extract: whole }),
    gsm8kAnswer: () => stock.gsm8kAnswer({ reference }),
    mathAnswer: () => stock.mathAnswer({ reference }),
    'mathAnswer (multiple choice)': () => stock.mathAnswer({ reference }),
    toolCalls: () => stock.toolCalls({ ...options, expected: () => input.expected! }),
    reasoningSteps: () => stock.reasoningSteps(),
    ngramDiversity: () => stock.ngramDiversity(),
    instructionFollowing: () => instructionFollowing({ instructions }),
    ToxicityVerifier: () => verdict(new verification.ToxicityVerifier()),
    SafetyPatternVerifier: () => verdict(new verification.SafetyPatternVerifier()),
    LanguageVerifier: () => verdict(new verification.LanguageVerifier({ languages: [options.language!] })),
    LengthVerifier: () =>
      verdict(new verification.LengthVerifier({ ...options, unit: 'characters' } as never)),
    RepetitionVerifier: () => verdict(new verification.RepetitionVerifier()),
    FormatVerifier: () => verdict(new verification.FormatVerifier({ schema: input.schema as never })),
    FactualVerifier: () => verdict(new verification.FactualVerifier()),
    GreetingVerifier: () => verdict(new verification.GreetingVerifier()),
    NonEmptyVerifier: () => verdict(new verification.NonEmptyVerifier()),
    KeywordVerifier: () => verdict(new verification.KeywordVerifier({ keywords: [...options.keywords!] })),
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
  if (expected === 'less than the best') return reward < 1 - 1e-9;
  return reward <= Number(/[\d.]+/.exec(expected)?.[0] ?? 0) + 0.011;
}

const file = join(import.meta.dirname, 'bench/hacks/forms.json');
const [round = ''] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const all: Row[] = JSON.parse(readFileSync(file, 'utf8'));
const rows = all.filter(({ id }) => id.startsWith(round));
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
