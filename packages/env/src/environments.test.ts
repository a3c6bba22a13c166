import { ArgumentError, type State, type Task } from '@rlp/core';
import { describeEnvironment } from '@rlp/core/testing';
import { describe, expect, it } from 'vitest';
import {
  BaseEnvironment,
  ConversationEnvironment,
  GuessNumberEnvironment,
  guessNumberTasks,
  SimpleTextEnvironment,
  withLimits,
  withVerification,
} from './index.ts';

const textTask: Task = { id: 'a', prompt: 'Once upon', metadata: undefined };
const chatTask: Task<{ topic: string }> = { id: 'b', prompt: 'Hello', metadata: { topic: 'tides' } };
const game = { id: 'g', prompt: '1-9? ', metadata: { secret: 6, low: 1, high: 9 } };

class UntilDone extends BaseEnvironment {
  override reset({ prompt }: Task): State {
    return { prompt, response: '', stepCount: 0 };
  }
  override isTerminal({ stepCount, response }: State): boolean {
    return stepCount >= 10 || response.includes('DONE');
  }
}

const dialogue = () =>
  new ConversationEnvironment<{ topic: string }>({
    systemPrompt: 'Be brief.',
    maxTurns: 3,
    nextUserTurn: ({ turn, metadata }) => `${turn}: more about ${metadata.topic}`,
  });

describeEnvironment('an environment of one’s own', {
  create: () => new UntilDone(),
  task: textTask,
  responses: ['on', 'DONE'],
});
describeEnvironment('SimpleTextEnvironment', {
  create: () => new SimpleTextEnvironment({ maxTurns: 2 }),
  task: textTask,
  responses: [' a time', ' there was'],
});
describeEnvironment('ConversationEnvironment', {
  create: dialogue,
  task: chatTask,
  responses: ['Hi', 'Yes', 'No'],
});
describeEnvironment('GuessNumberEnvironment', {
  create: () => new GuessNumberEnvironment(),
  task: game,
  responses: ['3', 'x', '8', '6'],
});
describeEnvironment('withLimits', {
  create: () => withLimits(new GuessNumberEnvironment(), { maxTurns: 2 }),
  task: game,
  responses: ['3', '8', '6'],
});

describe('BaseEnvironment.step', () => {
  it('composes prompt, answer and update until the episode is over', async () => {
    const environment = new UntilDone();
    const seen: unknown[] = [];
    let state = environment.reset(textTask);
    while (!environment.isTerminal(state)) {
      state = await environment.step(state, (prompt) => {
        seen.push(prompt);
        return seen.length === 3 ? 'DONE' : 'on';
      });
    }
    expect(seen).toEqual(['Once upon', 'Once upon', 'Once upon']);
    expect(state).toEqual({ prompt: 'Once upon', response: 'DONE', stepCount: 3 });
  });
});

describe('SimpleTextEnvironment', () => {
  it('continues its own text', () => {
    const environment = new SimpleTextEnvironment({ maxTurns: 2 });
    const state = environment.updateState(environment.reset(textTask), ' a time');
    expect(environment.buildPrompt(state)).toBe('Once upon a time');
    expect(environment.isTerminal(state)).toBe(false);
  });

  it('makes tasks of its prompts', () => {
    const { tasks } = new SimpleTextEnvironment({ prompts: ['Explain AI:', 'What is ML?'] });
    expect(tasks.map(({ id, prompt }) => [id, prompt])).toEqual([
      ['prompt-0', 'Explain AI:'],
      ['prompt-1', 'What is ML?'],
    ]);
  });

  it('says what to use for conversations', () => {
    const task = { ...textTask, prompt: [{ role: 'user' as const, content: 'Hi' }] };
    expect(() => new SimpleTextEnvironment().reset(task)).toThrow(
      new ArgumentError(
        'SimpleTextEnvironment: task "a" has messages as its prompt, expected text: use ConversationEnvironment',
      ),
    );
  });

  it('names every bad option at once', () => {
    expect(() => new SimpleTextEnvironment({ maxTurns: 0, max_steps: 1 } as never)).toThrow(
      /maxTurns[\s\S]*Unrecognized option "max_steps"; in rlp this is maxTurns/,
    );
  });
});

it('verification needs a budget', () => {
  expect(() => withVerification(new UntilDone(), [], {} as never)).toThrow('budget: expected a number');
});

describe('ConversationEnvironment', () => {
  it('lets the user speak between responses until the turns are used up', async () => {
    const environment = dialogue();
    let state = environment.reset(chatTask);
    for (const response of ['Hi', 'Yes', 'No']) state = await environment.updateState(state, response);
    expect(state.prompt.map(({ role, content }) => `${role} ${content}`)).toEqual([
      'system Be brief.',
      'user Hello',
      'assistant Hi',
      'user 1: more about tides',
      'assistant Yes',
      'user 2: more about tides',
      'assistant No',
    ]);
    expect(environment.isTerminal(state)).toBe(true);
  });

  it('is over when the user has nothing left to say', async () => {
    const environment = new ConversationEnvironment({ maxTurns: 9, nextUserTurn: () => undefined });
    const state = await environment.updateState(environment.reset(chatTask), 'Hi');
    expect(environment.isTerminal(state)).toBe(true);
  });

  it('rejects a user that is not a function', () => {
    expect(() => new ConversationEnvironment({ nextUserTurn: 'hello' as never })).toThrow(
      'must be a function',
    );
  });
});

