import { RandomStream } from '@rlp/core';
import { describe, expect, it } from 'vitest';
import { isReasoningAnswer, type ReasoningMetadata, reasoningFamilies, reasoningTasks } from './index.ts';

const difficulties = [0, 0.3, 0.6, 1];

/** Questions of a family, without the line about the form of the answer. */
function draw(family: string) {
  return difficulties.flatMap((difficulty) =>
    reasoningTasks({ count: 40, families: [family], difficulty }).map(({ prompt, metadata }) => ({
      question: String(prompt).slice(0, String(prompt).lastIndexOf('\n')),
      metadata,
    })),
  );
}

const numbersIn = (text: string) => (text.match(/-?\d+/g) ?? []).map(Number);
const range = (count: number) => Array.from({ length: count }, (_, index) => index);
const compass = ['north', 'east', 'south', 'west'];

/** Evaluates a formula of truth values as JavaScript. It holds the letters A to D and words for operators only. */
function holds(formula: string, world: number): boolean {
  const text = formula.replaceAll(/[A-D]/g, (name) =>
    String(Boolean((world >> (name.charCodeAt(0) - 65)) & 1)),
  );
  let now = text;
  const rules: [RegExp, (...parts: string[]) => string][] = [
    [/not (true|false)/, (_, a) => String(a === 'false')],
    [/\((true|false) and (true|false)\)/, (_, a, b) => String(a === 'true' && b === 'true')],
    [/\((true|false) or (true|false)\)/, (_, a, b) => String(a === 'true' || b === 'true')],
    [/\((true|false) implies (true|false)\)/, (_, a, b) => String(a === 'false' || b === 'true')],
  ];
  while (now !== 'true' && now !== 'false') {
    const before = now;
    for (const [pattern, result] of rules) now = now.replace(pattern, result);
    if (now === before) throw new Error(`cannot read ${now}`);
  }
  return now === 'true';
}

/** Follows a walk on the plane. Returns the place and the heading. */
function follow(question: string) {
  let heading = compass.indexOf(/You look (\w+)/.exec(question)![1]!);
  let [x, y] = [0, 0];
  for (const [, turn, steps] of question.matchAll(/(turn left|turn right|walk (\d+) steps)/g)) {
    if (turn === 'turn left') heading = (heading + 3) % 4;
    else if (turn === 'turn right') heading = (heading + 1) % 4;
    else {
      for (let step = 0; step < Number(steps); step++) {
        if (heading === 0) y++;
        if (heading === 1) x++;
        if (heading === 2) y--;
        if (heading === 3) x--;
      }
    }
  }
  return { x, y, heading: compass[heading]! };
}

/** All distances by Floyd and Warshall, read from the roads of the question. */
function allDistances(question: string): (a: string, b: string) => number {
  const distance = new Map<string, number>();
  const nodes = new Set<string>();
  for (const [, a, b, length] of question.matchAll(/([A-J])-([A-J]): (\d)/g)) {
    for (const [x, y] of [
      [a!, b!],
      [b!, a!],
    ])
      distance.set(`${x}${y}`, Number(length));
    nodes.add(a!).add(b!);
  }
  const of = (a: string, b: string) => (a === b ? 0 : (distance.get(a + b) ?? Infinity));
  for (const k of nodes)
    for (const i of nodes)
      for (const j of nodes) distance.set(i + j, Math.min(of(i, j), of(i, k) + of(k, j)));
  return of;
}

