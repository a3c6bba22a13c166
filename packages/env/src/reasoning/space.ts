import type { RandomStream } from '@rlp/core';
import { between, pick, scaled } from '../draws.ts';
import { type Families, isNumber, sample } from './family.ts';

interface Graph {
  readonly nodes: readonly string[];
  /** Lengths of edges, by both ends in order, such as `A-B`. */
  readonly edges: Readonly<Record<string, number>>;
}

function edgeOf({ edges }: Graph, a: string, b: string): number | undefined {
  return edges[a < b ? `${a}-${b}` : `${b}-${a}`];
}

/** A path with a few edges more. */
function drawGraph(random: RandomStream, difficulty: number): Graph {
  const nodes = [...'ABCDEFGHIJ'].slice(0, scaled(difficulty, 4, 9));
  const edges: Record<string, number> = {};
  const join = (a: string, b: string) => {
    if (a !== b) edges[a < b ? `${a}-${b}` : `${b}-${a}`] ??= between(random, 1, 9);
  };
  const path = random.shuffle(nodes);
  for (const [index, node] of path.slice(1).entries()) join(path[index]!, node);
  for (let extra = nodes.length; extra > 0; extra--) join(pick(random, nodes), pick(random, nodes));
  return { nodes, edges };
}

/** Dijkstra's shortest distances from a node. */
function distances(graph: Graph, from: string): Map<string, number> {
  const known = new Map([[from, 0]]);
  const done = new Set<string>();
  while (done.size < known.size) {
    const [node, distance] = [...known]
      .filter(([one]) => !done.has(one))
      .toSorted(([, a], [, b]) => a - b)[0]!;
    done.add(node);
    for (const next of graph.nodes) {
      const length = edgeOf(graph, node, next);
      if (length !== undefined && distance + length < (known.get(next) ?? Number.POSITIVE_INFINITY))
        known.set(next, distance + length);
    }
  }
  return known;
}

function graphText({ edges }: Graph): string {
  return Object.entries(edges)
    .map(([edge, length]) => `${edge}: ${length}`)
    .join(', ');
}

const compass = ['north', 'east', 'south', 'west'] as const;

function walk(random: RandomStream, difficulty: number) {
  let [east, north, heading] = [0, 0, random.integer(4)];
  const start = compass[heading];
  const story = Array.from({ length: scaled(difficulty, 2, 8) }, () => {
    const turn = pick(random, ['', 'turn left, ', 'turn right, ']);
    heading = (heading + (turn === 'turn left, ' ? 3 : turn === 'turn right, ' ? 1 : 0)) % 4;
    const steps = between(random, 1, 9);
    east += [0, 1, 0, -1][heading]! * steps;
    north += [1, 0, -1, 0][heading]! * steps;
    return `${turn}walk ${steps} steps`;
  });
  return { start, story: story.join(', '), east, north, end: compass[heading]! };
}

function offset(east: number, north: number): string {
  const part = (count: number, plus: string, minus: string) =>
    count === 0 ? [] : [`${Math.abs(count)} ${count > 0 ? plus : minus}`];
  return [...part(north, 'north', 'south'), ...part(east, 'east', 'west')].join(', ') || 'here';
}

/** Rows of cells, `#` alive. Outside everything is dead. */
function lifeStep(rows: readonly string[]): string[] {
  const isAlive = (row: number, column: number) => rows[row]?.[column] === '#';
  return rows.map((line, row) =>
    [...line]
      .map((_, column) => {
        let count = 0;
        for (const down of [-1, 0, 1])
          for (const right of [-1, 0, 1])
            if ((down !== 0 || right !== 0) && isAlive(row + down, column + right)) count++;
        return count === 3 || (count === 2 && isAlive(row, column)) ? '#' : '.';
      })
      .join(''),
  );
}

function drawCells(random: RandomStream, size: number, share: number): string[] {
  return Array.from({ length: size }, () =>
    Array.from({ length: size }, () => (random.uniform() < share ? '#' : '.')).join(''),
  );
}

