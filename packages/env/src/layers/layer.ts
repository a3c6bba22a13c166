import { type Environment, EnvironmentError, type Message, promptMessages, type State } from '@rlp/core';
import { keyWith, lift, type Readers } from '../lift.ts';

/** Messages of a layer that stand between two messages of the environment within. */
export interface Exchange {
  /** Messages of the environment's own prompt before it. */
  readonly after: number;
  /** What the policy said, and what the layer answered. */
  readonly messages: readonly Message[];
}

/** What every layer that answers responses itself keeps in the state. */
export interface LayerUse {
  readonly exchanges: readonly Exchange[];
  /** What the environment within has heard. Responses that the layer answers are not told to it. */
  readonly heard: Pick<State, 'response' | 'stepCount'>;
}

/** The state of an environment with the value of a layer under its key. */
export type Keyed<S extends State, Key extends string, Value> = S & { readonly [Name in Key]: Value };

/** The first state with the value of a layer. Throws an `EnvironmentError` if the layer cannot be there. */
export function opened<S extends State, Key extends string, Value>(
  owner: string,
  state: S,
  key: Key,
  value: Value,
): Keyed<S, Key, Value> {
  if (Object.hasOwn(state, key)) {
    throw new EnvironmentError(
      `${owner}: the state has a field "${key}" already: use ${owner} once, or rename the field of the environment`,
    );
  }
  const { notebook } = state as { readonly notebook?: { readonly keepTurns?: number } };
  if (notebook?.keepTurns !== undefined && key !== 'memory') {
    throw new EnvironmentError(
      `${owner}: put withMemory outside of ${owner}, because old turns are dropped with all that was said in them`,
    );
  }
  return { ...state, [key]: value } as Keyed<S, Key, Value>;
}

/** What a layer begins with: nothing said, and the first state of the environment heard. */
export function nothingSaid({ response, stepCount }: State): LayerUse {
  return { exchanges: [], heard: { response, stepCount } };
}

/** The state as the environment within knows it. */
export function innerState<S extends State, Key extends string, Use extends LayerUse>(
  state: Keyed<S, Key, Use>,
  key: Key,
): S {
  const { [key]: use, ...own } = state;
  if (use !== undefined) return { ...own, ...(use as Use).heard } as unknown as S;
  throw new EnvironmentError(
    `expected a state of this environment, from its reset or from a trajectory, got one without the field "${key}"`,
  );
}

/** The state of the layer after a response: that of the environment within, and what the layer keeps. */
export function outerState<S extends State, Key extends string, Use>(
  inner: S,
  key: Key,
  use: Use,
  said: Pick<State, 'response' | 'stepCount'>,
): Keyed<S, Key, Use> {
  return { ...inner, ...said, [key]: use } as Keyed<S, Key, Use>;
}

/** What a layer keeps once the environment within has heard a response. */
export function heardOf({ response, stepCount }: State): Pick<LayerUse, 'heard'> {
  return { heard: { response, stepCount } };
}

/** What a layer keeps once it has answered a response itself. `inner` is the state that the response was given in. */
export function exchanged<S extends State, Use extends LayerUse>(
  environment: Environment<S, never>,
  inner: S,
  use: Use,
  messages: readonly Message[],
): Pick<LayerUse, 'exchanges'> {
  const after = promptMessages(environment.buildPrompt(inner)).length;
  return { exchanges: [...use.exchanges, { after, messages }] };
}

/** What an environment says about states of a layer: its own words, with the exchanges of the layer where they happened. */
export function liftLayer<S extends State, Key extends string, Use extends LayerUse, Metadata, Outcome>(
  environment: Environment<S, Metadata, Outcome>,
  key: Key,
): Readers<Keyed<S, Key, Use>, Metadata, Outcome> {
  type Outer = Keyed<S, Key, Use>;
  const inner = (state: Outer) => innerState<S, Key, Use>(state, key);
  const exchanges = (state: Outer) => (state[key] as Use).exchanges;
  const { transcript, stateKey } = environment;
  return {
    ...lift(environment, inner),
    buildPrompt: (state) => withExchanges(environment.buildPrompt(inner(state)), exchanges(state)),
    ...(transcript && {
      transcript: (state) => withExchanges(transcript.call(environment, inner(state)), exchanges(state)),
    }),
    ...(stateKey && {
      stateKey: (state) => keyWith(stateKey.call(environment, inner(state)), exchanges(state)),
    }),
  };
}

/** The prompt of an environment with the exchanges put in where they happened. */
export function withExchanges(
  prompt: string | readonly Message[],
  exchanges: readonly Exchange[],
): readonly Message[] {
  const own = promptMessages(prompt);
  const messages: Message[] = [];
  let from = 0;
  for (const { after, messages: said } of exchanges) {
    messages.push(...own.slice(from, after), ...said);
    from = Math.max(from, after);
  }
  return [...messages, ...own.slice(from)];
}
