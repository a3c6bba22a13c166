import { describe, expect, it } from 'vitest';
import { PhraseWindow } from './phrase-window.ts';
import { initialState, restoredState, savedState } from './state.ts';

const phrase = 4711;

/** Other tasks of late with the phrase, as each response finds them that has it. */
function counted(window: PhraseWindow, said: readonly (readonly [task: string, response: number])[]) {
  return said.map(([task, response]) => {
    window.beginTask(task);
    window.beginResponse(response);
    return window.count(window.slotOf(phrase));
  });
}

describe('PhraseWindow', () => {
  it('counts no phrase again of a response that its task was given lately', () => {
    const said = [
      ['a', 1],
      ['b', 1],
      ['a', 1],
      ['a', 1],
      ['c', 1],
    ] as const;
    expect(counted(new PhraseWindow(8, initialState().phrases), said)).toEqual([0, 1, 1, 1, 2]);
  });

  it('counts a phrase again where a task that comes back is answered otherwise', () => {
    const said = [
      ['a', 1],
      ['a', 2],
      ['a', 3],
      ['a', 2],
    ] as const;
    expect(counted(new PhraseWindow(8, initialState().phrases), said)).toEqual([0, 1, 2, 2]);
  });

  it('goes on from a saved state as if nothing had been', () => {
    const state = initialState();
    const first = new PhraseWindow(8, state.phrases);
    counted(first, [
      ['a', 1],
      ['b', 1],
    ]);
    const second = new PhraseWindow(8, restoredState(savedState(state)).phrases);
    expect(counted(second, [['a', 1]])).toEqual([1]);
    expect(counted(second, [['c', 1]])).toEqual([2]);
  });
});