describe('GuessNumberEnvironment', () => {
  it('narrows the range by what it tells the policy', () => {
    const environment = new GuessNumberEnvironment();
    let state = environment.reset(game);
    const keys = ['3', 'eight', '8', '6'].map((guess) => {
      state = environment.updateState(state, guess);
      return environment.stateKey(state);
    });
    expect(keys).toEqual(['4..9', '4..9', '4..7', '4..7']);
    expect(state.transcript).toBe('1-9? 3\nhigher? eight\ndigits only? 8\nlower? 6\nright? ');
    expect(state.isSolved).toBe(true);
  });

  it('refuses a conversation as its prompt', () => {
    const task = { ...game, prompt: [{ role: 'user' as const, content: '1-9?' }] };
    expect(() => new GuessNumberEnvironment().reset(task)).toThrow('task "g" has messages as its prompt');
  });

  it('thinks of numbers in its range', () => {
    const secrets = guessNumberTasks({ low: 2, high: 4, count: 60 }).map(({ metadata }) => metadata.secret);
    expect(new Set(secrets)).toEqual(new Set([2, 3, 4]));
  });
});

describe('hints of GuessNumberEnvironment', () => {
  const environment = new GuessNumberEnvironment();
  const after = (response: string) => environment.updateState(environment.reset(game), response);

  it.each([
    ['5', 'higher', 6, 9],
    ['7', 'lower', 1, 6],
    [' 7 ', 'lower', 1, 6],
    ['12', 'lower', 1, 9],
    ['x5', 'digits only', 1, 9],
    ['5x', 'digits only', 1, 9],
  ])('answers %j with %s', (response, hint, low, high) => {
    const state = after(response);
    expect(state).toMatchObject({ low, high, isSolved: false, transcript: `1-9? ${response}\n${hint}? ` });
    expect(environment.isTerminal(state)).toBe(false);
  });

  it('ends with the right number, and says how many guesses it took', () => {
    const state = after('6');
    expect(environment.isTerminal(state)).toBe(true);
    expect(environment.outcome(state)).toEqual({ isSolved: true, guesses: 1 });
    expect(environment.isTerminal(environment.reset(game))).toBe(false);
  });
});

describe('ends', () => {
  it('a text environment is over after exactly its turns, one by default', () => {
    const at = (stepCount: number) => ({ prompt: '', response: '', transcript: '', stepCount });
    expect(
      [0, 1, 2].map((count) => new SimpleTextEnvironment({ maxTurns: 2 }).isTerminal(at(count))),
    ).toEqual([false, false, true]);
    expect(new SimpleTextEnvironment().tasks).toEqual([]);
  });

  it('a conversation goes on while the user speaks, without a system message unless one is given', async () => {
    const environment = new ConversationEnvironment({ maxTurns: 2, nextUserTurn: () => 'and?' });
    const first = environment.reset(chatTask);
    expect(first.prompt).toEqual([{ role: 'user', content: 'Hello' }]);
    expect(environment.isTerminal(first)).toBe(false);
    expect(environment.isTerminal(await environment.updateState(first, 'Hi'))).toBe(false);
  });

  it('a limited environment says what the environment inside says, as one of its methods', () => {
    class Diary extends UntilDone {
      readonly words = 'dear diary';
      override transcript() {
        return [{ role: 'assistant' as const, content: this.words }];
      }
      override metrics() {
        return { words: this.words.length };
      }
    }
    const limited = withLimits(new Diary(), { maxTurns: 2 });
    const state = new Diary().reset(textTask);
    expect(limited.transcript?.(state)).toEqual([{ role: 'assistant', content: 'dear diary' }]);
    expect(limited.metrics?.(state)).toEqual({ words: 10 });
  });

  it('a limited environment ends by its limit or by itself, and names which', () => {
    const limited = withLimits(new GuessNumberEnvironment(), { maxTurns: 2 });
    const [first] = [limited.reset(game, 0)] as [ReturnType<GuessNumberEnvironment['reset']>];
    expect(limited.isTerminal(first)).toBe(false);
    expect(limited.isTerminal({ ...first, stepCount: 2 })).toBe(true);
    expect(limited.isTerminal({ ...first, isSolved: true })).toBe(true);
    expect(limited.termination?.({ ...first, stepCount: 2 })).toEqual({ reason: 'turns' });
    expect(limited.termination?.({ ...first, isSolved: true })).toEqual({ reason: 'environment' });
    expect(limited.stateKey?.(first)).toBe('1..9');
    expect(limited.outcome?.(first)).toEqual({ isSolved: false, guesses: 0 });
    expect(Object.keys(limited)).not.toContain('metrics');
    expect(Object.keys(limited)).not.toContain('transcript');
    expect(() => withLimits(new GuessNumberEnvironment(), { maxTurns: 0 })).toThrow('withLimits');
  });
});
