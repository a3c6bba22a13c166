import type { Tokenizer as HuggingFaceTokenizer } from '@huggingface/tokenizers';
import { ArgumentError, FormatError } from '@rlp/core';
import { matchCost } from '../limits/backtracking.ts';
import { canInterrupt, withinTime } from '../limits/time-limit.ts';
import { partsOf } from './library-differences.ts';

/** Longer texts are interrupted when they take too long, whatever the expressions, and are matched once alone before. */
const longText = 20_000;

/**
 * Makes the encoding and decoding of a downloaded tokenizer end.
 *
 * Its `tokenizer.json` may hold regular expressions. Those that can take exponential time are refused. With others that are slower than
 * linear, and with long texts, work is interrupted after 1.5 seconds and 20 µs per character. In long texts the expressions are matched
 * alone first, within 0.5 seconds and 2 µs per character: merging tokens takes far longer than matching, so a slow expression is found
 * before a limit for both would.
 *
 * @returns A function that runs work on a text of some length within the limit.
 * @throws FormatError for an expression that takes exponential time.
 */
export function limitedBy(
  engine: HuggingFaceTokenizer,
  origin: string,
): <Result>(owner: string, text: { readonly length: number }, work: () => Result) => Result {
  const expressions = expressionsOf(engine);
  const costs = expressions.map(matchCost);
  const worst = costs.indexOf('exponential');
  if (worst >= 0) throw slowExpression(origin, expressions[worst]!, 'can take exponential time');
  const slow = costs.indexOf('polynomial');
  if (slow >= 0 && !canInterrupt())
    throw slowExpression(origin, expressions[slow]!, 'may be slow, and nothing here could interrupt it');
  const within = <Result>(owner: string, length: number, timeoutMs: number, work: () => Result): Result => {
    const done = withinTime(timeoutMs, work);
    if (done) return done.value;
    throw new ArgumentError(
      `${owner}: ${length} characters took longer than ${timeoutMs} ms with the expressions of ${origin}/tokenizer.json; ` +
        'pass shorter texts, or another tokenizer',
    );
  };
  return (owner, text, work) => {
    const { length } = text;
    if (slow < 0 && (length <= longText || expressions.length === 0)) return work();
    if (length > longText && typeof text === 'string') {
      within(owner, length, Math.ceil(500 + 0.002 * length), () => matchAll(expressions, text));
    }
    return within(owner, length, Math.ceil(1500 + 0.02 * length), work);
  };
}

function matchAll(expressions: readonly RegExp[], text: string): void {
  for (const { source, flags } of expressions) {
    const everywhere = new RegExp(source, flags.includes('g') ? flags : `${flags}g`);
    text.replace(everywhere, '');
  }
}

function slowExpression(origin: string, { source }: RegExp, problem: string): FormatError {
  const shown = source.length > 80 ? `${source.slice(0, 80)}…` : source;
  return new FormatError(
    `${origin}/tokenizer.json: pattern.Regex: /${shown}/ ${problem}; rewrite it without nested repetitions, or use another tokenizer`,
  );
}

/** Expressions of the file, as the library compiled them. */
function expressionsOf(engine: HuggingFaceTokenizer): RegExp[] {
  const found = new Map<string, RegExp>();
  for (const part of partsOf(engine)) {
    const { pattern, config } = part as { pattern?: unknown; config?: { pattern?: { Regex?: unknown } } };
    if (pattern instanceof RegExp && config?.pattern?.Regex !== undefined) found.set(pattern.source, pattern);
  }
  return [...found.values()];
}
