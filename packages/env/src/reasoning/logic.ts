import type { RandomStream } from '@rlp/core';
import { between, pick, scaled } from '../draws.ts';
import { type Families, isNumber, sample } from './family.ts';

const names = [
  'Anna',
  'Bela',
  'Carl',
  'Dora',
  'Emil',
  'Fay',
  'Gus',
  'Hana',
  'Ivan',
  'Jana',
  'Kurt',
  'Lena',
  'Milo',
  'Nora',
  'Otto',
  'Pia',
];
const variables = ['A', 'B', 'C', 'D'] as const;

/** A formula with its text and its value in each world, a world being bits of the variables. */
interface Formula {
  readonly text: string;
  holds(world: number): boolean;
}

function drawFormula(random: RandomStream, size: number, count: number): Formula {
  if (size === 0) {
    const index = random.integer(count);
    return { text: variables[index]!, holds: (world) => ((world >> index) & 1) === 1 };
  }
  if (random.uniform() < 0.25) {
    const inner = drawFormula(random, size - 1, count);
    return { text: `not ${inner.text}`, holds: (world) => !inner.holds(world) };
  }
  const leftSize = random.integer(size);
  const [left, right] = [
    drawFormula(random, leftSize, count),
    drawFormula(random, size - 1 - leftSize, count),
  ];
  const [word, join] = pick(random, [
    ['and', (a: boolean, b: boolean) => a && b],
    ['or', (a: boolean, b: boolean) => a || b],
    ['implies', (a: boolean, b: boolean) => !a || b],
  ] as const);
  return {
    text: `(${left.text} ${word} ${right.text})`,
    holds: (world) => join(left.holds(world), right.holds(world)),
  };
}

/** Whether a conclusion "all/no/some a are c" holds in every world of three terms where the premises do. Worlds say which kinds of things exist. */
type Statement = readonly [form: 'all' | 'no' | 'some', subject: number, object: number];

function isTrue([form, subject, object]: Statement, kinds: readonly number[]): boolean {
  const has = (kind: number, term: number) => ((kind >> term) & 1) === 1;
  const ofSubject = kinds.filter((kind) => has(kind, subject));
  if (form === 'all') return ofSubject.every((kind) => has(kind, object));
  if (form === 'no') return ofSubject.every((kind) => !has(kind, object));
  return ofSubject.some((kind) => has(kind, object));
}

function follows(premises: readonly Statement[], conclusion: Statement): boolean {
  for (let world = 0; world < 256; world++) {
    const kinds = Array.from({ length: 8 }, (_, kind) => kind).filter((kind) => (world >> kind) & 1);
    if (premises.every((premise) => isTrue(premise, kinds)) && !isTrue(conclusion, kinds)) return false;
  }
  return true;
}

/** What an islander says: a statement about who is a knight, as text and as a test of a world (bits of knights). */
function drawClaim(random: RandomStream, people: readonly string[], speaker: number): Formula {
  const others = people.map((_, index) => index).filter((index) => index !== speaker);
  const [a, b] = random.shuffle(others) as [number, number?];
  const isKnight = (world: number, person: number) => ((world >> person) & 1) === 1;
  const kind = pick(
    random,
    b === undefined ? ['knight', 'knave', 'same'] : ['knight', 'knave', 'same', 'both', 'either'],
  );
  const [first, second] = [people[a]!, people[b ?? a]!];
  if (kind === 'knight') return { text: `${first} is a knight`, holds: (world) => isKnight(world, a) };
  if (kind === 'knave') return { text: `${first} is a knave`, holds: (world) => !isKnight(world, a) };
  if (kind === 'same')
    return {
      text: `${first} and I are of the same kind`,
      holds: (world) => isKnight(world, a) === isKnight(world, speaker),
    };
  if (kind === 'both')
    return {
      text: `${first} and ${second} are both knights`,
      holds: (world) => isKnight(world, a) && isKnight(world, b!),
    };
  return {
    text: `${first} is a knave or ${second} is a knave`,
    holds: (world) => !isKnight(world, a) || !isKnight(world, b!),
  };
}

function knights(random: RandomStream, count: number) {
  for (;;) {
    const people = sample(random, names, count);
    const claims = people.map((_, speaker) => drawClaim(random, people, speaker));
    const worlds = Array.from({ length: 2 ** count }, (_, world) => world).filter((world) =>
      claims.every(({ holds }, speaker) => holds(world) === (((world >> speaker) & 1) === 1)),
    );
    if (worlds.length !== 1) continue;
    const said = people.map((name, speaker) => `${name} says: "${claims[speaker]!.text}."`).join(' ');
    const answer = people
      .map((name, index) => `${name}: ${(worlds[0]! >> index) & 1 ? 'knight' : 'knave'}`)
      .join(', ');
    return {
      question: `Knights always tell the truth, knaves always lie. ${said} Who is what? Answer such as "${people[0]}: knight, ${people[1]}: knave", in the order of speaking.`,
      answer,
    };
  }
}

