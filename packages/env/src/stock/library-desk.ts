import { parseOptions, type RandomStream, requireFields } from '@rlp/core';
import * as z from 'zod';
import { pick, scaled } from '../draws.ts';
import { type Tool, tool } from '../tools/tool.ts';
import { type Game, type GameState, gameTasks, gameTasksSchema } from './game.ts';
import {
  type Book,
  changed,
  changes,
  handled,
  isAllowed,
  type Library,
  type LibraryRequest,
  librarySchema,
  requestSchema,
} from './library.ts';

const cardSchema = z.string().describe('Card number of the member');

const setupSchema = z.strictObject({
  maxTurns: z.int().min(1),
  database: librarySchema,
  /** Card of the member at the desk. */
  card: z.string(),
  /** What the member wants, one after the other. */
  requests: z.array(requestSchema).min(1).readonly(),
  /** `'scripted'`: the game plays the member. `'outside'`: `withUser` does, and the game ends with the first message it hears. */
  user: z.enum(['scripted', 'outside']).default('scripted'),
});

/** A member at the desk. */
export interface LibraryDeskSetup extends z.output<typeof setupSchema> {}

const optionsSchema = gameTasksSchema.extend({
  /** Who plays the member: `'scripted'`, or `'outside'` for a model in `withUser`. Default `'scripted'`. */
  user: z.enum(['scripted', 'outside']).default('scripted'),
});

/** Options of `libraryDesk.tasks`. */
export interface LibraryDeskOptions extends z.input<typeof optionsSchema> {}

/** The database, and what the member has said. */
export interface LibraryDeskPosition extends Omit<LibraryDeskSetup, 'maxTurns'> {
  /** The database once all requests are handled by the rules. */
  readonly expected: Library;
  /** Requests that are behind. */
  readonly handled: number;
  /** What the member said last. */
  readonly said: string;
  /** Calls that wrote to the database, for the request at hand. */
  readonly writes: number;
}

/**
 * Serve a member of a library by tools, following the rules of the house. In the manner of τ-bench. The member is scripted: the card number
 * comes when it is asked for, and the next request when the answer asks nothing.
 *
 * Difficulty: from 1 request to 4. Score: 1 if the database is what the rules lead to and all requests were answered, else 0. Some requests are against the rules.
 * The solver knows the rules.
 */
export const libraryDesk: Game<LibraryDeskSetup, LibraryDeskPosition, LibraryDeskOptions> = {
  name: 'library-desk',
  setup: setupSchema,
  tools: deskTools(),
  read: (response) => response,
  tasks: (options) => {
    const { user, ...common } = parseOptions(
      'libraryDesk.tasks',
      optionsSchema,
      options,
      'LibraryDeskOptions',
    );
    return gameTasks('library-desk', common, (random, difficulty) => {
      const requests = scaled(difficulty, 1, 4);
      return { prompt: rules, setup: { maxTurns: 6 * requests + 6, ...drawVisit(random, requests), user } };
    });
  },
  start: ({ database, card, requests, user }) => ({
    ...{ database, card, requests, user, handled: 0, writes: 0 },
    expected: requests.reduce((now, request) => handled(now, card, request), database),
    said: `Hello. ${wish(requests[0]!)}`,
  }),
  play: (position, text) => replied(position, text.slice(0, 4000)),
  view: ({ said }) => said,
  isOver: ({ handled: count, requests }) => count >= requests.length,
  score: ({ database, expected, handled: count, requests }) =>
    count >= requests.length && JSON.stringify(database) === JSON.stringify(expected) ? 1 : 0,
  key: ({ database, said, handled: count }) => {
    const books = database.books.map(({ borrower, renewals, reservedBy }) => [
      borrower,
      renewals,
      reservedBy,
    ]);
    return JSON.stringify([books.flat(), said, count]);
  },
  solve: nextAction,
};

const rules =
  'You work at the desk of a library. Serve the member by the tools, and follow the rules. ' +
  'Before you change anything, ask for the card number. ' +
  'Lend a book only if nobody has it, nobody else has reserved it, and the member owes less than $10. ' +
  'Renew a loan only if the member has the book, it was renewed less than twice, nobody has reserved it, and the member owes less than $10. ' +
  'A returned book may always be taken back from the member who has it. ' +
  'Reserve a book only if somebody else has it and nobody has reserved it. ' +
  'If the rules forbid a request, change nothing and say so. Ask a question only if you need the answer: after any other message the member goes on.';

type DeskState = GameState<LibraryDeskPosition>;

/** The tools of the desk. They do what they are told, and check no rules. */
function deskTools(): Tool<DeskState>[] {
  return [
    tool<z.ZodObject<{ card: z.ZodString }>, DeskState>({
      name: 'find_member',
      description: 'Name and unpaid fees of a member.',
      parameters: z.object({ card: cardSchema }),
      execute: (args, { state }) =>
        state.position.database.members.find((member) => member.card === args.card) ?? 'no such member',
    }),
    tool<z.ZodObject<{ title: z.ZodString }>, DeskState>({
      name: 'find_book',
      description: 'A book by its exact title: id, who has it, renewals, who reserved it.',
      parameters: z.object({ title: z.string() }),
      execute: (args, { state }) =>
        state.position.database.books.find(({ title }) => title === args.title) ?? 'no such book',
    }),
    changeTool('borrow', 'Lends a book to a member.'),
    changeTool('renew', 'Renews the loan of a book.'),
    changeTool('return', 'Takes a book back.'),
    changeTool('reserve', 'Reserves a book for a member.'),
  ];
}

