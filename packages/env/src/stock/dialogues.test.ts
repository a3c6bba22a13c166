import { expect, it } from 'vitest';
import { type Dialogue, dialogue, type Turn } from './dialogue.fixture.ts';
import {
  adventure,
  arithmetic,
  calculator,
  countdown,
  frozenLake,
  keyAndDoor,
  libraryDesk,
  mastermind,
  shop,
  sokoban,
  sorting,
  sqlQuestions,
  sudoku,
  wordle,
} from './index.ts';

const unread = 'I could not read that. Expected';
const direction = `${unread} one of left, down, right, up.`;
const command = `${unread} search[words], open[id], choose[option=value], back or buy.`;
const call = (name: string, args: object) =>
  `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`;

/** A hall with a kitchen in the north and a locked cellar in the east. */
const house = {
  rooms: [
    { name: 'hall', exits: { east: 1, north: 2 } },
    { name: 'cellar', exits: { west: 0 } },
    { name: 'kitchen', exits: { south: 0 } },
  ],
  things: { lamp: 1, 'iron key': 2, coin: 2 },
  locks: { 1: 'iron key' },
  wanted: 'lamp',
  goal: 0,
};
const hall = 'You are in the hall. Exits: north, east';
const kitchen = 'You are in the kitchen.';
const cellar = 'You are in the cellar.';

/** Ten products that the catalogue `c` draws. The policy can find them all by their adjectives. */
const wish = { kind: 'shirt', attributes: ['slim', 'soft'], choices: { size: 'small', color: 'red' } };
const mall = { catalogue: 'c', products: 10, wish: { ...wish, maxPrice: 26.61 } };
const shirt = '[p3] handmade slim soft shirt $26.61';
const shirtOptions = 'size: small, medium, large; color: red, blue, white, green';
const opened = (chosen: string) => `${shirt}\n${shirtOptions}\nChosen: ${chosen}`;

const desk = {
  database: {
    members: [{ card: '1001', name: 'Ada Lopez', fees: 0 }],
    books: [
      { id: 'b1', title: 'Red Dust', borrower: '1001', renewals: 1, reservedBy: null },
      { id: 'b2', title: 'Low Tide', borrower: null, renewals: 0, reservedBy: null },
    ],
  },
  card: '1001',
  requests: [
    { kind: 'renew', title: 'Red Dust' },
    { kind: 'borrow', title: 'Low Tide' },
  ],
  user: 'scripted',
} as const;
const wishes = ['I would like to renew "Red Dust".', 'I would like to borrow "Low Tide".'] as const;

