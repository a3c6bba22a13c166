import { plainText } from '../shared/plain-text.ts';

/** How the verdicts on the windows of a long text become one. */
export type LongText = 'worst' | 'mean';

/** Windows of a text at most. A text that needs more has gaps between them. */
const mostWindows = 32;

/** A window of a text, and its place if there are several. */
export interface TextWindow {
  readonly text: string;
  /** Number of the window from 0. Empty if it is the whole text. */
  readonly part: readonly number[];
  /** Such as `, part 2 of 3`. Empty if it is the whole text. */
  readonly label: string;
}

/** Windows of `size` characters that overlap by a tenth, from the beginning to the end of the text. */
function windowsOf(text: string, size: number): TextWindow[] {
  if (text.length <= size) return [{ text, part: [], label: '' }];
  const stride = Math.max(1, size - Math.floor(size / 10));
  const count = Math.min(mostWindows, 1 + Math.ceil((text.length - size) / stride));
  return Array.from({ length: count }, (_, k) => {
    const start = Math.round((k * (text.length - size)) / (count - 1));
    return { text: text.slice(start, start + size), part: [k], label: `, part ${k + 1} of ${count}` };
  });
}

/**
 * Scores of a text, without disguises, by its windows: of each score the lowest, or the mean.
 *
 * @param ask - Scores a window. If it rejects for one, so does this, after all windows.
 */
export async function overWindows(
  text: string,
  { maximumCharacters, longText }: { readonly maximumCharacters: number; readonly longText: LongText },
  ask: (window: TextWindow) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  const asking = windowsOf(plainText(text).text, maximumCharacters).map(ask);
  await Promise.allSettled(asking);
  const [first, ...others] = await Promise.all(asking);
  return first!.map((score, k) => {
    const all = [score, ...others.map((scores) => scores[k]!)];
    if (longText === 'worst') return Math.min(...all);
    return all.reduce((sum, one) => sum + one, 0) / all.length;
  });
}
