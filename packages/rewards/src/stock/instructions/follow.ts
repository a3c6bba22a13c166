import { ArgumentError, importPeer, parseOptions, type RewardFunction } from '@rlp/core';
import * as z from 'zod';
import { instructionChecks, type LanguageDetector } from './checks.ts';

/** An instruction that a program can check, as IFEval writes it. */
export interface Instruction {
  /** Such as `length_constraints:number_words`, with or without a language prefix `en:`. */
  readonly id: string;
  /** Its arguments, such as `{ relation: 'at least', num_words: 300 }`. */
  readonly args?: Readonly<Record<string, unknown>> | undefined;
}

/** The names of all kinds of instructions. */
export const instructionIds: readonly string[] = Object.keys(instructionChecks);

let loaded: LanguageDetector | undefined;

/**
 * Loads the language detector of `eld`, an optional peer: `npm install eld`. It returns `undefined` if it is not sure.
 *
 * @throws `MissingPeerError` if eld is not installed.
 */
export async function loadLanguageDetector(): Promise<LanguageDetector> {
  const { eld } = await importPeer('loadLanguageDetector', 'eld', () => import('eld/small'));
  loaded ??= (text) => eld.detect(text.slice(0, 10_000)).language || undefined;
  return loaded;
}

const nameOf = (id: string) => id.replace(/^[a-z]{2}:/, '');

/**
 * Whether a response follows an instruction. A blank response follows none.
 *
 * Instructions about the language of a response need `language`, such as `await loadLanguageDetector()`.
 *
 * @param reading - `'strict'` (default), or `'loose'`: the response, or one of its variants without asterisks, without the first line,
 * without the last, or both.
 * @throws ArgumentError for an instruction of no known kind, or with arguments that do not fit it.
 */
export function followsInstruction(
  response: string,
  instruction: Instruction,
  {
    reading = 'strict',
    language,
  }: { readonly reading?: 'strict' | 'loose'; readonly language?: LanguageDetector } = {},
): boolean {
  const { id, args = {} } = instruction;
  const name = nameOf(id);
  if (!Object.hasOwn(instructionChecks, name)) {
    throw new ArgumentError(
      `followsInstruction: no instruction is named ${JSON.stringify(id)}, expected one of: ${instructionIds.join(', ')}`,
    );
  }
  const check = instructionChecks[name]!;
  if (check.needsLanguage && language === undefined) {
    throw new ArgumentError(
      `followsInstruction: expected a language detector for ${id}; pass { language: await loadLanguageDetector() }`,
    );
  }
  const variants = reading === 'strict' ? [response] : looseVariants(response);
  try {
    return variants.some(
      (variant) => variant.trim() !== '' && check.follows(variant, args, language ?? unknownLanguage),
    );
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    const problems = error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
    throw new ArgumentError(`followsInstruction: bad arguments of ${id}: ${problems}`, { cause: error });
  }
}

const unknownLanguage = () => undefined;

function looseVariants(response: string): string[] {
  const lines = response.split('\n');
  const variants = [
    response,
    lines.slice(1).join('\n').trim(),
    lines.slice(0, -1).join('\n').trim(),
    lines.slice(1, -1).join('\n').trim(),
  ];
  return variants.flatMap((variant) => [variant, variant.replaceAll('*', '')]);
}

const schema = z.strictObject({
  /** How variants of the response count, see {@link followsInstruction}. Default `'strict'`. */
  reading: z.enum(['strict', 'loose']).default('strict'),
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
 * Whether a response follows the instructions of its task that a program can check: the 25 kinds of IFEval.
 *
 * A task without instructions, or with one that is not known, is an error (and so unscorable).
 *
 * @throws OptionsError for bad options.
 * @see Zhou et al. 2023, https://arxiv.org/abs/2311.07911
 */
export function instructionFollowing<Metadata>({
  instructions,
  language,
  ...options
}: InstructionFollowingOptions<Metadata>): RewardFunction<Metadata> {
  const { reading, grading } = parseOptions('instructionFollowing', schema, options);
  return ({ task, response }) => {
    const wanted = instructions(task.metadata);
    if (!Array.isArray(wanted) || wanted.length === 0) {
      throw new ArgumentError(`instructionFollowing: task "${task.id}" must have at least one instruction`);
    }
    const graded = (detector: LanguageDetector | undefined) => {
      const given = detector && { language: detector };
      const followed = wanted.filter((one) =>
        followsInstruction(response, one, { reading, ...given }),
      ).length;
      return grading === 'share' ? followed / wanted.length : followed === wanted.length ? 1 : 0;
    };
    const needsLanguage = wanted.some(({ id }: Instruction) => instructionChecks[nameOf(id)]?.needsLanguage);
    return needsLanguage && language === undefined ? loadLanguageDetector().then(graded) : graded(language);
  };
}