const dialogues: readonly Dialogue[] = [
  dialogue(
    adventure,
    house,
    `${hall} (locked, needs the iron key). You carry: nothing.`,
    [
      ['go south', 'There is no way there.', 0, 'refused'],
      ['go', 'There is no way there.', 0, 'refused'],
      ['go toString', 'There is no way there.', 0, 'refused'],
      ['go east', 'That door is locked.', 0, 'refused'],
      ['unlock east', 'You need the iron key.', 0, 'refused'],
      ['unlock north', 'There is nothing to unlock there.', 0, 'refused'],
      ['unlock west', 'There is nothing to unlock there.', 0, 'refused'],
      ['I go north', `${unread} go, take, drop, unlock or look.`, 0, 'refused'],
      ['sing', `${unread} go, take, drop, unlock or look.`, 0, 'refused'],
      ['**Go  the North!**', `${kitchen} You see: iron key, coin. Exits: south. You carry: nothing.`, 0],
      ['take lamp', 'There is no such thing here.', 0, 'refused'],
      ['take toString', 'There is no such thing here.', 0, 'refused'],
      ['drop coin', 'You do not carry that.', 0, 'refused'],
      [
        'take the iron key',
        `You took the iron key.\n${kitchen} You see: coin. Exits: south. You carry: iron key.`,
        0,
      ],
      ['take iron key', 'There is no such thing here.', 0, 'refused'],
      ['look', `${kitchen} You see: coin. Exits: south. You carry: iron key.`, 0],
      ['go south', `${hall} (locked, needs the iron key). You carry: iron key.`, 0],
      ['unlock the east', `The door is open.\n${hall}. You carry: iron key.`, 0],
      ['unlock east', 'There is nothing to unlock there.', 0, 'refused'],
      ['go east', `${cellar} You see: lamp. Exits: west. You carry: iron key.`, 0],
      ['take lamp', `You took the lamp.\n${cellar} Exits: west. You carry: lamp, iron key.`, 0.5],
      [
        'drop iron key',
        `You dropped the iron key.\n${cellar} You see: iron key. Exits: west. You carry: lamp.`,
        0.5,
      ],
      ['go west', `${hall}. You carry: lamp.`, 0.5],
      [
        'drop lamp',
        `You dropped the lamp.\nYou are in the hall. You see: lamp. Exits: north, east. You carry: nothing.`,
        1,
        'over',
      ],
    ],
    [
      'You dropped the lamp.\nYou are in the hall. You see: lamp. Exits: north, east. You carry: nothing.',
      '0 0 1 2 1',
    ],
  ),
  dialogue(
    adventure,
    { rooms: [{ name: 'cell', exits: {} }], things: { cup: 0 }, locks: {}, wanted: 'cup', goal: 0 },
    'You are in the cell. You see: cup. Exits: none. You carry: nothing.',
    [['look', 'You are in the cell. You see: cup. Exits: none. You carry: nothing.', 1, 'over']],
  ),
  dialogue(arithmetic, { expression: '7 / 2 - 4' }, '7 / 2 - 4 =', [
    ['minus a half', `${unread} one number.`, 0, 'refused'],
    ['', `${unread} one number.`, 0, 'refused'],
    ['-1/0', `${unread} one number.`, 0, 'refused'],
    ['x-1/2', `${unread} one number.`, 0, 'refused'],
    ['-1/2x', `${unread} one number.`, 0, 'refused'],
    ['--1/2', `${unread} one number.`, 0, 'refused'],
    ['-0.5', `${unread} one number.`, 0, 'refused'],
    ['−2 / 4', 'You answered -1/2.', 1, 'over'],
  ]),
  dialogue(arithmetic, { expression: '999 + 1' }, '999 + 1 =', [
    ['+1,000.00', 'You answered 1000.', 1, 'over'],
  ]),
  dialogue(arithmetic, { expression: '2 - 1' }, '2 - 1 =', [['11', 'You answered 11.', 0, 'over']]),
  dialogue(calculator, { expression: '12 * (3 + 4)' }, '12 * (3 + 4) =', [
    ['eighty', `${unread} one number.`, 0, 'refused'],
    [call('calculator', { expression: '12 * 3' }), '36', 0],
    [call('calculator', { expression: '12 *' }), 'Error: the expression ends too early', 0],
    [call('calculator', { expression: '1 / 3' }), '1/3', 0],
    ['84', 'You answered 84.', 1, 'over'],
  ]),
  dialogue(countdown, { numbers: [3, 3, 8, 8], target: 24 }, 'Numbers: 3, 3, 8, 8. Target: 24.', [
    ['3 * 8', 'Use each of 3, 3, 8, 8 exactly once.', 0, 'refused'],
    ['3 * 8 + 3 - 3', 'Use each of 3, 3, 8, 8 exactly once.', 0, 'refused'],
    ['3 +', 'I could not read that: the expression ends too early. Expected an expression.', 0, 'refused'],
    ['', 'I could not read that: the expression ends too early. Expected an expression.', 0, 'refused'],
    ['8 / (3 - 8 / 3', 'I could not read that: a ")" is missing. Expected an expression.', 0, 'refused'],
    ['8 / (3 - 3) * 8', 'I could not read that: it divides by zero. Expected an expression.', 0, 'refused'],
    ['3 3 8 8', 'I could not read that: "3" is not expected there. Expected an expression.', 0, 'refused'],
    ['3 * x', 'I could not read that: "x" is not a number. Expected an expression.', 0, 'refused'],
    ['3 + 3 + 8 + 8 = 24', 'Numbers: 3, 3, 8, 8. Target: 24. Last value: 22.', 0.1],
    ['3 * 8', 'Use each of 3, 3, 8, 8 exactly once.', 0.1, 'refused'],
    ['3 / 8 + 3 / 8', 'Numbers: 3, 3, 8, 8. Target: 24. Last value: 3/4.', 0.1],
    ['8 ÷ (3 − 8 ÷ 3) = 23', 'Numbers: 3, 3, 8, 8. Target: 24. Last value: 24.', 1, 'over'],
  ]),
  dialogue(countdown, { numbers: [4, 6], target: 24 }, 'Numbers: 4, 6. Target: 24.', [
    ['6 × 4', 'Numbers: 4, 6. Target: 24. Last value: 24.', 1, 'over'],
  ]),
  dialogue(
    frozenLake,
    { rows: ['SFH', 'FFF', 'HFG'], successRate: 1 },
    '@FH\nFFF\nHFG',
    [
      ['north', direction, 0, 'refused'],
      ['up', '@FH\nFFF\nHFG', 0],
      ['left', '@FH\nFFF\nHFG', 0],
      ['r', 'S@H\nFFF\nHFG', 0],
      ['d', 'SFH\nF@F\nHFG', 0],
      ['u', 'S@H\nFFF\nHFG', 0],
      ['Down.', 'SFH\nF@F\nHFG', 0],
      ['right', 'SFH\nFF@\nHFG', 0],
      ['right', 'SFH\nFF@\nHFG', 0],
      ['down', 'SFH\nFFF\nHF@', 1, 'over'],
    ],
    ['SFH\nFFF\nHF@', '8'],
  ),
  dialogue(frozenLake, { rows: ['SFH', 'FFF', 'HFG'], successRate: 1 }, '@FH\nFFF\nHFG', [
    ['right', 'S@H\nFFF\nHFG', 0],
    ['right', 'SF@\nFFF\nHFG', 0, 'over'],
  ]),
  dialogue(
    keyAndDoor,
    { rows: ['SK#.', '..DG'] },
    '@K#.\n..DG\nKey: no',
    [
      ['go', direction, 0, 'refused'],
      ['up', '@K#.\n..DG\nKey: no', 0],
      ['down', 'SK#.\n@.DG\nKey: no', 0],
      ['right', 'SK#.\n.@DG\nKey: no', 0],
      ['right', 'SK#.\n.@DG\nKey: no', 0],
      ['up', 'S@#.\n..DG\nKey: yes', 0.5],
      ['right', 'S@#.\n..DG\nKey: yes', 0.5],
      ['down', 'S.#.\n.@DG\nKey: yes', 0.5],
      ['right', 'S.#.\n..@G\nKey: yes', 0.5],
      ['right', 'S.#.\n..D@\nKey: yes', 1, 'over'],
    ],
    ['S.#.\n..D@\nKey: yes', '7k'],
  ),
  dialogue(libraryDesk, desk, `Hello. ${wishes[0]}`, [
    ['Hello! What is your card number?', 'My card number is 1001.', 0],
    [call('renew_book', { card: '1001', bookId: 'b1' }), 'done', 0],
    ['It is renewed.', `Thanks. ${wishes[1]}`, 0],
    ['   ', `Sorry? ${wishes[1]}`, 0],
    [call('borrow_book', { card: '1001', bookId: 'b2' }), 'done', 0],
    ['Here you are.', 'Thank you, that is all.', 1, 'over'],
  ]),
  dialogue(
    mastermind,
    { secret: [1, 2, 2], colors: 4 },
    'No guesses yet.',
    [
      ['125', `${unread} 3 digits from 1 to 4.`, 0, 'refused'],
      ['012', `${unread} 3 digits from 1 to 4.`, 0, 'refused'],
      ['12', `${unread} 3 digits from 1 to 4.`, 0, 'refused'],
      ['1 2 2 1', `${unread} 3 digits from 1 to 4.`, 0, 'refused'],
      ['1x2', `${unread} 3 digits from 1 to 4.`, 0, 'refused'],
      ['333', '333: 0 black, 0 white', 0],
      ['3 1 3', '313: 0 black, 1 white', 1 / 12],
      ['2, 2, 1', '221: 1 black, 2 white', 1 / 3],
      ['444', '444: 0 black, 0 white', 1 / 3],
      ['1,2,2', '122: 3 black, 0 white', 1, 'over'],
    ],
    [
      '333: 0 black, 0 white\n313: 0 black, 1 white\n221: 1 black, 2 white\n444: 0 black, 0 white\n122: 3 black, 0 white',
      '333: 0 black, 0 white\n313: 0 black, 1 white\n221: 1 black, 2 white\n444: 0 black, 0 white\n122: 3 black, 0 white',
    ],
  ),
  dialogue(
    shop,
    mall,
    'The shop is open. No results.',
    [
      ['look', command, 0, 'refused'],
      ['please buy', command, 0, 'refused'],
      ['buy now', command, 0, 'refused'],
      ['buy', 'Open a product first.', 0, 'refused'],
      ['choose[size=small]', 'Open a product first.', 0, 'refused'],
      ['open[p3]', 'Open one of the ids that the search found.', 0, 'refused'],
      ['search[mug]', 'The shop is open. No results.', 0],
      ['search[sof]', 'The shop is open. No results.', 0],
      // Two of the words come before one of them. Equals stay in the order of the catalogue.
      [
        'SEARCH [Soft, slim!]',
        `${shirt}\n[p4] foldable slim handmade jacket $71.48\n[p5] light soft organic shirt $15.17\n` +
          '[p6] slim light waterproof headphones $75.54\n[p8] waterproof slim light shirt $30.82',
        0,
      ],
      ['open[p1]', 'Open one of the ids that the search found.', 0, 'refused'],
      ['open[__proto__]', 'Open one of the ids that the search found.', 0, 'refused'],
      ['Open[ P3 ]', opened('nothing'), 0],
      ['choose[size=tiny]', `Expected one of ${shirtOptions}.`, 0, 'refused'],
      ['choose[toString=small]', `Expected one of ${shirtOptions}.`, 0, 'refused'],
      ['choose[size]', `Expected one of ${shirtOptions}.`, 0, 'refused'],
      ['choose[ size = Large ]', opened('size=large'), 0],
      ['choose[color=red]', opened('size=large, color=red'), 0],
      ['choose[size=small]', opened('size=small, color=red'), 0],
      ['open[p3]', opened('nothing'), 0],
      ['choose[size=small]', opened('size=small'), 0],
      ['search[soft]', `${shirt}\n[p5] light soft organic shirt $15.17`, 0],
      ['open[p3]', opened('nothing'), 0],
      ['choose[size=small]', opened('size=small'), 0],
      ['back', `${shirt}\n[p5] light soft organic shirt $15.17`, 0],
      ['open[p3]', opened('nothing'), 0],
      ['choose[size=small]', opened('size=small'), 0],
      ['choose[color=red]', opened('size=small, color=red'), 0],
      ['buy', 'You bought handmade slim soft shirt.', 1, 'over'],
    ],
    ['You bought handmade slim soft shirt.', '[["p3","p5"],"p3",{"size":"small","color":"red"},true]'],
  ),
  dialogue(
    sokoban,
    { rows: ['######', '#@$.$#', '#  . #', '######'] },
    '######\n#@$.$#\n#  . #\n######',
    [
      ['go', direction, 0, 'refused'],
      ['up', '######\n#@$.$#\n#  . #\n######', 0],
      ['right', '######\n# @*$#\n#  . #\n######', 0.5],
      // Neither into another box nor through a wall.
      ['right', '######\n# @*$#\n#  . #\n######', 0.5],
      ['down', '######\n#  *$#\n# @. #\n######', 0.5],
      ['right', '######\n#  *$#\n#  + #\n######', 0.5],
      ['up', '######\n#  *$#\n#  + #\n######', 0.5],
      ['r', '######\n#  *$#\n#  .@#\n######', 0.5],
      ['l', '######\n#  *$#\n#  + #\n######', 0.5],
    ],
    ['######\n#  *$#\n#  + #\n######', '######\n#  *$#\n#  + #\n######'],
  ),
  dialogue(sokoban, { rows: ['@ '] }, '@ ', [['right', ' @', 1, 'over']]),
  dialogue(
    sorting,
    { numbers: [30, 1, 22] },
    '30 1 22',
    [
      ['9 1', `${unread} two places from 1 to 3, such as: 1 2`, 0, 'refused'],
      ['1 4', `${unread} two places from 1 to 3, such as: 1 2`, 0, 'refused'],
      ['0 1', `${unread} two places from 1 to 3, such as: 1 2`, 0, 'refused'],
      ['12', `${unread} two places from 1 to 3, such as: 1 2`, 0, 'refused'],
      ['1 2 3', `${unread} two places from 1 to 3, such as: 1 2`, 0, 'refused'],
      ['x 1 2', `${unread} two places from 1 to 3, such as: 1 2`, 0, 'refused'],
      ['1 2 x', `${unread} two places from 1 to 3, such as: 1 2`, 0, 'refused'],
      ['2 2', '30 1 22', 0],
      ['1, 3', '22 1 30', 1 / 3],
      ['001 , 003', '30 1 22', 0],
      ['1 2', '1 30 22', 1 / 3],
      ['3 2', '1 22 30', 1, 'over'],
    ],
    ['1 22 30', '1 22 30'],
  ),
  dialogue(
    sqlQuestions,
    { sql: 'x', question: 'Who?', answer: 'Ada', query: 'x' },
    'Who?',
    [
      ['', 'Expected an answer.', 0, 'refused'],
      ['**ADA**.', 'You answered ada.', 1, 'over'],
    ],
    ['Who?', 'Who?'],
  ),
  dialogue(sqlQuestions, { sql: 'x', question: 'Who?', answer: 'Ada', query: 'x' }, 'Who?', [
    ['Ada or Bo', 'You answered ada or bo.', 0, 'over'],
  ]),
  dialogue(
    sudoku,
    // Only the box has a 4 already where the first cell could take one.
    { givens: '0230341221430321' },
    '.23.\n3412\n2143\n.321',
    [
      ['1 2 4', 'That cell is given. Choose another one.', 0, 'refused'],
      ['1 1 5', `${unread} row, column and digit, such as: 1 2 3`, 0, 'refused'],
      ['0 1 1', `${unread} row, column and digit, such as: 1 2 3`, 0, 'refused'],
      ['1 5 1', `${unread} row, column and digit, such as: 1 2 3`, 0, 'refused'],
      ['1 1', `${unread} row, column and digit, such as: 1 2 3`, 0, 'refused'],
      ['at 1 1 1', `${unread} row, column and digit, such as: 1 2 3`, 0, 'refused'],
      ['1 1 1 1', `${unread} row, column and digit, such as: 1 2 3`, 0, 'refused'],
      ['1 1 4', '4 is in its row, column or box already.', 0, 'refused'],
      ['1 1 3', '3 is in its row, column or box already.', 0, 'refused'],
      ['114', '4 is in its row, column or box already.', 0, 'refused'],
      ['1, 1, 1', '123.\n3412\n2143\n.321', 1 / 3],
      ['1 1 1', '123.\n3412\n2143\n.321', 1 / 3],
      ['1 1 0', '.23.\n3412\n2143\n.321', 0],
      ['111', '123.\n3412\n2143\n.321', 1 / 3],
      ['1 4 4', '1234\n3412\n2143\n.321', 2 / 3],
      ['4 1 4', '1234\n3412\n2143\n4321', 1, 'over'],
    ],
    ['1234\n3412\n2143\n4321', '1234341221434321'],
  ),
  dialogue(sudoku, { givens: '1234341221434321' }, '1234\n3412\n2143\n4321', [
    ['1 1 1', 'That cell is given. Choose another one.', 1, 'over'],
  ]),
  dialogue(
    wordle,
    { secret: 'allee' },
    'No guesses yet.',
    [
      ['hell no', `${unread} a word of five letters.`, 0, 'refused'],
      ['four', `${unread} a word of five letters.`, 0, 'refused'],
      ['sixsix', `${unread} a word of five letters.`, 0, 'refused'],
      ['abc12', `${unread} a word of five letters.`, 0, 'refused'],
      ['*Eagle*!', 'eagle YYXYG', 0.1],
      ['apple', 'apple GXXYG', 0.2],
      ['zzzzz', 'zzzzz XXXXX', 0.2],
      ['alley', 'alley GGGGX', 0.5],
      ['allee', 'allee GGGGG', 1, 'over'],
    ],
    [
      'eagle YYXYG\napple GXXYG\nzzzzz XXXXX\nalley GGGGX\nallee GGGGG',
      'eagle YYXYG\napple GXXYG\nzzzzz XXXXX\nalley GGGGX\nallee GGGGG',
    ],
  ),
];

// Every expected text, score and end was derived from the rules by hand.
it.each(dialogues.map((each, index) => [each.game, index, each] as const))(
  '%s answers, scores and ends as its rules say (dialogue %i)',
  async (_, __, { opening, turns, last, play, end }) => {
    const [[, first], ...heard] = (await play()) as [Turn, ...Turn[]];
    expect(first).toBe(opening);
    for (const [place, turn] of turns.entries()) {
      const [said, text, score, ...mark] = turn;
      expect(heard[place]).toEqual([said, text, expect.closeTo(score, 12), ...mark]);
    }
    if (last !== undefined) expect(await end()).toEqual(last);
  },
);
