import assert from 'node:assert';
import { promptMessages, RandomStream } from '@rlp/core';
import { describeEnvironment } from '@rlp/core/testing';
import { createSandbox, javascriptRunner } from '@rlp/sandbox';
import { afterAll, describe, expect, it } from 'vitest';
import { withUser } from '../index.ts';
import { codeGame } from './code.ts';
import { gameEnvironment, libraryDesk, libraryDeskMember, shop, sqlQuestions } from './index.ts';
import { say } from './say.fixture.ts';

const sandbox = createSandbox();
afterAll(() => sandbox.close());
const runner = javascriptRunner(sandbox);
const code = codeGame(runner);
const ran = { status: 'exited', exitCode: 0, stdout: '', stderr: '' } as const;
/** The same game without a sandbox, for programs of this file. */
const trusting = codeGame(async ({ source, test }) => {
  try {
    new Function('assert', `${source}\n${test}`)(assert);
    return { ...ran, test: 'passed' };
  } catch {
    return { ...ran, test: 'failed' };
  }
});
const [codeTask] = trusting.tasks({ count: 1, seed: 'contract' });
describeEnvironment('codeGame', {
  create: () => gameEnvironment(trusting),
  task: codeTask!,
  responses: ['', 'function nothing() {', trusting.solve(trusting.start(codeTask!.metadata))],
});

describe('shop', () => {
  const [task] = shop.tasks({ count: 1, difficulty: 1, seed: 'shop' });
  const setup = task!.metadata;

  it('pays for each wish that is met, and little for another kind', async () => {
    const solution: string[] = [];
    for (let position = shop.start(setup); !shop.isOver(position); ) {
      solution.push(shop.solve(position));
      position = shop.play(position, solution.at(-1)!, {
        chance: RandomStream.named('unused'),
        signal: undefined,
      }) as typeof position;
    }
    expect((await say(shop, setup, solution)).outcome.isSolved).toBe(true);
    const withoutChoices = solution.filter((command) => !command.startsWith('choose'));
    const { outcome } = await say(shop, setup, withoutChoices);
    expect(outcome.score).toBeLessThan(1);
    expect(outcome.score).toBeGreaterThan(0.5);
    const other = await say(shop, { ...setup, wish: { ...setup.wish, kind: 'spaceship' } }, solution);
    expect(other.outcome.score).toBe(0.1);
  });

  it('shows at most ten results', async () => {
    const { heard } = await say(shop, setup, ['search[shirt jacket mug lamp backpack chair headphones]']);
    expect(heard.split('\n')).toHaveLength(10);
    expect(task!.prompt).toContain(`Buy this: ${[...setup.wish.attributes, setup.wish.kind].join(' ')}`);
  });
});

