import { describe, expect, it } from 'vitest';
import { isReasoningAnswer, type ReasoningMetadata, reasoningTasks } from './index.ts';

/** What is right and what is not, for an answer of a family. Families that are not here compare as `caesar` or as `gcd` does. */
type Grades = readonly [
  family: string,
  answer: string,
  right: readonly string[],
  wrong: readonly string[],
  data?: unknown,
];

const grades: readonly Grades[] = [
  [
    'gcd',
    '-1200',
    ['-1200', '−1200', '-1,200', '-1200.00', ' -01200 . ', 'So:\n-1200.'],
    [
      '1200',
      '--1200',
      '-12,00',
      '-1,20,0',
      '-1200.5',
      '-1200...',
      '-1200 m',
      'x -1200',
      '-1200-',
      '-1.200',
      '−−1200',
    ],
  ],
  ['lcm', '7', ['+7', '7.0', '07'], ['+', '7,', ',7', '.7', '7 7', '0x7', '7e0']],
  ['chain-sum', '1234567', ['1,234,567', '1234,567'], ['1 234 567', '12,34,567', '1,234,56']],
  [
    'linear-equation',
    '-3',
    ['x = -3', 'X=-3', ' x  =  -3.', '-3'],
    ['y = -3', 'x -3', '-3 = x', '2x = -3', 'x = x = -3'],
  ],
  [
    'prime-factors',
    '2 x 3 x 3',
    ['2x3x3', '2 × 3 * 3', '2·3·3.', '2 X 3 X 3'],
    ['3 x 2 x 3', '18', '2 x 9', '2 3 3', '2 x 3 x 3 x 1'],
  ],
  [
    'unit-conversion',
    '12',
    ['12', '12 km', '12km.', '12 days', '12.0 KM'],
    ['12 km 0', 'km 12', '1 2 km', '12 k2', '12 km/h'],
  ],
  ['base-conversion', 'ff', ['FF', ' ff. '], ['0xff', 'f f', '255']],
  [
    'caesar',
    'night owl',
    ['Night  Owl', 'night owl.', ' night\towl'],
    ['nightowl', 'night, owl', 'night owl..', 'owl night'],
  ],
  [
    'sort-words',
    'apple, pear',
    ['apple,pear', 'Apple , pear.', 'apple,  pear'],
    ['pear, apple', 'apple pear', 'apple; pear', 'apple,, pear'],
  ],
  [
    'unscramble',
    'heart night',
    ['earth thing', 'HEART, NIGHT', ' heart,night.', 'heart\tnight'],
    ['heart', 'night heart', 'heart night thing', 'hater night', 'heart thine', ''],
    'rtaeh ghtin',
  ],
  ['rewriting', 'acb', ['"acb"', "'ACB'.", 'a c b'], ['abc', 'acbb', 'a,c,b', '']],
  ['sets', '1, 12', ['1,12', '{1, 12}', '{ 1 ,12 }.'], ['112', '12, 1', '1 12', '1, 12, 13']],
  ['sets', 'none', ['none', 'None.', '{none}'], ['{}', '', 'no']],
  ['brackets', 'yes', ['Yes', 'YES.'], ['no', 'yes no', 'y']],
  ['clock-time', '09:05', ['09:05', '09:05.'], ['9:05', '09.05', '21:05', '09:05 am']],
  [
    'knights-and-knaves',
    'Ann: knight, Bo: knave',
    ['ann: knight,bo: knave.', 'Ann: Knight,  Bo: Knave'],
    ['Bo: knave, Ann: knight', 'Ann: knave, Bo: knight', 'Ann: knight'],
  ],
  ['where-am-i', '3 north, 2 east', ['3 North,2 east'], ['2 east, 3 north', '3 north 2 east']],
  [
    'game-of-life',
    '#./.#',
    ['#./.#', '#. / .#', '`#./.#`', '<answer>#.\n.#</answer>', '#..#'],
    ['.#/#.', '#./.#/..', 'x#./.#', '#./.# ok', ''],
  ],
  ['rotate-grid', '##/#.', ['##/#.', '##/#..'], ['##/#', '##/#...', '##/##']],
  [
    'route',
    'A-B-D',
    ['a-b-d', 'A - C - D.', 'A-B-D.'],
    ['A-D', 'B-D', 'A-B', 'A-B-C-D', 'A-X-D', 'D-B-A', 'A–B–D', 'A-B-D-'],
    { nodes: ['A', 'B', 'C', 'D'], edges: { 'A-B': 1, 'B-D': 2, 'A-C': 2, 'C-D': 1, 'A-D': 4, 'B-C': 9 } },
  ],
];

describe.each(grades.map((grade) => [grade[0], grade[1], grade] as const))(
  '%s, answer %s',
  (family, answer, [, , right, wrong, data]) => {
    const metadata: ReasoningMetadata = {
      family,
      difficulty: 0,
      answer,
      ...(data !== undefined && { data }),
    };

    it('takes its forms', () => {
      for (const response of right)
        expect([response, isReasoningAnswer(response, metadata)]).toEqual([response, true]);
    });

    it('takes no others', () => {
      for (const response of wrong)
        expect([response, isReasoningAnswer(response, metadata)]).toEqual([response, false]);
    });
  },
);

it('compares answers of families without a check of their own as text', () => {
  const metadata = { family: 'constructor', difficulty: 0, answer: 'A , B' };
  expect(['a,b', 'a, b.', 'b, a'].map((text) => isReasoningAnswer(text, metadata))).toEqual([
    true,
    true,
    false,
  ]);
});

it('reasoningTasks take the edges of their options, and refuse what is beyond', () => {
  for (const fits of [{ difficulty: 0 }, { difficulty: 1 }, { weights: { gcd: 0 } }, { families: ['gcd'] }])
    expect(reasoningTasks({ count: 1, ...fits })).toHaveLength(1);
  for (const wrong of [
    { count: 0 },
    { count: 1_000_001 },
    { difficulty: -0.01 },
    { difficulty: 1.01 },
    { families: [] },
    { families: ['toString'] },
    { weights: { gcd: -1 } },
    { seed: 7 as never },
  ])
    expect(() => reasoningTasks({ count: 1, ...wrong }), JSON.stringify(wrong)).toThrow(
      new RegExp(`reasoningTasks: [\\s\\S]*${Object.keys(wrong).at(-1)}`),
    );
});
