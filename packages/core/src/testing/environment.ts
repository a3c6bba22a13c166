import type { Environment, State } from '../environment.ts';
import { messageSchema } from '../message.ts';
import type { Task } from '../task.ts';
import { terminationSchema } from '../trajectory.ts';
import { describe, expect, it } from './vitest.ts';

/** What the suite needs from an implementation. */
export interface EnvironmentSubject<S extends State, Metadata> {
  readonly create: () => Environment<S, Metadata>;
  /** A task it can play. */
  readonly task: Task<Metadata>;
  /** Responses that may be given one after the other. The suite stops early where the episode ends. At least one. */
  readonly responses: readonly string[];
}

const seed = 7;

/**
 * Contract of {@link Environment}. Run it on every implementation.
 *
 * @param name - Names the implementation in the report.
 */
export function describeEnvironment<S extends State, Metadata>(
  name: string,
  subject: EnvironmentSubject<S, Metadata>,
): void {
  const { create, task, responses } = subject;

  describe(`${name} is an Environment`, () => {
    it('starts with no response and no steps', async () => {
      const state = await create().reset(task, seed);
      expect([state.response, state.stepCount]).toEqual(['', 0]);
    });

    it('gives equal states for equal arguments', async () => {
      expect(await play(create(), subject)).toEqual(await play(create(), subject));
    });

    it('counts responses and keeps the last', async () => {
      const [, ...later] = await play(create(), subject);
      expect(later.map(({ response, stepCount }) => [response, stepCount])).toEqual(
        later.map((_, index) => [responses[index], index + 1]),
      );
    });

    it('builds prompts of text or valid messages, the same for the same state', async () => {
      const environment = create();
      for (const state of await play(environment, subject)) {
        if (environment.isTerminal(state)) continue;
        const prompt = environment.buildPrompt(state);
        expect(environment.buildPrompt(state)).toEqual(prompt);
        if (typeof prompt !== 'string') for (const message of prompt) messageSchema.parse(message);
      }
    });

    it('plays on from a copy of a state as from the state', async () => {
      const environment = create();
      for (const state of await playable(environment, subject)) {
        const response = responses[state.stepCount]!;
        const next = await environment.updateState(state, response);
        expect(await create().updateState(structuredClone(state), response)).toEqual(next);
      }
    });

    it('never mutates a state', async () => {
      const environment = create();
      for (const state of await playable(environment, subject)) {
        const frozen = deepFreeze(structuredClone(state));
        environment.buildPrompt(frozen);
        environment.isTerminal(frozen);
        environment.stateKey?.(frozen);
        said(environment, frozen);
        await environment.updateState(frozen, responses[state.stepCount]!);
        expect(frozen).toEqual(state);
      }
    });

    it('says the same about equal states: transcript, outcome and metrics', async () => {
      for (const state of await play(create(), subject)) {
        expect(said(create(), structuredClone(state))).toEqual(said(create(), state));
      }
    });

    it('says only what can be recorded: valid messages, finite numbers, JSON', async () => {
      const environment = create();
      for (const state of await play(environment, subject)) {
        const { transcript, outcome, metrics, termination } = said(environment, state);
        for (const message of transcript ?? []) messageSchema.parse(message);
        for (const [name, value] of Object.entries(metrics ?? {}))
          expect(value, name).toSatisfy(Number.isFinite);
        if (termination !== undefined) terminationSchema.parse(termination);
        if (outcome !== undefined) expect(JSON.parse(JSON.stringify(outcome))).toEqual(outcome);
      }
    });

    it('has every response in its transcript, as a message of the assistant', async () => {
      const environment = create();
      const states = await play(environment, subject);
      const opening = spokenBy(environment, states[0]!);
      for (const state of environment.transcript === undefined ? [] : states) {
        expect(spokenBy(environment, state) - opening).toBe(state.stepCount);
      }
    });

    it('offers the same tools in equal states, with names and an object of parameters', async () => {
      const environment = create();
      for (const state of await play(environment, subject)) {
        const tools = environment.tools?.(state) ?? [];
        expect(create().tools?.(structuredClone(state)) ?? []).toEqual(tools);
        const names = tools.map((tool) => tool.function.name);
        expect(new Set(names).size).toBe(names.length);
        for (const { function: offered } of tools)
          expect(offered.parameters?.type ?? 'object', offered.name).toBe('object');
      }
    });

    it('gives equal keys for equal states, where it gives keys', async () => {
      const environment = create();
      for (const state of await play(environment, subject)) {
        const key = environment.stateKey?.(state);
        expect(create().stateKey?.(structuredClone(state))).toBe(key);
        expect(['string', 'undefined']).toContain(typeof key);
      }
    });

    it('serves several episodes at once', async () => {
      const environment = create();
      const episodes = await Promise.all([play(environment, subject), play(environment, subject)]);
      const alone = await play(create(), subject);
      expect(episodes).toEqual([alone, alone]);
    });
  });
}

/** What the optional methods say about a state. `termination` is asked of terminal states only. */
function said<S extends State, Metadata, Outcome>(environment: Environment<S, Metadata, Outcome>, state: S) {
  return {
    transcript: environment.transcript?.(state),
    outcome: environment.outcome?.(state),
    metrics: environment.metrics?.(state),
    termination: environment.isTerminal(state) ? environment.termination?.(state) : undefined,
  };
}

/** Messages of the assistant in the transcript of a state. */
function spokenBy<S extends State, Metadata>(environment: Environment<S, Metadata>, state: S): number {
  return (environment.transcript?.(state) ?? []).filter(({ role }) => role === 'assistant').length;
}

/** The states of one episode, the first included. */
async function play<S extends State, Metadata>(
  environment: Environment<S, Metadata>,
  { task, responses }: EnvironmentSubject<S, Metadata>,
): Promise<S[]> {
  const states = [await environment.reset(task, seed)];
  for (const response of responses) {
    const state = states.at(-1)!;
    if (environment.isTerminal(state)) break;
    states.push(await environment.updateState(state, response));
  }
  return states;
}

/** The states of one episode that can be answered. */
async function playable<S extends State, Metadata>(
  environment: Environment<S, Metadata>,
  subject: EnvironmentSubject<S, Metadata>,
): Promise<S[]> {
  return (await play(environment, subject)).filter(
    (state) => !environment.isTerminal(state) && state.stepCount < subject.responses.length,
  );
}

/** Freezes a value and everything in it, so that a mutation throws. */
function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) {
    return value;
  }
  Object.freeze(value);
  for (const part of Object.values(value)) deepFreeze(part);
  return value;
}
