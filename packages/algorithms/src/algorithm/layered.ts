import { isRecord } from '@rlp/core';
import { aggregationModes } from '../loss/aggregation.ts';
import { readsBound } from '../loss/policy-loss-options.ts';
import type { SurrogateKind } from '../loss/surrogates.ts';

/** Field by field, the later of two options where it is given. What is `undefined` is not. */
function over(below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const under = merged[name];
    if (value === undefined) continue;
    if (!isRecord(under)) merged[name] = value;
    else if (isRecord(value)) merged[name] = over(under, value);
    else merged[name] = isMode(value) ? withMode(under, value) : value;
  }
  return merged;
}

const isMode = (value: unknown): boolean => (aggregationModes as readonly unknown[]).includes(value);

/** An aggregation by its mode alone keeps the conventions below it, but not the divisor of another mode. */
function withMode({ constant: _, ...conventions }: Record<string, unknown>, mode: unknown) {
  return { ...conventions, mode };
}

/** What layers have in common: the loss whose bounds depend on its surrogate. */
interface WithLoss {
  readonly loss?: { readonly surrogate?: SurrogateKind | undefined } | undefined;
}

/** Takes away the bounds of defaults that the surrogate does not read. Those that the caller wrote stay, and are refused. */
function withoutUnreadBounds<Options extends WithLoss>(merged: Options, given: Options | undefined): Options {
  const { loss } = merged;
  if (!isRecord(loss)) return merged;
  const written: Record<string, unknown> = { ...given?.loss };
  const { surrogate } = merged.loss ?? {};
  const kept = Object.entries(loss).filter(
    ([name]) => written[name] !== undefined || readsBound(surrogate, name),
  );
  return { ...merged, loss: Object.fromEntries(kept) };
}

/**
 * Options in layers: an algorithm's own, a preset's, and last the caller's. The last that says something counts, field by field.
 * A bound of the lower layers that the chosen surrogate does not read falls away.
 */
export function layered<Options extends WithLoss>(...layers: readonly (Options | undefined)[]): Options {
  const given = layers.at(-1);
  // The schema refuses it.
  if (given !== undefined && !isRecord(given)) return given;
  const merged = layers.reduce<Record<string, unknown>>(
    (below, layer) => (layer === undefined ? below : over(below, layer as Record<string, unknown>)),
    {},
  ) as Options;
  return withoutUnreadBounds(merged, given);
}
