/** A value that is merged field by field. */
function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Field by field, the later of two options where it is given; what is `undefined` is not. */
function over(below: Record<string, unknown>, above: Record<string, unknown>): Record<string, unknown> {
  const merged = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const under = merged[name];
    if (value !== undefined) merged[name] = isRecord(under) && isRecord(value) ? over(under, value) : value;
  }
  return merged;
}

/** Options in layers: an algorithm's own, a preset's, the caller's; the last that says something counts, field by field. */
export function layered<Options extends object>(...layers: readonly (Options | undefined)[]): Options {
  return layers.reduce<Record<string, unknown>>(
    (merged, layer) => (layer === undefined ? merged : over(merged, layer as Record<string, unknown>)),
    {},
  ) as Options;
}
