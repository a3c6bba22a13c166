import { isRecord } from './is-record.ts';
import { promptText } from './message.ts';
import { requireArguments } from './options/require-arguments.ts';
import { plural } from './plural.ts';
import type { Task } from './task.ts';
import type { Tokenizer } from './tokenizer.ts';

/** Letters, digits, punctuation and symbols. A tokenizer may well drop others, such as control characters and combining marks. */
const visible = /[\p{L}\p{N}\p{P}\p{S}]/gu;
/** Text of an unknown token. */
const unknown = /^(<unk>|\[unk\]|[\s\u2047\ufffd])*$/i;

/** Characters shown in a sentence at most. */
const mostShown = 20;

/** What a tokenizer loses of some tasks. */
export interface LostCharacters {
  /** What a person should know. `undefined` if nothing is lost. */
  readonly note?: string;
  /** The first task of whose prompt nothing is left without an error. */
  readonly whole?: Task;
}

/**
 * Looks for characters of prompts and answers (`metadata.answer`) that a tokenizer lacks: it refuses them, leaves them out or writes
 * its unknown token in their place. The policy cannot read or write them.
 */
export function lostCharacters(taken: readonly Task[], tokenizer: Tokenizer): LostCharacters {
  requireArguments('lostCharacters', { taken: 'objects', tokenizer: 'object' }, taken, tokenizer);
  const tasks = [...new Map(taken.map((task) => [task.id, task])).values()];
  const fates = new Map<string, Fate>();
  const fateOf = (character: string): Fate => {
    const fate = fates.get(character) ?? fateUnder(tokenizer, character);
    fates.set(character, fate);
    return fate;
  };
  // A character may be known only within a token, as part of a whole word.
  const lostOf = (text: string) => {
    const characters = [...new Set(text.match(visible))];
    const fates = characters.map(fateOf);
    const missing = characters.filter((_, place) => fates[place] !== 'kept');
    const back = missing.length === 0 ? '' : backOf(tokenizer, text);
    return {
      isWhole: fates.length > 0 && fates.every((fate) => fate === 'lost'),
      lost: missing.filter((each) => !back.includes(each)),
    };
  };
  const prompts = tasks.map((task) => ({ task, ...lostOf(promptText(task.prompt)) }));
  const answers = tasks.map(({ metadata }) => lostOf(answerText(metadata)));
  const damaged = [prompts, answers].map((texts) => texts.filter(({ lost }) => lost.length > 0));
  const lost = [...new Set(damaged.flat().flatMap((text) => text.lost))];
  if (lost.length === 0) return {};
  const shown = lost.slice(0, mostShown).join(' ') + (lost.length > mostShown ? ' …' : '');
  const note =
    `the tokenizer lacks ${plural(lost.length, 'character')} (${shown}) of ${plural(damaged[0]!.length, 'prompt')} and ${plural(damaged[1]!.length, 'answer')} of ` +
    `the ${plural(tasks.length, 'task')} looked at, so the policy cannot read or write them; use a tokenizer that has them`;
  const whole = prompts.find(({ isWhole, lost: missing }) => isWhole && missing.length > 0);
  return whole === undefined ? { note } : { note, whole: whole.task };
}

/** What becomes of a character: `refused` with an error, `lost` without one. */
type Fate = 'kept' | 'refused' | 'lost';

function fateUnder(tokenizer: Tokenizer, character: string): Fate {
  try {
    const tokens = tokenizer.encode(character, { specialTokens: 'none' });
    const text = tokenizer.decode(tokens);
    return unknown.test(text) && !unknown.test(character) ? 'lost' : 'kept';
  } catch {
    return 'refused';
  }
}

/** The text that a tokenizer makes of a text. Empty if it refuses it. */
function backOf(tokenizer: Tokenizer, text: string): string {
  try {
    const tokens = tokenizer.encode(text, { specialTokens: 'none' });
    return tokenizer.decode(tokens).replaceAll(/<unk>|\[unk\]/gi, '');
  } catch {
    return '';
  }
}

function answerText(metadata: unknown): string {
  const answer = isRecord(metadata) ? metadata.answer : undefined;
  return typeof answer === 'string' || typeof answer === 'number' ? String(answer) : '';
}
