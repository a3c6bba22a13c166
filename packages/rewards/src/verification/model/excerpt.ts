import { type LetterOrder, letterClasses, letterClassesOf } from './word-order.ts';

/** Pieces of about `size` words, `stride` words apart. */
export function windows(text: string, size: number, stride = size): string[] {
  const words = text.match(/\S+/gu) ?? [];
  const found: string[] = [];
  for (let start = 0; start < words.length; start += stride) {
    // A short rest joins the piece before it, because few words say little.
    const isLast = words.length - start - size < stride / 2;
    found.push(words.slice(start, isLast ? undefined : start + size).join(' '));
    if (isLast) break;
  }
  return found;
}

const longestWord = 20;
/** Surprise in nats of a sought word, an unknown one, one that is the whole run, a run alone, a word's end, and a letter whatever comes before. */
const surprise = { sought: 8, unknown: 3, whole: -3, alone: -5, end: 1.6, letter: 2.9 };

/**
 * Parts runs of letters into the words that surprise least: `youarestupid` is `you are stupid`. A word is common, sought, or unknown with letters
 * that follow each other as in English. A run that surprises more than single letters would stays whole. Linear.
 *
 * @param common - The commonest first. By Zipf's law a word surprises by the logarithm of its rank.
 */
export function wordParter(common: readonly string[], sought: readonly string[], letters: LetterOrder) {
  const words = new Map(sought.map((word) => [word, surprise.sought]));
  for (const [at, word] of common.entries()) words.set(word, Math.log((at + 2) * Math.log(common.length)));
  const edge = letterClasses - 2;
  const surpriseOf = (next: number, before: number) =>
    (next === edge ? surprise.end : surprise.letter) -
    letters.information[before * letterClasses + next]! * letters.scale;
  return (run: string, isAlone = false): string => {
    const lower = run.toLowerCase().replaceAll('’', "'");
    const classes = letterClassesOf(lower).slice(1, -1);
    const [costs, starts, within] = [[0], [0], [0]];
    const whole = isAlone ? surprise.alone : surprise.whole;
    for (let end = 1; end <= run.length; end++) {
      const last = classes[end - 1]!;
      if (end > 1) within.push(within[end - 2]! + surpriseOf(last, classes[end - 2]!));
      costs.push(Infinity);
      for (let start = Math.max(0, end - longestWord); start < end; start++) {
        const spelling = within[end - 1]! - within[start]! + surpriseOf(edge, last);
        const kind = end - start < run.length ? surprise.unknown : whole;
        const unknown = kind + surpriseOf(classes[start]!, edge) + spelling;
        const cost = costs[start]! + Math.min(unknown, words.get(lower.slice(start, end)) ?? Infinity);
        if (cost < costs[end]!) [costs[end], starts[end]] = [cost, start];
      }
    }
    if (costs[run.length]! > surprise.letter * run.length) return run;
    const parts: string[] = [];
    for (let end = run.length; end > 0; end = starts[end]!) parts.push(run.slice(starts[end], end));
    return parts.reverse().join(' ');
  };
}

/** The text without what stands between lines of three backticks. */
export function withoutCode(text: string): string {
  const parts = text.split(/^[^\S\n]*```.*\n?/m);
  return parts.filter((_, at) => at % 2 === 0).join('');
}
