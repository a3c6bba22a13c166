/**
 * Place in a state of what JSON would lose or change, such as `state.seen is a Map`. Undefined for plain data: text, finite numbers,
 * `true`, `false`, `null`, lists and plain objects. JSON leaves out a field that is `undefined`, which changes nothing.
 */
export function lostInJson(
  value: unknown,
  place = 'state',
  around: readonly object[] = [],
): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${place} is ${value}`;
  if (['bigint', 'function', 'symbol'].includes(typeof value)) return `${place} is a ${typeof value}`;
  if (typeof value !== 'object' || value === null) return undefined;
  if (around.includes(value)) return `${place} refers to itself`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== null && prototype !== Object.prototype) {
    return `${place} is a ${value.constructor.name || 'class instance'}`;
  }
  const inside = [...around, value];
  for (const [key, item] of Object.entries(value)) {
    const found = lostInJson(item, Array.isArray(value) ? `${place}[${key}]` : `${place}.${key}`, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}
