import type { ReasoningMetadata } from './index.ts';

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
 * A second way to each answer about logic, measures and space, which reads only the question: by brute force, by the language's own library, or by putting the answer in.
 * Returns whether the answer is right.
 */
export const secondWaysWorld: Readonly<
  Record<string, (question: string, metadata: ReasoningMetadata) => boolean>
> = {
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
