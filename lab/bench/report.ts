import type { Measurement } from './measurement.ts';

/** One line of output. */
export type Line = Readonly<Record<string, unknown>>;

/** Several measurements of one thing. */
export interface Summary {
  /** Median over the rounds of each round's median. */
  readonly milliseconds: number;
  /** Of one run. */
  readonly tokens: number;
  readonly tokensPerSecond: number;
  /** Fastest run of all: what the machine does when nothing disturbs it. */
  readonly bestMilliseconds: number;
  /** Processor time: median over the rounds of each round's median. */
  readonly processorMilliseconds: number;
  /** Largest of any round. */
  readonly peakRssMiB: number;
  /** Numbers: their medians over the rounds. Others: the last round's. */
  readonly extra: Readonly<Record<string, unknown>>;
  readonly version: string | undefined;
}

/** The middle of the sorted values, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Sums up the rounds. */
export function summarize(rounds: readonly Measurement[]): Summary {
  const milliseconds = median(rounds.map((round) => median(round.milliseconds)));
  const tokens = median(rounds.map((round) => round.tokens));
  const last = rounds.at(-1)!;
  const extra = Object.entries(last.extra).map(([key, value]) => {
    const values = rounds.map((round) => round.extra[key]);
    return [key, typeof value === 'number' ? median(values as number[]) : value];
  });
  return {
    milliseconds,
    tokens,
    tokensPerSecond: (tokens / milliseconds) * 1000,
    processorMilliseconds: median(rounds.map((round) => median(round.processorMilliseconds))),
    bestMilliseconds: Math.min(...rounds.flatMap((round) => round.milliseconds)),
    peakRssMiB: Math.max(...rounds.map(({ peakRssMiB }) => peakRssMiB)),
    extra: Object.fromEntries(extra),
    version: last.version,
  };
}

/** Ends the names of the ratios to each peer, in the order of the peers. */
const suffixes = ['', 'Strongest', 'Bf16'];

/**
 * The line of a measurement, with ratios to peers: of speed (above 1: faster) and of memory (below 1: leaner). `ratio` compares
 * with the peer as installed, `ratioStrongest` with its best in float32, `ratioBf16` with bfloat16. `ratioBest…` compares the fastest
 * runs, which other work on the machine disturbs least. `ratioProcessor…` compares processor time, which with one thread stands
 * for the time on an idle machine.
 */
export function reportLine(
  base: Line,
  summary: Summary,
  peers: readonly (Summary & { readonly peer: string })[],
): Line {
  const ratios = peers.flatMap((peer, index) => [
    [`ratio${suffixes[index]}`, summary.tokensPerSecond / peer.tokensPerSecond],
    [
      `ratioBest${suffixes[index]}`,
      perToken(peer, 'bestMilliseconds') / perToken(summary, 'bestMilliseconds'),
    ],
    [
      `ratioProcessor${suffixes[index]}`,
      perToken(peer, 'processorMilliseconds') / perToken(summary, 'processorMilliseconds'),
    ],
    [`memoryRatio${suffixes[index]}`, summary.peakRssMiB / peer.peakRssMiB],
  ]) as [string, number][];
  return {
    ...base,
    value: rounded(summary.tokensPerSecond, 0),
    unit: 'tokens/s',
    ...(peers[0] && { peer: peers[0].peer }),
    ...Object.fromEntries(ratios.map(([name, ratio]) => [name, rounded(ratio, 3)])),
    ms: rounded(summary.milliseconds, 1),
    processorMs: rounded(summary.processorMilliseconds, 1),
    bestMs: rounded(summary.bestMilliseconds, 1),
    peakRssMiB: rounded(summary.peakRssMiB, 0),
    ...Object.fromEntries(
      Object.entries(summary.extra).map(([key, value]) => [
        key,
        typeof value === 'number' ? rounded(value, 4) : value,
      ]),
    ),
    ...(summary.version !== undefined && { version: summary.version }),
  };
}

/** Sides need not sample equally many tokens. */
function perToken(summary: Summary, time: 'bestMilliseconds' | 'processorMilliseconds'): number {
  return summary[time] / summary.tokens;
}

function rounded(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
