import { type Environment, type State, TimeoutError } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { BaseEnvironment, withRetries } from '../index.ts';

const task = { id: 't', prompt: 'I want to travel.', metadata: undefined };

async function play<S extends State>(environment: Environment<S, undefined>, responses: readonly string[]) {
  let state = await environment.reset(task, 1);
  for (const response of responses) state = await environment.updateState(state, response, {});
  return state;
}

/** Fails as told before it answers. */
class Flaky extends BaseEnvironment<State> {
  readonly #failures: Error[];
  readonly signals: (AbortSignal | undefined)[] = [];
  constructor(failures: Error[]) {
    super();
    this.#failures = failures;
  }
  #fail() {
    const error = this.#failures.shift();
    if (error !== undefined) throw error;
  }
  override reset(): State {
    this.#fail();
    return { prompt: 'x', response: '', stepCount: 0 };
  }
  override updateState(state: State, response: string) {
    this.#fail();
    return super.updateState(state, response);
  }
  override isTerminal({ stepCount }: State) {
    return stepCount >= 3;
  }
}

describe('withRetries', () => {
  const away = () => Object.assign(new Error('away'), { code: 'ECONNRESET' });
  const waits: number[] = [];
  const sleep = async (milliseconds: number) => void waits.push(milliseconds);

  it('tries again what failed for a moment, and counts it', async () => {
    const environment = withRetries(new Flaky([away(), new TimeoutError('late')]), { sleep });
    const state = await play(environment, ['a']);
    expect([state.response, environment.metrics?.(state)]).toEqual(['a', { 'retries/made': 2 }]);
    expect(waits).toHaveLength(2);
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(100);
  });

  it('tries answers of the environment again as well, with their context', async () => {
    const failures: Error[] = [];
    const contexts: unknown[] = [];
    const flaky = new Flaky(failures);
    const answer = flaky.updateState.bind(flaky);
    Object.assign(flaky, {
      updateState: (state: State, response: string, context: { readonly tokens?: number }) => {
        contexts.push(context.tokens);
        return answer(state, response);
      },
    });
    const environment = withRetries(flaky, { sleep });
    const begun = await play(environment, []);
    failures.push(away());
    const state = await environment.updateState(begun, 'a', { tokens: 7 });
    expect([state.response, contexts, environment.metrics?.(state)]).toEqual([
      'a',
      [7, 7],
      { 'retries/made': 1 },
    ]);
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(environment.updateState(state, 'b', { signal })).rejects.toThrow('stopped');
  });

  it('does not repeat what would fail again', async () => {
    const environment = withRetries(new Flaky([new TypeError('bug')]), { sleep });
    await expect(environment.reset(task, 1)).rejects.toThrow(new TypeError('bug'));
  });

  it('gives up after the last attempt, with the cause', async () => {
    const environment = withRetries(new Flaky([away(), away(), away()]), { sleep });
    await expect(environment.reset(task, 1)).rejects.toMatchObject({
      message: 'withRetries: attempt 3 of 3: away',
      cause: { code: 'ECONNRESET' },
    });
  });

  it('refuses what is no function', () => {
    expect(() => withRetries(new Flaky([]), { isTransient: true as never })).toThrow(
      'isTransient: must be a function',
    );
    expect(() => withRetries(new Flaky([]), { sleep: 5 as never })).toThrow('sleep: must be a function');
  });

  it('gives up at the deadline, and at the signal', async () => {
    const endless = withRetries(new Flaky(Array.from({ length: 99 }, away)), {
      attempts: 99,
      deadlineMs: 50,
    });
    await expect(endless.reset(task, 1)).rejects.toThrow(
      /attempt \d+ of 99: took longer than 50 ms, after away/,
    );
    const signal = AbortSignal.abort(new Error('stopped'));
    await expect(endless.reset(task, 1, { signal })).rejects.toThrow('stopped');
  });
});
