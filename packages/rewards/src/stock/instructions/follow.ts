import { seenText } from '@rlp/answers/text';
import { ArgumentError, parseOptions, type RewardFunction, requireArguments, requireFields } from '@rlp/core';
import * as z from 'zod';
import { type LanguageDetector, loadLanguageDetector } from '../../shared/language-detector.ts';
import { plainText, unhiddenText } from '../../shared/plain-text.ts';
import { isVisible } from '../../shared/visible-text.ts';
import { withReader } from '../answers/reference.ts';
import { type InstructionCheck, instructionChecks } from './checks.ts';
import { isLoop } from './text-tools.ts';

/** An instruction that a program can check, as IFEval writes it. */
export interface Instruction {
  /** Such as `length_constraints:number_words`, with or without a language prefix `en:`. */
  readonly id: string;
  /** Its arguments, such as `{ relation: 'at least', num_words: 300 }`. */
  readonly args?: Readonly<Record<string, unknown>> | undefined;
}

/** The names of all kinds of instructions. */
export const instructionIds: readonly string[] = Object.keys(instructionChecks);

/** ISO 639-1 codes of the languages that {@link loadLanguageDetector} tells apart. */
export const detectableLanguages: readonly string[] = (
  'am ar az be bg bn ca cs da de el en es et eu fa fi fr gu he hi hr hu hy is it ja ka kn ko ku lo lt lv ml mr ms nl no or pa pl pt ' +
  'ro ru sk sl sq sr sv ta te th tl tr uk ur vi yo zh'
).split(' ');

const nameOf = (id: string) => id.replace(/^[a-z]{2}:/, '');

