import type { DryRunReport } from './dry-run.ts';

/**
 * A report for people: a line per reward with its lowest, mean and highest score and its time, then what looks wrong.
 *
 * @param options.scores - Also every score, a line per example.
 */
export function formatDryRun(
  { examples, rewards }: DryRunReport,
  options: { readonly scores?: 'shown' | 'left-out' | undefined } = {},
): string {
  const lines = [`${examples} examples`];
  for (const { name, scores, failures, meanMs, findings } of rewards) {
    const given = scores.filter((score) => score !== null);
    const mean = given.reduce((sum, score) => sum + score, 0) / given.length;
    const spread =
      given.length === 0
        ? 'no scores'
        : `${shown(Math.min(...given))} … ${shown(mean)} … ${shown(Math.max(...given))}`;
    lines.push(`${name}: ${spread}, ${shown(meanMs)} ms per example`);
    for (const { kind, message } of findings) lines.push(`  ! ${kind}: ${message}`);
    for (const { example, message } of failures.slice(0, 3)) lines.push(`  example ${example}: ${message}`);
    if (failures.length > 3) lines.push(`  and ${failures.length - 3} more failures`);
    if (options.scores === 'shown') {
      lines.push(...scores.map((score, k) => `  example ${k}: ${score === null ? 'null' : shown(score)}`));
    }
  }
  return lines.join('\n');
}

function shown(value: number): string {
  return String(Number(value.toPrecision(3)));
}
