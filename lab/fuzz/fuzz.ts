import { RandomStream, RlpError } from '@rlp/core';
import { drawsOf, mutated, mutatedText } from './mutate.ts';
import type { FuzzTarget } from './targets.ts';

/** An input that a target did not take as it should. */
export interface FuzzFinding {
  readonly problem: string;
  /** The input as JSON, cut. */
  readonly input: string;
}

/** Longest that a target may take, in milliseconds. */
const mostMs = 2000;

/** Runs a target on mutated inputs. It has to return or to throw an RlpError, soon. */
export async function fuzz(
  { name, input, run }: FuzzTarget,
  inputs: number,
  seed: string,
): Promise<FuzzFinding[]> {
  const findings = new Map<string, FuzzFinding>();
  for (let index = 0; index < inputs; index++) {
    const draw = drawsOf(RandomStream.named('fuzz', seed, name, index));
    const given = typeof input === 'string' ? severalTimes(input, draw) : mutated(input, draw);
    const start = performance.now();
    const problem = (await problemOf(() => run(given as never))) ?? slowness(performance.now() - start);
    if (problem !== undefined && !findings.has(problem))
      findings.set(problem, { problem, input: shown(given) });
  }
  if (Object.keys(Object.prototype).length > 0) {
    findings.set('pollution', { problem: 'Object.prototype has got fields', input: '' });
  }
  return [...findings.values()];
}

function severalTimes(text: string, draw: (count: number) => number): string {
  let result = text;
  for (let left = 1 + draw(3); left > 0; left--) result = mutatedText(result, draw);
  return result;
}

async function problemOf(run: () => unknown): Promise<string | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof RlpError) return undefined;
    return String(error).slice(0, 200);
  }
}

function slowness(ms: number): string | undefined {
  return ms > mostMs ? 'slow' : undefined;
}

function shown(input: unknown): string {
  return (
    JSON.stringify(input, (_, value) =>
      typeof value === 'number' && !Number.isFinite(value) ? String(value) : value,
    ) ?? 'undefined'
  ).slice(0, 400);
}