/** Groups of `#` that touch by sides. */
function islands(rows: readonly string[]): number {
  const land = new Set(
    rows.flatMap((line, row) =>
      [...line].flatMap((mark, column) => (mark === '#' ? [`${row},${column}`] : [])),
    ),
  );
  let count = 0;
  for (const first of land) {
    count++;
    const shore = [first];
    land.delete(first);
    for (let cell = shore.pop(); cell !== undefined; cell = shore.pop()) {
      const [row, column] = cell.split(',').map(Number) as [number, number];
      for (const next of [
        `${row - 1},${column}`,
        `${row + 1},${column}`,
        `${row},${column - 1}`,
        `${row},${column + 1}`,
      ])
        if (land.delete(next)) shore.push(next);
    }
  }
  return count;
}

function isRows(text: string, { answer }: { readonly answer: string }): boolean {
  return text.replaceAll(/[^#.]/g, '') === answer.replaceAll(/[^#.]/g, '') && !/[^#.\s`/]/.test(text);
}

/** Families about graphs, places and grids. */
export const spaceFamilies: Families = {
  'shortest-path': {
    draw: (random, difficulty) => {
      const graph = drawGraph(random, difficulty);
      const [from, to] = sample(random, graph.nodes, 2) as [string, string];
      return {
        question: `Roads and their lengths: ${graphText(graph)}. How long is the shortest way from ${from} to ${to}?`,
        answer: String(distances(graph, from).get(to)),
      };
    },
    check: isNumber,
  },
  route: {
    draw: (random, difficulty) => {
      const graph = drawGraph(random, difficulty);
      const [from, to] = sample(random, graph.nodes, 2) as [string, string];
      const from_ = distances(graph, from);
      const back = [to];
      while (back.at(-1) !== from) {
        const at = back.at(-1)!;
        back.push(
          graph.nodes.find(
            (node) =>
              (from_.get(node) ?? Number.NaN) + (edgeOf(graph, node, at) ?? Number.NaN) === from_.get(at),
          )!,
        );
      }
      return {
        question: `Roads and their lengths: ${graphText(graph)}. Write a shortest way from ${from} to ${to}, such as ${from}-X-${to}.`,
        answer: back.reverse().join('-'),
        data: graph,
      };
    },
    // Several ways may be shortest.
    check: (text, { answer, data }) => {
      const length = (way: readonly string[]) =>
        way
          .slice(1)
          .reduce((sum, node, index) => sum + (edgeOf(data as Graph, way[index]!, node) ?? Number.NaN), 0);
      const [way, right] = [text.toUpperCase().replaceAll(/\s/g, '').split('-'), answer.split('-')];
      return way[0] === right[0] && way.at(-1) === right.at(-1) && length(way) === length(right);
    },
  },
  'where-am-i': {
    draw: (random, difficulty) => {
      const { start, story, east, north } = walk(random, difficulty);
      return {
        question: `You look ${start}. You ${story}. Where are you from where you started? Answer such as "3 north, 2 east", with only the parts that are not 0, or "here".`,
        answer: offset(east, north),
      };
    },
  },
  heading: {
    draw: (random, difficulty) => {
      const { start, story, end } = walk(random, difficulty);
      return {
        question: `You look ${start}. You ${story}. Where do you look? Answer north, east, south or west.`,
        answer: end,
      };
    },
  },
  'game-of-life': {
    draw: (random, difficulty) => {
      let rows = drawCells(random, scaled(difficulty, 3, 6), 0.4);
      const steps = difficulty < 0.7 ? 1 : 2;
      const first = rows.join('\n');
      for (let step = 0; step < steps; step++) rows = lifeStep(rows);
      return {
        question: `This is a board of Conway's Game of Life, with # alive and everything outside dead:\n${first}\nWrite the board after ${steps} step${steps > 1 ? 's' : ''}, its rows separated by /.`,
        answer: rows.join('/'),
      };
    },
    check: isRows,
  },
  'rotate-grid': {
    draw: (random, difficulty) => {
      const size = scaled(difficulty, 2, 6);
      const rows = drawCells(random, size, 0.5);
      const turned = rows.map((_, row) => rows.map((__, column) => rows[size - 1 - column]![row]).join(''));
      return {
        question: `Turn this board by 90 degrees clockwise:\n${rows.join('\n')}\nWrite its rows separated by /.`,
        answer: turned.join('/'),
      };
    },
    check: isRows,
  },
  islands: {
    draw: (random, difficulty) => {
      const rows = drawCells(random, scaled(difficulty, 3, 9), 0.45);
      return {
        question: `How many islands are on this map? # is land. Land that touches by a side is one island.\n${rows.join('\n')}`,
        answer: String(islands(rows)),
      };
    },
    check: isNumber,
  },
};