const grid = (question: string) => question.split('\n').filter((line) => /^[#.]+$/.test(line));

/**
 * A second way to each answer, which reads only the question: by brute force, by the language's own library, or by putting the answer in.
 * Returns whether the answer is right.
 */
const second: Readonly<Record<string, (question: string, metadata: ReasoningMetadata) => boolean>> = {
  'chain-sum': (question, { answer }) =>
    question
      .replaceAll(/ ([+-]) /g, ' $1')
      .match(/[+-]?\d+/g)!
      .reduce((sum, term) => sum + Number(term), 0) === Number(answer),
  gcd: (question, { answer }) => {
    const [a, b] = numbersIn(question) as [number, number];
    return range(Math.min(a, b) + 1).findLast((d) => d > 0 && a % d === 0 && b % d === 0) === Number(answer);
  },
  lcm: (question, { answer }) => {
    const [a, b] = numbersIn(question) as [number, number];
    return range(a * b + 1).find((m) => m > 0 && m % a === 0 && m % b === 0) === Number(answer);
  },
  'base-conversion': (question, { answer }) => {
    const [, digits, from, to] = /number (\w+), which is in base (\d+), in base (\d+)/.exec(question)!;
    return Number.parseInt(digits!, Number(from)) === Number.parseInt(answer, Number(to));
  },
  'linear-equation': (question, { answer }) => {
    const side = (text: string, x: number) =>
      [...text.replaceAll(' ', '').matchAll(/([+-]?\d+)(x?)/g)].reduce(
        (sum, [, n, name]) => sum + Number(n) * (name ? x : 1),
        0,
      );
    const [left, right] = question.replace('Solve for x: ', '').split('=') as [string, string];
    return (
      range(4001)
        .map((n) => n - 2000)
        .filter((x) => side(left, x) === side(right, x))
        .join() === answer
    );
  },
  polynomial: (question, { answer }) => {
    const [, at, text] = /p\((-?\d+)\) for p\(x\) = (.*)\?/.exec(question)!;
    const terms = [...text!.replaceAll(' ', '').matchAll(/([+-]?\d+)(x?)(?:\^(\d))?/g)];
    return (
      terms.reduce(
        (sum, [, n, x, power]) => sum + Number(n) * (x ? Number(at) ** Number(power ?? 1) : 1),
        0,
      ) === Number(answer)
    );
  },
  'number-sequence': (question, { answer }) => {
    const terms = [...numbersIn(question), Number(answer)];
    const rules = [
      (n: number) => terms[n]! - terms[n - 1]! === terms[1]! - terms[0]!,
      (n: number) => terms[n]! / terms[n - 1]! === terms[1]! / terms[0]!,
      (n: number) => terms[n]! === terms[n - 1]! + terms[n - 2]!,
      (n: number) => terms[n]! - 2 * terms[n - 1]! + terms[n - 2]! === 2,
    ];
    return rules.some((rule) => range(terms.length).slice(2).every(rule));
  },
  'prime-factors': (question, { answer }) => {
    const factors = numbersIn(answer);
    const isPrime = (n: number) =>
      range(n)
        .slice(2)
        .every((d) => n % d !== 0);
    const isOrdered = factors.every((factor, index) => index === 0 || factors[index - 1]! <= factor);
    return isOrdered && factors.every(isPrime) && factors.reduce((a, b) => a * b) === numbersIn(question)[0];
  },
  remainder: (question, { answer }) => {
    const [base, power, modulus] = numbersIn(question) as [number, number, number];
    return BigInt(base) ** BigInt(power) % BigInt(modulus) === BigInt(answer);
  },
  'count-letters': (question, { answer }) => {
    const [, letter, text] = /letter "(.)" in "(.*)"/.exec(question)!;
    return [...text!].filter((other) => other === letter).length === Number(answer);
  },
  'sort-words': (question, { answer }) => {
    const given = question.split(': ')[1]!.split(', ');
    const sorted = answer.split(', ');
    return (
      given.every((word) => sorted.includes(word)) &&
      sorted.length === given.length &&
      sorted.every((word, n) => n === 0 || sorted[n - 1]! < word)
    );
  },
  unscramble: (question, { answer }) => {
    const bag = (text: string) =>
      text
        .split(' ')
        .map((word) => [...word].toSorted().join(''))
        .join(' ');
    return bag(question.split(': ')[1]!) === bag(answer);
  },
  caesar: (question, { answer }) => {
    const by = numbersIn(question)[0]!;
    const code = (letter: string) => letter.charCodeAt(0) - 97;
    const cipher = question.split(': ')[1]!;
    return [...cipher].every((letter, n) =>
      letter === ' ' ? answer[n] === ' ' : (code(letter) - code(answer[n]!) + 26) % 26 === by % 26,
    );
  },
  'reverse-text': (question, { answer }) => {
    const text = question.split(': ')[1]!;
    return text.length === answer.length && range(text.length).every((n) => text[n] === answer.at(-1 - n));
  },
  brackets: (question, { answer }) => {
    let text = question.split('. ').at(-1)!;
    for (let before = ''; before !== text; ) {
      before = text;
      text = text.replaceAll('()', '').replaceAll('[]', '').replaceAll('{}', '');
    }
    return answer === (text === '' ? 'yes' : 'no');
  },
  rewriting: (question, { answer }) => {
    const rules = [...question.matchAll(/"(\w+)" becomes "(\w+)"/g)].map(
      ([, from, to]) => [from!, to!] as const,
    );
    let text = /left of "(\w+)"/.exec(question)![1]!;
    for (let place = 0, rule = 0; rule < rules.length; ) {
      const [from, to] = rules[rule]!;
      if (place > text.length) [rule, place] = [rule + 1, 0];
      else if (text.startsWith(from, place))
        [text, rule, place] = [text.slice(0, place) + to + text.slice(place + from.length), 0, 0];
      else place++;
    }
    return text === answer;
  },
  'truth-table': (question, { answer }) => {
    const [, list, formula] = /^Each of (.*) is true.*true\? (.*)$/.exec(question)!;
    return (
      range(2 ** list!.split(', ').length).filter((world) => holds(formula!, world)).length === Number(answer)
    );
  },
  syllogism: (question, { answer }) => {
    // Random worlds of up to six individuals. A counterexample of three terms needs at most two.
    const statements = [...question.matchAll(/(all|no|some) (\w+) are (\w+)/g)].map(([, form, a, b]) => ({
      form,
      a: a!,
      b: b!,
    }));
    const terms = [...new Set(statements.flatMap(({ a, b }) => [a, b]))];
    const people = range(8).map((kind) => new Set(terms.filter((_, n) => (kind >> n) & 1)));
    const isTrue = ({ form, a, b }: (typeof statements)[number], world: Set<string>[]) => {
      const both = world.some((one) => one.has(a) && one.has(b));
      return form === 'some' ? both : form === 'no' ? !both : !world.some((one) => one.has(a) && !one.has(b));
    };
    const worlds = range(9).flatMap((i) =>
      range(9).flatMap((j) => range(9).map((k) => [i, j, k].flatMap((n) => people[n] ?? []))),
    );
    const [first, other, conclusion] = statements as [
      (typeof statements)[number],
      (typeof statements)[number],
      (typeof statements)[number],
    ];
    const isRefuted = worlds.some(
      (world) => isTrue(first, world) && isTrue(other, world) && !isTrue(conclusion, world),
    );
    return answer === (isRefuted ? 'no' : 'yes');
  },
  'knights-and-knaves': (question, { answer }) => {
    const said = [...question.matchAll(/(\w+) says: "([^"]*)\."/g)].map(([, name, claim]) => ({
      name: name!,
      claim: claim!,
    }));
    const isTrue = (claim: string, speaker: string, knights: Set<string>): boolean => {
      if (claim.includes(' or ')) return claim.split(' or ').some((part) => isTrue(part, speaker, knights));
      const [a, b] = claim.match(/[A-Z]\w+/g) as [string, string?];
      if (claim.includes('same kind')) return knights.has(a) === knights.has(speaker);
      if (claim.includes('both')) return knights.has(a) && knights.has(b!);
      return knights.has(a) === claim.includes('knight');
    };
    const fits = range(2 ** said.length)
      .map((world) => new Set(said.filter((_, n) => (world >> n) & 1).map(({ name }) => name)))
      .filter((knights) =>
        said.every(({ name, claim }) => isTrue(claim, name, knights) === knights.has(name)),
      );
    const told = (knights: Set<string>) =>
      said.map(({ name }) => `${name}: ${knights.has(name) ? 'knight' : 'knave'}`).join(', ');
    return fits.length === 1 && told(fits[0]!) === answer;
  },
  'family-relations': (question, { answer }) => {
    const facts = [...question.matchAll(/(\w+) is a parent of (\w+)\./g)].map(
      ([, parent, child]) => [parent!, child!] as const,
    );
    const [, who, to] = /What is (\w+) to (\w+)\?/.exec(question)!;
    const parents = (person: string) =>
      facts.filter(([, child]) => child === person).map(([parent]) => parent);
    const children = (person: string) =>
      facts.filter(([parent]) => parent === person).map(([, child]) => child);
    const many = (people: string[], of: (person: string) => string[]) => [...new Set(people.flatMap(of))];
    const siblings = (person: string) => many(parents(person), children).filter((other) => other !== person);
    const found: Record<string, string[]> = {
      parent: parents(to!),
      child: children(to!),
      grandparent: many(parents(to!), parents),
      grandchild: many(children(to!), children),
      sibling: siblings(to!),
      'niece or nephew': many(siblings(to!), children),
      'uncle or aunt': many(parents(to!), siblings),
      'great-grandparent': many(many(parents(to!), parents), parents),
      'great-grandchild': many(many(children(to!), children), children),
      cousin: many(many(parents(to!), siblings), children),
    };
    return (
      Object.keys(found)
        .filter((name) => found[name]!.includes(who!))
        .join() === answer
    );
  },
  sets: (question, { answer }) => {
    const [a, b] = [...question.matchAll(/\{(.*?)\}/g)].map(([, items]) => numbersIn(items!)) as [
      number[],
      number[],
    ];
    const kind = /are (.*?)\?/.exec(question)![1]!;
    const wanted = range(100).filter((n) => {
      const [inA, inB] = [a.includes(n), b.includes(n)];
      if (kind.startsWith('both')) return inA && inB;
      if (kind.startsWith('in A or')) return inA || inB;
      return kind.startsWith('in exactly') ? inA !== inB : inA && !inB;
    });
    return (wanted.join(', ') || 'none') === answer;
  },
  'date-arithmetic': (question, { answer }) => {
    const [, by, from] = /is (\d+) days after ([\d-]+)/.exec(question)!;
    return new Date(Date.parse(from!) + Number(by) * 86_400_000).toISOString().slice(0, 10) === answer;
  },
  weekday: (question, { answer }) => {
    const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
    const [, from, by] = /Today is (\w+)\..* (\d+) days/.exec(question)!;
    // 2023-01-01 was a Sunday.
    const time = Date.UTC(
      2023,
      0,
      1 + days.indexOf(from!) + Number(by) * (question.includes('ago') ? -1 : 1),
    );
    return days[new Date(time).getUTCDay()] === answer;
  },
  'clock-time': (question, { answer }) => {
    let time = Date.parse(`2020-06-15T${/shows (\d\d:\d\d)/.exec(question)![1]}:00Z`);
    for (const [, by, way] of question.matchAll(/(\d+) minutes (on|back)/g))
      time += Number(by) * (way === 'on' ? 60_000 : -60_000);
    return new Date(time).toISOString().slice(11, 16) === answer;
  },
  'unit-conversion': (question, { answer }) => {
    const [, to, count, from] = /How many (\w+) are (\d+) (\w+)\?/.exec(question)!;
    const base: Record<string, number> = {
      mm: 0.001,
      cm: 0.01,
      m: 1,
      km: 1000,
      g: 0.001,
      kg: 1,
      t: 1000,
      s: 1,
      min: 60,
      h: 3600,
      days: 86_400,
      ml: 0.001,
      cl: 0.01,
      l: 1,
    };
    return Math.abs((Number(count) * base[from!]!) / base[to!]! - Number(answer)) < 1e-6 * Number(answer);
  },
  'shortest-path': (question, { answer }) => {
    const [, from, to] = /from (\w) to (\w)/.exec(question)!;
    return allDistances(question)(from!, to!) === Number(answer);
  },
  route: (question, { answer }) => {
    const [, from, to] = /from (\w) to (\w)/.exec(question)!;
    const roads = new Map(
      [...question.matchAll(/([A-J])-([A-J]): (\d)/g)].flatMap(([, a, b, n]) => [
        [`${a}${b}`, Number(n)],
        [`${b}${a}`, Number(n)],
      ]),
    );
    const way = answer.split('-');
    const length = way
      .slice(1)
      .reduce((sum, node, n) => sum + (roads.get(`${way[n]}${node}`) ?? Number.NaN), 0);
    return way[0] === from && way.at(-1) === to && length === allDistances(question)(from!, to!);
  },
  'where-am-i': (question, { answer }) => {
    const { x, y } = follow(question);
    const [, north = '0', south = '0'] = /^(?:(\d+) north|(\d+) south)?/.exec(answer)!;
    const [, east = '0', west = '0'] = /(?:(\d+) east|(\d+) west)?$/.exec(answer)!;
    return Number(north) - Number(south) === y && Number(east) - Number(west) === x;
  },
  heading: (question, { answer }) => follow(question).heading === answer,
  'game-of-life': (question, { answer }) => {
    const rows = grid(question);
    const size = rows.length;
    let alive = new Set(range(size * size).filter((n) => rows[Math.floor(n / size)]![n % size] === '#'));
    for (let steps = numbersIn(question).at(-1)!; steps > 0; steps--) {
      const near = (n: number) =>
        [...alive].filter(
          (m) =>
            m !== n &&
            Math.abs(Math.floor(m / size) - Math.floor(n / size)) <= 1 &&
            Math.abs((m % size) - (n % size)) <= 1,
        ).length;
      const now = alive;
      alive = new Set(range(size * size).filter((n) => near(n) === 3 || (near(n) === 2 && now.has(n))));
    }
    return range(size * size).every(
      (n) => (answer.split('/')[Math.floor(n / size)]![n % size] === '#') === alive.has(n),
    );
  },
  'rotate-grid': (question, { answer }) => {
    // Three more turns bring it back.
    const turn = (rows: string[]) =>
      range(rows.length).map((c) =>
        rows
          .map((row) => row[c])
          .reverse()
          .join(''),
      );
    return turn(turn(turn(answer.split('/')))).join() === grid(question).join();
  },
  islands: (question, { answer }) => {
    // Labels spread until nothing changes.
    const rows = grid(question);
    const size = rows.length;
    const label = range(size * size).map((n) => (rows[Math.floor(n / size)]![n % size] === '#' ? n : -1));
    for (let before = ''; before !== label.join(); ) {
      before = label.join();
      for (const n of range(size * size)) {
        const near = [
          n,
          n - size,
          n + size,
          ...(n % size > 0 ? [n - 1] : []),
          ...(n % size < size - 1 ? [n + 1] : []),
        ];
        if (label[n]! >= 0) label[n] = Math.min(...near.map((m) => label[m] ?? -1).filter((m) => m >= 0));
      }
    }
    return new Set(label.filter((n) => n >= 0)).size === Number(answer);
  },
};