describe('libraryDesk', () => {
  const member = { card: '1001', name: 'Ada Lopez', fees: 0 };
  const book = { id: 'b1', title: 'Red Dust', borrower: '1001', renewals: 0, reservedBy: null };
  const visit = (change: Partial<typeof book> | { reservedBy: string }, fees = 0) => ({
    ...{ maxTurns: 20, card: '1001', user: 'scripted' as const },
    database: {
      members: [
        { ...member, fees },
        { card: '2002', name: 'Bo Sato', fees: 0 },
      ],
      books: [{ ...book, ...change }],
    },
    requests: [{ kind: 'renew' as const, title: 'Red Dust' }],
  });
  const renew =
    '<tool_call>{"name": "renew_book", "arguments": {"card": "1001", "bookId": "b1"}}</tool_call>';
  const talk = ['What is your card number?', renew, 'It is renewed. Anything else?'];
  const refuse = ['What is your card number?', 'I am sorry, I cannot renew it.'];

  it.each([
    ['may be renewed', visit({}), talk, true],
    ['may be renewed, but is not', visit({}), refuse, false],
    ['was renewed twice', visit({ renewals: 2 }), talk, false],
    ['was renewed twice, and is not renewed', visit({ renewals: 2 }), refuse, true],
    ['is reserved', visit({ reservedBy: '2002' }), talk, false],
    ['belongs to one who owes much', visit({}, 10), refuse, true],
    ['is renewed twice in one visit', visit({}), [talk[0]!, renew, renew, 'Done.'], false],
  ])('scores a book that %s', async (_, setup, said, isSolved) => {
    expect((await say(libraryDesk, setup, said)).outcome.isSolved).toBe(isSolved);
  });

  it('finds members and books, and changes nothing for others', async () => {
    const environment = gameEnvironment(libraryDesk);
    const setup = visit({});
    let state = await environment.reset({ id: 'v', prompt: '', metadata: setup }, 1);
    const heard: string[] = [];
    for (const [name, args] of [
      ['find_member', { card: '1001' }],
      ['find_member', { card: '3003' }],
      ['find_book', { title: 'Red Dust' }],
      ['find_book', { title: 'Blue' }],
      ['renew_book', { card: '1001', bookId: 'b9' }],
      ['renew_book', { card: '3003', bookId: 'b1' }],
    ] as const) {
      state = await environment.updateState(
        state,
        `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`,
      );
      heard.push(promptMessages(environment.buildPrompt(state)).at(-1)!.content);
    }
    expect(heard).toEqual([
      JSON.stringify(member),
      'no such member',
      JSON.stringify(book),
      'no such book',
      expect.stringContaining('no book has the id "b9"'),
      expect.stringContaining('no member has the card "3003"'),
    ]);
    expect(state.position.database).toEqual(setup.database);
  });

  it.each([
    [
      'My card number is 1001.',
      ['Your card, please?', 'Are you a MEMBER?', 'Can you identify yourself?', 'Who are you?'],
    ],
    ['My card number is 1001.', ['Which card is it?', 'Shall I look up your card?']],
    [
      'Yes, please.',
      ['Shall I renew it?', 'Should I?', 'Do you want me to?', 'Would you like me to?', 'Can you confirm?'],
    ],
    ['Yes, please.', ['Is that correct?', 'May I proceed with the book?']],
    [
      'I would like to renew "Red Dust".',
      ['Which one?', 'The title?', 'A book?', 'How can I help you?', 'What?'],
    ],
    ['Sorry? I would like to renew "Red Dust".', ['', ' \n ']],
    [
      'Thank you, that is all.',
      ['It is renewed.', 'Your card.', 'Which book.', 'Really?', 'Discarded?', 'Whatsoever?'],
    ],
    [
      'Thank you, that is all.',
      ['What else?', 'What more?', 'Any further book?', 'Can I help with other things?'],
    ],
    // Only the first 4000 characters are heard.
    ['Thank you, that is all.', [`${'.'.repeat(4000)} What?`]],
    ['I would like to renew "Red Dust".', [`${'.'.repeat(3994)} What?`]],
  ])('a member says %j to all of %j', async (answer, asked) => {
    for (const said of asked)
      expect((await say(libraryDesk, visit({}), [said])).state.position.said, said).toBe(answer);
  });

  it('a member wants one thing after the other', async () => {
    const setup = visit({});
    const two = { ...setup, requests: [...setup.requests, { kind: 'return' as const, title: 'Red Dust' }] };
    expect((await say(libraryDesk, two, ['Done.'])).state.position.said).toBe(
      'Thanks. I would like to return "Red Dust".',
    );
    expect(libraryDeskMember({ ...two, card: '9' })).toBe(
      'You are a member, at the desk of a library. Your card number is 9: tell it only if you are asked. You want, one after the ' +
        'other: 1. renew "Red Dust"; 2. return "Red Dust". Ask for one at a time, in your own words. Accept a refusal. When all are ' +
        'answered, say goodbye.',
    );
  });

  it('can be played by a model, whose end of the talk ends the game', async () => {
    const [task] = libraryDesk.tasks({ count: 1, difficulty: 0, user: 'outside', seed: 'user' });
    const heard: string[] = [];
    const environment = withUser(
      gameEnvironment(libraryDesk),
      async (messages) => {
        heard.push(JSON.stringify(messages));
        return heard.length === 1 ? 'It is on my card.' : 'Bye! ###STOP###';
      },
      { instructions: ({ metadata }) => libraryDeskMember(metadata) },
    );
    let state = await environment.reset(task!, 1);
    const { position } = state;
    for (const response of ['What is your card number?', ...actionsOf(position), 'Done.'])
      state = await environment.updateState(state, response);
    expect(environment.isTerminal(state)).toBe(true);
    expect(environment.outcome!(state)).toMatchObject({ isSolved: true });
    expect(heard[0]).toContain(task!.metadata.card);
  });

  /** What the solver calls once it knows the card. */
  function actionsOf(position: Parameters<typeof libraryDesk.solve>[0]): string[] {
    const action = libraryDesk.solve({ ...position, said: 'My card number is …' });
    return action.startsWith('<tool_call>') ? [action] : [];
  }
});

describe('codeGame', () => {
  it('is solved by its programs at every difficulty, which pass tests computed in another way', async () => {
    const environment = gameEnvironment(code);
    for (const difficulty of [0, 0.5, 1]) {
      for (const task of code.tasks({ count: 1, difficulty })) {
        const state = await environment.updateState(
          await environment.reset(task, 1),
          code.solve(code.start(task.metadata)),
        );
        expect(environment.outcome!(state), task.prompt as string).toMatchObject({
          isSolved: true,
          turns: 1,
        });
      }
    }
  });

  it('gives part of the score for part of the tests, and none for programs that break', async () => {
    const setup = {
      maxTurns: 3,
      name: 'f',
      tests: ['assert.equal(f(1), 1);', 'assert.equal(f(2), 4);'],
      solution: '',
    };
    const score = async (...responses: string[]) => (await say(code, setup, responses)).outcome.score;
    expect(await score('```js\nfunction f(x) { return x; }\n```')).toBe(0.5);
    expect(
      await score('function f(x) { return x; }', 'Now right:\n```js\nconst f = (x) => x * x;\n```\nDone.'),
    ).toBe(1);
    for (const program of [
      '```js\nfunction f( {\n```',
      'globalThis.assert = { equal() {} }; function f() {}',
      'process.exit(0)',
    ])
      expect(await score(program), program).toBe(0);
    const impatient = codeGame((program, options) => runner(program, { ...options, timeoutMs: 100 }));
    const endless = await say(impatient, setup, ['```js\nwhile (true);\n```']);
    expect(endless.outcome.score).toBe(0);
    expect((await say(code, setup, ['', ' ', '`````'])).outcome).toMatchObject({ score: 0, turns: 3 });
  }, 60_000);
});

describe('sqlQuestions', () => {
  it('scores the answer', async () => {
    for (const task of sqlQuestions.tasks({ count: 20, difficulty: 1 })) {
      const right = sqlQuestions.solve(sqlQuestions.start(task.metadata));
      expect((await say(sqlQuestions, task.metadata, [right])).outcome.isSolved).toBe(true);
      expect((await say(sqlQuestions, task.metadata, [`${right}0`])).outcome.isSolved).toBe(false);
    }
  });
});
