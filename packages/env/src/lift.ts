import type { Environment, State } from '@rlp/core';

/** Methods that an environment may leave out, and that only read a state. */
const readers = ['tools', 'stateKey', 'transcript', 'outcome', 'metrics', 'termination'] as const;

/** The optional members of an environment. */
export type Readers<S extends State, Metadata, Outcome> = Pick<
  Environment<S, Metadata, Outcome>,
  (typeof readers)[number] | 'version' | 'pools'
>;

/**
 * The optional methods that an environment has, its version and its pools, for states of an environment around it.
 *
 * @param inner - The state of the environment within a state of the one around it.
 */
export function lift<Outer extends State, S extends State, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  inner: (state: Outer) => S,
): Readers<Outer, Metadata, Outcome> {
  const present = readers.filter((name) => environment[name] !== undefined);
  const lifted = present.map((name) => [name, (state: Outer) => environment[name]!(inner(state))]);
  const { version, pools } = environment;
  const methods = Object.fromEntries(lifted) as Readers<Outer, Metadata, Outcome>;
  return { ...methods, ...(version !== undefined && { version }), ...(pools && { pools }) };
}
