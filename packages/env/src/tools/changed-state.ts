import { EnvironmentError, isRecord, messageOf, type State, type ToolCall } from '@rlp/core';
import type { CallResult } from './run-call.ts';

/** A call and the changes that its tool asked for. */
interface CallChanges<S extends State> extends Pick<CallResult<S>, 'changes'> {
  readonly call: ToolCall;
}

/** The state with the changes of all calls. Throws an `EnvironmentError` if it is not a value any more. */
export function changedBy<S extends State>(answers: readonly CallChanges<S>[], state: S): S {
  const changed = answers.reduce((now, { call, changes }) => {
    return changes.reduce((before, change) => nextState(before, change, call.function.name), now);
  }, state);
  if (changed === state) return changed;
  try {
    structuredClone(changed);
    return changed;
  } catch (error) {
    const names = [...new Set(answers.map(({ call }) => call.function.name))].join(', ');
    throw new EnvironmentError(
      `tool "${names}" made a state that cannot be copied (${messageOf(error)}): keep only data in it`,
      { cause: error },
    );
  }
}

/** The state after one change. Throws an `EnvironmentError` if the tool gave no function, or its function no state. */
function nextState<S extends State>(state: S, change: (state: S) => S, tool: string): S {
  const example = 'update((state) => ({ ...state, count: 1 }))';
  if (typeof change !== 'function') {
    throw new EnvironmentError(
      `tool "${tool}": update: expected a function of the state, such as ${example}`,
    );
  }
  const next: unknown = change(state);
  if (isRecord(next) && 'prompt' in next && 'stepCount' in next) return next as S;
  throw new EnvironmentError(
    `tool "${tool}": the function of update must return the new state, as in ${example}`,
  );
}
