/** Longer outputs are not read. */
const maximumOutput = 100_000;

/**
 * Reads the lines `KEY label: value` of a judge's output, Markdown emphasis around them ignored. `undefined` where a label
 * occurs twice, or the output is longer than 100,000 characters. Linear in the output.
 */
export function readVerdictLines(output: string, key: string): ReadonlyMap<string, string> | undefined {
  if (output.length > maximumOutput) return;
  const verdicts = new Map<string, string>();
  for (const line of output.split('\n')) {
    const plain = line.replaceAll(/[*`]/g, '').trim();
    if (!plain.startsWith(`${key} `)) continue;
    const rest = plain.slice(key.length + 1);
    const colon = rest.indexOf(':');
    if (colon < 0) continue;
    const label = rest.slice(0, colon).trim();
    if (verdicts.has(label)) return;
    verdicts.set(label, rest.slice(colon + 1).trim());
  }
  return verdicts;
}

/** The scores at the labels, in their order. `undefined` if one of them cannot be read. */
export function readScores(
  lines: ReadonlyMap<string, string>,
  labels: readonly string[],
  bounds: readonly [number, number],
): number[] | undefined {
  const scores = labels.map((label) => readScore(lines.get(label), bounds));
  return scores.every((score) => score !== undefined) ? scores : undefined;
}

/** A plain decimal number within bounds. `undefined` for anything else, such as `8/10`, `N` or 11 of 10. */
function readScore(
  text: string | undefined,
  [minimum, maximum]: readonly [number, number],
): number | undefined {
  if (text === undefined || !/^-?\d{1,9}(?:\.\d{1,20})?$/.test(text)) return;
  const score = Number(text);
  return score >= minimum && score <= maximum ? score : undefined;
}
