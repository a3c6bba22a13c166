import { plainText } from '../shared/plain-text.ts';

/** How the verdicts on the windows of a long text become one. */
export type LongText = 'worst' | 'mean';

/** Windows of a text at most. A text that needs more has gaps between them, which count as the worst. */
const mostWindows = 32;

/** A window of a text, and its place if there are several. */
export interface TextWindow {
  readonly text: string;
  /** Number of the window from 0. Empty if it is the whole text. */
  readonly part: readonly number[];
  /** Such as `, part 2 of 3`. Empty if it is the whole text. */
  readonly label: string;
}

/** How many windows of `size` characters cover a text if they overlap by a tenth. */
function windowsNeeded(text: string, size: number): number {
  return 1 + Math.ceil(Math.max(0, text.length - size) / Math.max(1, size - Math.floor(size / 10)));
}

/** At most 32 of these windows, from the beginning to the end of the text. */
function windowsOf(text: string, size: number): TextWindow[] {
  const count = Math.min(mostWindows, windowsNeeded(text, size));
  if (count === 1) return [{ text, part: [], label: '' }];
  return Array.from({ length: count }, (_, k) => {
    const start = Math.round((k * (text.length - size)) / (count - 1));
    return { text: text.slice(start, start + size), part: [k], label: `, part ${k + 1} of ${count}` };
  });
}

/** Texts side by side, without disguises: the windows of the longest, beside each the others' windows of that number, or their last. */
export function windowsBeside(texts: readonly string[], size: number) {
  const windows = texts.map((text) => windowsOf(plainText(text).text, size));
  const rows = Math.max(...windows.map(({ length }) => length));
  return {
    /** Shape: `[windows][texts]`. */
    rows: Array.from({ length: rows }, (_, row) => windows.map((own) => own[Math.min(row, own.length - 1)]!)),
    /** Whether windows leave gaps in a text. */
    hasGaps: texts.map((text) => windowsNeeded(plainText(text).text, size) > mostWindows),
  };
}

/**
 * Scores of a text, without disguises, by its windows: of each score the lowest, or the mean. A window too many counts 0.
 *
 * @param ask - Scores a window. If it rejects for one, so does this, after all windows.
 */
export async function overWindows(
  text: string,
  { maximumCharacters, longText }: { readonly maximumCharacters: number; readonly longText: LongText },
  ask: (window: TextWindow) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const shown = plainText(text).text;
  const asking = windowsOf(shown, maximumCharacters).map(ask);
  await Promise.allSettled(asking);
  const [first, ...others] = await Promise.all(asking);
  return first!.map((score, k) => {
    const all = [score, ...others.map((scores) => scores[k]!)];
    const needed = windowsNeeded(shown, maximumCharacters);
    if (longText === 'worst') return needed > all.length ? 0 : Math.min(...all);
    return all.reduce((sum, one) => sum + one, 0) / needed;
  });
}