describe('reasoningTasks', () => {
  it('has a second way to the answer for every family, which are at least 20', () => {
    expect(Object.keys(second).toSorted()).toEqual([...reasoningFamilies]);
    expect(reasoningFamilies.length).toBeGreaterThanOrEqual(20);
  });

  it.each([...reasoningFamilies])(
    '%s: answers are right by a second way, accepted, and others are not',
    (family) => {
      const problems = draw(family);
      for (const { question, metadata } of problems) {
        expect(second[family]!(question, metadata), `${question}\n${metadata.answer}`).toBe(true);
        const { answer } = metadata;
        for (const response of [
          answer,
          `Let me think.\n\n${answer}`,
          `<answer> ${answer.toUpperCase()} </answer> so.`,
          `${answer}.`,
        ])
          expect(isReasoningAnswer(response, metadata), `${question}\n${response}`).toBe(true);
        for (const response of [
          '',
          `${answer}\nI do not know`,
          `${answer}9`,
          'null',
          '{"answer": 1}',
          '🧊',
          '-',
          'NaN',
        ])
          expect(isReasoningAnswer(response, metadata), `${question}\n${response}`).toBe(false);
        expect(structuredClone(metadata)).toEqual(JSON.parse(JSON.stringify(metadata)));
      }
      const answers = new Set(problems.map(({ metadata }) => metadata.answer));
      expect(answers.size).toBeGreaterThan(1);
      const harder = (difficulty: number) =>
        reasoningTasks({ count: 60, families: [family], difficulty }).reduce(
          (sum, { prompt, metadata }) => sum + prompt.length + metadata.answer.length,
          0,
        );
      expect(harder(1)).toBeGreaterThan(harder(0));
    },
  );

  it('accepts no answer of another problem, but for coincidence', () => {
    const tasks = reasoningTasks({ count: 400, difficulty: 1 });
    const crossed = tasks.filter(({ metadata }, index) =>
      isReasoningAnswer(tasks[(index + 1) % tasks.length]!.metadata.answer, metadata),
    );
    expect(crossed.length).toBeLessThan(20);
  });

  it('accepts every right answer where there are several', () => {
    const route: ReasoningMetadata = {
      ...{ family: 'route', difficulty: 0, answer: 'A-B-D' },
      data: { nodes: ['A', 'B', 'C', 'D'], edges: { 'A-B': 1, 'B-D': 2, 'A-C': 2, 'C-D': 1, 'A-D': 4 } },
    };
    expect(['A-B-D', 'a - c - d'].map((way) => isReasoningAnswer(way, route))).toEqual([true, true]);
    expect(['A-D', 'A-X-D', 'A', '', 'B-D', 'A--D'].some((way) => isReasoningAnswer(way, route))).toBe(false);
    const words: ReasoningMetadata = { family: 'unscramble', difficulty: 0, answer: 'heart', data: 'rtaeh' };
    expect(['earth', 'heart', 'hater', 'rtaeh'].map((word) => isReasoningAnswer(word, words))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const number: ReasoningMetadata = { family: 'gcd', difficulty: 0, answer: '1200' };
    expect(
      ['1,200', '1200.0', '+1200', ' 1200.', '12,00', '1200 or 3', '0x4b0', '1e400'].map((text) =>
        isReasoningAnswer(text, number),
      ),
    ).toEqual([true, true, true, true, false, false, false, false]);
  });

  it('draws by weights, equal for equal seeds', () => {
    const tasks = reasoningTasks({
      count: 300,
      families: ['gcd', 'lcm', 'islands'],
      weights: { gcd: 3, islands: 0 },
      seed: 'w',
    });
    const count = (family: string) => tasks.filter(({ metadata }) => metadata.family === family).length;
    expect([count('islands'), count('gcd') + count('lcm')]).toEqual([0, 300]);
    // Of 300 draws with probability 3/4, five standard deviations are 37.
    expect(Math.abs(count('gcd') - 225)).toBeLessThan(37);
    expect(
      reasoningTasks({
        count: 300,
        families: ['gcd', 'lcm', 'islands'],
        weights: { gcd: 3, islands: 0 },
        seed: 'w',
      }),
    ).toEqual(tasks);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(300);
    expect(reasoningTasks({ count: 3, seed: 'a' })).not.toEqual(reasoningTasks({ count: 3, seed: 'b' }));
    expect(new Set(reasoningTasks({ count: 500 }).map(({ metadata }) => metadata.family)).size).toBe(
      reasoningFamilies.length,
    );
  });

  it('names every bad option at once', () => {
    expect(() =>
      reasoningTasks({ count: 1, families: ['gdc'], difficulty: 2, weights: { nope: 1 } }),
    ).toThrow(/families[\s\S]*"gdc" is not a family[\s\S]*difficulty[\s\S]*weights/);
    expect(() => reasoningTasks({ count: 1, families: ['gcd'], weights: { gcd: 0 } })).toThrow(/above 0/);
  });

  it('never throws on a response, however odd', () => {
    const random = RandomStream.named('odd');
    const marks = [...'0123456789-+.,/x#AB{}()[]"\n <>='];
    for (const { metadata } of reasoningTasks({ count: 200, difficulty: 0.2 })) {
      const odd = Array.from({ length: 40 }, () => marks[random.integer(marks.length)]).join('');
      for (const response of [odd, 'x'.repeat(1_000_000), '<answer></answer>', '\ud800', '-'.repeat(3000)])
        expect(typeof isReasoningAnswer(response, metadata)).toBe('boolean');
    }
    expect(isReasoningAnswer('7', { family: 'constructor', difficulty: 0, answer: '7' })).toBe(true);
  });
});