function changeTool(kind: LibraryRequest['kind'], description: string): Tool<DeskState> {
  const bookId = z.string().describe('Id of the book');
  return tool<z.ZodObject<{ card: z.ZodString; bookId: z.ZodString }>, DeskState>({
    name: `${kind}_book`,
    description,
    parameters: z.object({ card: cardSchema, bookId }),
    execute: (args, { state: { position }, update }) => {
      const { members, books } = position.database;
      if (!books.some(({ id }) => id === args.bookId)) throw new Error(`no book has the id "${args.bookId}"`);
      if (!members.some((member) => member.card === args.card))
        throw new Error(`no member has the card "${args.card}"`);
      update((state) => {
        const { database, writes } = state.position;
        const next = changed(database, args.bookId, (book) => changes[kind](book, args.card));
        return { ...state, position: { ...state.position, database: next, writes: writes + 1 } };
      });
      return 'done';
    },
  });
}

function wish({ kind, title }: LibraryRequest): string {
  return `I would like to ${kind} "${title}".`;
}

/** What the member says to a message of the desk. */
function replied(position: LibraryDeskPosition, text: string): LibraryDeskPosition {
  const { card, requests, handled: count, user } = position;
  if (user === 'outside') return { ...position, handled: requests.length };
  const present = wish(requests[count]!);
  if (text.trim() === '') return { ...position, said: `Sorry? ${present}` };
  const isQuestion = text.includes('?');
  if (isQuestion && /\b(card|member|identif\w*|who are you)\b/i.test(text))
    return { ...position, said: `My card number is ${card}.` };
  if (isQuestion && /\b(shall|should|want me|like me|confirm|correct|proceed)\b/i.test(text))
    return { ...position, said: 'Yes, please.' };
  if (
    isQuestion &&
    /\b(which|title|book|help|what)\b/i.test(text) &&
    !/\b(else|more|further|other)\b/i.test(text)
  )
    return { ...position, said: present };
  const next = requests[count + 1];
  const said = next === undefined ? 'Thank you, that is all.' : `Thanks. ${wish(next)}`;
  return { ...position, handled: count + 1, writes: 0, said };
}

/**
 * What a model that plays the member is told, for `withUser` of `@rlp/env`. Make the tasks with `user: 'outside'`.
 */
export function libraryDeskMember(inputs: LibraryDeskSetup): string {
  requireFields('libraryDeskMember', { database: 'object', card: 'text', requests: 'objects' }, inputs);
  const { card, requests, database } = inputs;
  const name = database.members.find((member) => member.card === card)?.name ?? 'a member';
  const wishes = requests.map(({ kind, title }, index) => `${index + 1}. ${kind} "${title}"`).join('; ');
  return (
    `You are ${name}, at the desk of a library. Your card number is ${card}: tell it only if you are asked. You want, one after the ` +
    `other: ${wishes}. Ask for one at a time, in your own words. Accept a refusal. When all are answered, say goodbye.`
  );
}

function call(name: string, args: Readonly<Record<string, string>>): string {
  return `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;
}

/** Asks for the card, then does for each request what the rules allow. */
function nextAction({ database, card, requests, handled: count, said, writes }: LibraryDeskPosition): string {
  const request = requests[count];
  if (request === undefined) return 'Goodbye.';
  if (said.startsWith('Hello')) return 'Hello! What is your card number?';
  if (writes > 0) return 'It is done.';
  const book = database.books.find(({ title }) => title === request.title);
  if (book === undefined || !isAllowed(database, card, request))
    return 'I am sorry, our rules do not allow that.';
  return call(`${request.kind}_book`, { card, bookId: book.id });
}

const firstNames = ['Ada', 'Boris', 'Chen', 'Dina', 'Elif', 'Farid', 'Greta', 'Hugo'];
const lastNames = ['Lopez', 'Novak', 'Okafor', 'Petit', 'Rossi', 'Sato', 'Tamm', 'Weber'];
const titles = [
  ...[
    'The Salt Road',
    'Winter Bees',
    'A Map of Rain',
    'Nine Bridges',
    'The Glass Orchard',
    'Low Tide',
    'Paper Lanterns',
  ],
  ...[
    'The Clockmaker',
    'Red Dust',
    'Letters from the North',
    'The Quiet Engine',
    'Harvest Moon',
    'Stone Soup',
    'The Last Ferry',
  ],
];

function drawVisit(random: RandomStream, count: number): Omit<LibraryDeskSetup, 'maxTurns' | 'user'> {
  const lasts = random.shuffle(lastNames);
  const members = random
    .shuffle(firstNames)
    .slice(0, 5)
    .map((first, index) => ({
      card: String(1000 + 1000 * index + random.integer(1000)),
      name: `${first} ${lasts[index]}`,
      fees: pick(random, [0, 0, 0, 2.5, 7, 12]),
    }));
  const [{ card }, ...others] = members as [(typeof members)[number], ...(typeof members)[number][]];
  const books = random.shuffle(titles).map((title, index) => {
    const borrower = pick(random, [null, card, card, pick(random, others).card]);
    return {
      ...{ id: `b${index + 1}`, title, borrower },
      renewals: borrower === null ? 0 : random.integer(3),
      reservedBy:
        random.uniform() < 0.3
          ? pick(
              random,
              others.filter((other) => other.card !== borrower),
            ).card
          : null,
    };
  });
  const wanted = random.shuffle(books).slice(0, count);
  const requests = wanted.map((book) => ({ kind: drawKind(random, book, card), title: book.title }));
  return { database: { members, books }, card, requests };
}

/** A request that makes sense of this book, if the member does not know the rules. */
function drawKind(random: RandomStream, { borrower }: Book, card: string): LibraryRequest['kind'] {
  return pick(random, borrower === card ? ['renew', 'renew', 'return'] : ['borrow', 'borrow', 'reserve']);
}