/** Steps up and down a family tree, and what they are called. */
const relations: Readonly<Record<string, string>> = {
  u: 'parent',
  d: 'child',
  uu: 'grandparent',
  dd: 'grandchild',
  ud: 'sibling',
  udd: 'niece or nephew',
  uud: 'uncle or aunt',
  uuu: 'great-grandparent',
  ddd: 'great-grandchild',
  uudd: 'cousin',
};

function family(random: RandomStream, difficulty: number) {
  const path = pick(
    random,
    Object.keys(relations).filter((steps) => steps.length <= scaled(difficulty, 2, 4)),
  );
  const people = sample(random, names, path.length + 1);
  const facts = [...path].map((step, index) => {
    const [from, to] = [people[index]!, people[index + 1]!];
    return step === 'u' ? `${to} is a parent of ${from}.` : `${from} is a parent of ${to}.`;
  });
  const answer = relations[path]!;
  const all = Object.values(relations).join(', ');
  return {
    question:
      `${random.shuffle(facts).join(' ')} All of them are different people, and children of the same person are siblings. ` +
      `What is ${people.at(-1)} to ${people[0]}? Answer with one of: ${all}.`,
    answer,
  };
}

/** Families about logic and relations. */
export const logicFamilies: Families = {
  'truth-table': {
    draw: (random, difficulty) => {
      const count = scaled(difficulty, 2, 4);
      const { text, holds } = drawFormula(random, scaled(difficulty, 2, 7), count);
      const true_ = Array.from({ length: 2 ** count }, (_, world) => world).filter((world) =>
        holds(world),
      ).length;
      return {
        question: `Each of ${variables.slice(0, count).join(', ')} is true or false. For how many of the ${2 ** count} cases is this true? ${text}`,
        answer: String(true_),
      };
    },
    check: isNumber,
  },
  syllogism: {
    draw: (random, difficulty) => {
      const terms = sample(random, ['poets', 'sailors', 'dancers', 'bakers', 'runners', 'painters'], 3) as [
        string,
        string,
        string,
      ];
      const forms = difficulty < 0.4 ? (['all', 'no'] as const) : (['all', 'no', 'some'] as const);
      const turned = (subject: number, object: number): Statement =>
        difficulty > 0.5 && random.uniform() < 0.5
          ? [pick(random, forms), object, subject]
          : [pick(random, forms), subject, object];
      const premises = [turned(0, 1), turned(1, 2)];
      const conclusion: Statement = [pick(random, forms), 0, 2];
      const text = ([form, subject, object]: Statement) => `${form} ${terms[subject]} are ${terms[object]}`;
      return {
        question:
          `Suppose that ${premises.map(text).join(', and ')}. Does it follow that ${text(conclusion)}? There may be no ${terms.join(', no ')}. ` +
          'Answer yes or no.',
        answer: follows(premises, conclusion) ? 'yes' : 'no',
      };
    },
  },
  'knights-and-knaves': { draw: (random, difficulty) => knights(random, scaled(difficulty, 2, 5)) },
  'family-relations': { draw: family },
  sets: {
    draw: (random, difficulty) => {
      const bound = scaled(difficulty, 9, 30);
      const draw = () =>
        sample(
          random,
          Array.from({ length: bound }, (_, index) => index + 1),
          between(random, 3, scaled(difficulty, 5, 12)),
        );
      const [a, b] = [draw(), draw()];
      const [words, join] = pick(random, [
        ['both in A and in B', () => a.filter((item) => b.includes(item))],
        ['in A or in B or in both', () => [...new Set([...a, ...b])]],
        ['in A and not in B', () => a.filter((item) => !b.includes(item))],
        [
          'in exactly one of A and B',
          () => [...a.filter((item) => !b.includes(item)), ...b.filter((item) => !a.includes(item))],
        ],
      ] as const);
      const answer =
        join()
          .toSorted((x, y) => x - y)
          .join(', ') || 'none';
      return {
        question: `A = {${a.join(', ')}}. B = {${b.join(', ')}}. Which numbers are ${words}? Answer with numbers and commas, the smallest first, or none.`,
        answer,
      };
    },
    check: (text, { answer }) => text.replaceAll(/[{}\s.]/g, '').toLowerCase() === answer.replaceAll(' ', ''),
  },
};
