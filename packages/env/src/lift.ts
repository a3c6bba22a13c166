import { ArgumentError, type Environment, isPromiseLike, type State } from '@rlp/core';

/** What every environment has, for `requireFields`. */
export const environmentMethods = {
  reset: 'function',
  buildPrompt: 'function',
  updateState: 'function',
  isTerminal: 'function',
} as const;

/** Methods that only read a state. */
const readers = [
  'buildPrompt',
  'isTerminal',
  'tools',
  'stateKey',
  'transcript',
  'outcome',
  'metrics',
  'termination',
] as const;

const methods = ['reset', 'updateState', 'isTerminal', 'buildPrompt'] as const;

/** Throws an `ArgumentError` for what is not an environment. Every layer looks at what it is put around. */
function checkEnvironment(given: unknown): void {
  const members = (typeof given === 'object' && given !== null ? given : {}) as Record<string, unknown>;
  const missing = methods.filter((name) => typeof members[name] !== 'function');
  if (missing.length === 0) return;
  const what =
    typeof given === 'function'
      ? `the class ${given.name}; write new ${given.name}()`
      : `no ${missing.join(', ')}`;
  throw new ArgumentError(`the layer needs an environment with ${methods.join(', ')}, and got ${what}`);
}

/** What an environment has besides `reset` and `updateState`. */
export type Readers<S extends State, Metadata, Outcome> = Pick<
  Environment<S, Metadata, Outcome>,
  (typeof readers)[number] | 'version' | 'pools'
>;

/**
 * Everything but `reset` and `updateState` of an environment, for states of an environment around it.
 *
 * @param inner - The state of the environment within a state of the one around it.
 */
export function lift<Outer extends State, S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  inner: (state: Outer) => S,
): Readers<Outer, Metadata, Outcome> {
  checkEnvironment(environment);
  const present = readers.filter((name) => environment[name] !== undefined);
  const lifted = present.map((name) => [name, (state: Outer) => environment[name]!(inner(state))]);
  const { version, pools } = environment;
  const optional = Object.fromEntries(lifted) as Readers<Outer, Metadata, Outcome>;
  return { ...optional, ...(version !== undefined && { version }), ...(pools && { pools }) };
}

/** The key of a state of an environment with what a layer adds to the state. What is no key stays as it is, for who reads keys to refuse. */
export function keyWith(key: string, added: unknown): string {
  if (isPromiseLike(key)) return key.then((late) => keyWith(late as string, added)) as never;
  return typeof key === 'string' ? JSON.stringify([key, added]) : key;
}
