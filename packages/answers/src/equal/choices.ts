import type { Token } from './latex-tokens.ts';

/** `B. 12` and `(B) 12` say 12 as well. */
export const chosenValue = /^\s*(?:\\text(?:bf)?\s*\{\s*)?\(?[A-J](?:[.:]|\))\s*\}?\s*(?![A-J][.:)])(\S.*)$/s;

const choice =
  /^(?:(?:the )?(?:correct )?(?:option|choice|answer) (?:is |: )?)?(?:[([] )?([A-J])(?: [).:\]](?<text> .*)?)?$/i;

/** The letter of a choice: `B`, `(B)`, `B. 42`, `Option B`. `undefined` for anything else, and for more than one choice. */
export function choiceOf(tokens: readonly Token[]): string | undefined {
  const found = choice.exec(
    tokens
      .slice(0, 60)
      .map(({ text }) => text)
      .join(' '),
  );
  // A choice that is denied is not another one.
  const text = found?.groups?.text?.replace(/\b(?:not|than) (?:[([] )?[A-J]\b(?: [).:\]])?/gi, '') ?? '';
  // a : b is a ratio.
  if (found === null || (/^\W*\w :/.test(found[0]) && /^ \w$/.test(text))) return;
  if (/(?:^| )(?:[A-J] [).:]|or |and )/i.test(text)) return;
  return found[1]!.toUpperCase();
}
