import { ArgumentError, described, isRecord, nearNames } from '@rlp/core';

/**
 * The inputs of a function. Those that are missing, or not known, would otherwise be computed without.
 *
 * @throws ArgumentError naming the first of them.
 */
export function namedInputs<Inputs extends object>(
  owner: string,
  inputs: Inputs,
  required: readonly (keyof Inputs & string)[],
  optional: readonly (keyof Inputs & string)[] = [],
): Inputs {
  const names = [...required, ...optional];
  if (!isRecord(inputs)) {
    throw new ArgumentError(`${owner}: expected { ${required.join(', ')} }, got ${described(inputs)}`);
  }
  for (const name of Object.keys(inputs)) {
    if (names.includes(name as keyof Inputs & string)) continue;
    const [near] = nearNames(name, names, (each) => each);
    const hint = near === undefined ? `expected ${names.join(', ')}` : `did you mean ${near}?`;
    throw new ArgumentError(`${owner}: there is no input "${name}"; ${hint}`);
  }
  const missing = required.find((name) => (inputs[name] ?? undefined) === undefined);
  if (missing === undefined) return inputs;
  throw new ArgumentError(`${owner}: ${missing} is missing; expected { ${required.join(', ')} }`);
}