/** The check of an instruction and its arguments. @throws ArgumentError if it cannot be checked. */
function checkOf(owner: string, instruction: Instruction): { check: InstructionCheck; args: unknown } {
  const { id, args = {}, ...others } = requireFields(owner, { id: 'text' }, instruction);
  const name = nameOf(id);
  if (!Object.hasOwn(instructionChecks, name)) {
    throw new ArgumentError(
      `${owner}: no instruction is named ${JSON.stringify(id)}, expected one of: ${instructionIds.join(', ')}`,
    );
  }
  const check = instructionChecks[name]!;
  const parsed = check.args.safeParse(args);
  if (parsed.success) return { check, args: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  const hint = Object.keys(others).map((key) => `; arguments are read from args, not from ${key}`);
  throw new ArgumentError(`${owner}: bad arguments of ${id}: ${problems}${hint.join('')}`, {
    cause: parsed.error,
  });
}

/**
 * Refuses instructions that cannot be checked, so that a data set is refused when it is loaded and not scored 0.
 *
 * @param options.languages - Codes of the languages that your detector knows. Default {@link detectableLanguages}.
 * @throws ArgumentError for an instruction of no known kind, with arguments that do not fit it, or about an unknown language.
 */
export function checkInstructions(
  instructions: readonly Instruction[],
  { languages = detectableLanguages }: { readonly languages?: readonly string[] | undefined } = {},
): void {
  requireArguments('checkInstructions', { instructions: 'objects' }, instructions);
  for (const instruction of instructions) {
    const { args } = checkOf('checkInstructions', instruction);
    const { language } = args as { readonly language?: string };
    if (language === undefined || languages.includes(language)) continue;
    throw new ArgumentError(
      `checkInstructions: the language detector does not know "${language}", which ${instruction.id} asks for; leave the task out, or pass a detector that knows it (known: ${languages.join(' ')})`,
    );
  }
}

/** How a response is read. */
type Reading = Pick<InstructionFollowingOptions<never>, 'reading' | 'loops' | 'language'>;

/**
 * Whether a response follows an instruction. A response without anything visible follows none. Invisible characters inside words are
 * not read, and a disguised response must follow it both as it is written and as a reader sees it.
 *
 * Instructions about the language of a response need `language`, such as `await loadLanguageDetector()`.
 *
 * @param reading - `'strict'` (default), or `'loose'`: the response, or one of its variants without asterisks, without the first line,
 * without the last, or both.
 * @param loops - `'refuse'` (default): a loop of words is not long. `'accept'`: it is, as for IFEval's checker.
 * @throws ArgumentError for an instruction of no known kind, or with arguments that do not fit it.
 */
export function followsInstruction(
  response: string,
  instruction: Instruction,
  { reading = 'strict', loops = 'refuse', language }: Reading = {},
): boolean {
  const { check, args } = checkOf('followsInstruction', instruction);
  if (check.needsLanguage && language === undefined) {
    throw new ArgumentError(
      `followsInstruction: expected a language detector for ${instruction.id}; pass { language: await loadLanguageDetector() }`,
    );
  }
  const { relation } = args as { readonly relation?: unknown };
  const mayLoop = loops === 'accept' || relation !== 'at least' || !/:number_/.test(instruction.id);
  const follows = (variant: string) =>
    isVisible(variant) &&
    check.follows(variant, args, language ?? (() => undefined)) &&
    (mayLoop || !isLoop(variant));
  // As it is written, and as a reader sees it. Letters of another script neither hide a word nor make one, nor does markup.
  const readings = new Set([unhiddenText(response), plainText(seenText(response)).text]);
  return [...readings].every((seen) => (reading === 'strict' ? [seen] : looseVariants(seen)).some(follows));
}

function looseVariants(response: string): string[] {
  const lines = response.split('\n');
  const parts = [lines.slice(1), lines.slice(0, -1), lines.slice(1, -1)];
  return [response, ...parts.map((part) => part.join('\n').trim())].flatMap((variant) => [
    variant,
    variant.replaceAll('*', ''),
  ]);
}

const schema = z.strictObject({
  /** How variants of the response count, see {@link followsInstruction}. Default `'strict'`. */
  reading: z.enum(['strict', 'loose']).default('strict'),
  /** Whether a loop of words is long, see {@link followsInstruction}. Default `'refuse'`. */
  loops: z.enum(['refuse', 'accept']).default('refuse'),
  /** 1 only if every instruction is followed, or the share that is. Default `'all'`. */
  grading: z.enum(['all', 'share']).default('all'),
});

/** Options of {@link instructionFollowing}. */
export interface InstructionFollowingOptions<Metadata> extends z.input<typeof schema> {
  /** Instructions of a task, from its metadata. Required. */
  readonly instructions: (metadata: Metadata) => readonly Instruction[];
  /** Names the language of a response. Default {@link loadLanguageDetector}, loaded when an instruction needs it. */
  readonly language?: LanguageDetector | undefined;
}

/**
 * Whether a response follows the instructions of its task that a program can check: the 25 kinds of IFEval. Unlike there, empty parts do
 * not count, nor is a loop of words long. Form is all that is checked: a letter or phrase that is asked for pays without a text around it.
 *
 * A task without instructions is an error and so unscorable. So is one with an instruction that {@link checkInstructions} refuses.
 *
 * @see Zhou et al. 2023, https://arxiv.org/abs/2311.07911
 */
export function instructionFollowing<Metadata>(
  options: InstructionFollowingOptions<Metadata>,
): RewardFunction<Metadata> {
  const { instructions, language, ...rest } = withReader('instructionFollowing', options, 'instructions');
  const { grading, ...reading } = parseOptions('instructionFollowing', schema, rest);
  const checked = new WeakSet<readonly Instruction[]>();
  return ({ task, response }) => {
    const wanted = instructions(task.metadata);
    if (!Array.isArray(wanted) || wanted.length === 0) {
      throw new ArgumentError(`instructionFollowing: task "${task.id}" must have at least one instruction`);
    }
    if (!checked.has(wanted)) checkInstructions(wanted, language && { languages: languagesOf(wanted) });
    checked.add(wanted);
    const graded = (detector: LanguageDetector | undefined) => {
      const given = detector && { language: detector };
      const followed = wanted.filter((one) =>
        followsInstruction(response, one, { ...reading, ...given }),
      ).length;
      return grading === 'share' ? followed / wanted.length : followed === wanted.length ? 1 : 0;
    };
    const needsLanguage = wanted.some(({ id }: Instruction) => instructionChecks[nameOf(id)]?.needsLanguage);
    return needsLanguage && language === undefined ? loadLanguageDetector().then(graded) : graded(language);
  };
}

/** The languages that instructions ask for: your own detector is taken to know them. */
function languagesOf(instructions: readonly Instruction[]): readonly string[] {
  return instructions.flatMap(({ args }) =>
    typeof args?.language === 'string' ? [args.language.trim()] : [],
  );
}
