import type { RandomStream } from '@rlp/core';
import * as z from 'zod';
import { pick, scaled } from '../draws.ts';
import { bare, type Game, gameTasks, type Refusal } from './game.ts';
import { shortestWay } from './grid.ts';

const roomSchema = z.strictObject({
  name: z.string().min(1),
  /** Directions and the index of the room they lead to. */
  exits: z.partialRecord(z.enum(['north', 'east', 'south', 'west']), z.int().min(0)).readonly(),
});

const setupSchema = z
  .strictObject({
    maxTurns: z.int().min(1),
    rooms: z.array(roomSchema).min(1).max(30).readonly(),
    /** Things by name, and the index of the room each starts in. */
    things: z.record(z.string(), z.int().min(0)).readonly(),
    /** Rooms that are locked, by index, and the thing that opens each. */
    locks: z.record(z.string(), z.string()).readonly(),
    /** The thing to deliver. */
    wanted: z.string(),
    /** Index of the room to leave it in. */
    goal: z.int().min(0),
  })
  .refine(({ things, wanted }) => Object.hasOwn(things, wanted), 'wanted must be one of the things')
  .refine(
    ({ rooms, goal, things }) => [goal, ...Object.values(things)].every((room) => room < rooms.length),
    'goal and things must be in rooms that exist',
  )
  .refine(
    ({ rooms }) =>
      rooms.every(({ exits }) => Object.values(exits).every((room) => (room ?? 0) < rooms.length)),
    'exits must lead to rooms that exist',
  );

/** A world with a quest. */
export interface AdventureSetup extends z.output<typeof setupSchema> {}

/** The world, and where everything is now. */
export interface AdventurePosition {
  readonly world: Omit<AdventureSetup, 'maxTurns'>;
  /** Index of the room the policy is in. */
  readonly room: number;
  /** Things by name, and the index of their room. -1 is carried. */
  readonly things: Readonly<Record<string, number>>;
  /** Indices of rooms that were unlocked. */
  readonly unlocked: readonly number[];
  /** What happened last. */
  readonly news: string;
}

type Way = 'north' | 'east' | 'south' | 'west';
const opposite: Readonly<Record<Way, Way>> = { north: 'south', east: 'west', south: 'north', west: 'east' };
const ways = ['north', 'east', 'south', 'west'] as const;

/**
 * Walk through rooms, open locked ones with keys, and bring a thing to a room.
 *
 * Difficulty: from 3 rooms without locks to 10 rooms with 3. Score: 1 for the delivery, 0.5 while the thing is carried. The solver searches
 * all commands.
 */
export const adventure: Game<AdventureSetup, AdventurePosition> = {
  name: 'adventure',
  setup: setupSchema,
  tasks: (options) =>
    gameTasks('adventure', options, (random, difficulty) => {
      const world = drawWorld(random, scaled(difficulty, 3, 10), scaled(difficulty, 0, 3));
      const shortest = commandsToGoal(opened(world))!.length;
      return { prompt: instructions(world), setup: { maxTurns: 2 * shortest + 10, ...world } };
    }),
  start: opened,
  play: (position, text) => done(position, bare(text).replaceAll(/\s+/g, ' ')),
  view: (position) => `${position.news}\n${described(position)}`.trim(),
  isOver: isDelivered,
  score: (position) => (isDelivered(position) ? 1 : position.things[position.world.wanted] === -1 ? 0.5 : 0),
  key: ({ room, things, unlocked }) =>
    `${room} ${Object.values(things).join(' ')} ${unlocked.toSorted().join(' ')}`,
  solve: (position) => commandsToGoal(position)?.[0] ?? 'look',
};

function opened({ rooms, things, locks, wanted, goal }: Omit<AdventureSetup, 'maxTurns'>): AdventurePosition {
  return { world: { rooms, things, locks, wanted, goal }, room: 0, things, unlocked: [], news: '' };
}

function isDelivered({ world: { wanted, goal }, things }: AdventurePosition): boolean {
  return things[wanted] === goal;
}

function instructions({ rooms, wanted, goal }: Omit<AdventureSetup, 'maxTurns'>): string {
  return (
    `Bring the ${wanted} to the ${rooms[goal]!.name} and drop it there. Commands: go north, go east, go south, go west, take THING, ` +
    'drop THING, unlock DIRECTION (with the right key), look. Answer with one command.'
  );
}

function described({ world, room, things, unlocked }: AdventurePosition): string {
  const { name, exits } = world.rooms[room]!;
  const here = Object.keys(things).filter((thing) => things[thing] === room);
  const carried = Object.keys(things).filter((thing) => things[thing] === -1);
  const doors = ways.flatMap((way) => {
    const to = exits[way];
    if (to === undefined) return [];
    return [isLocked(world, to, unlocked) ? `${way} (locked, needs the ${world.locks[to]})` : way];
  });
  return [
    `You are in the ${name}.`,
    here.length > 0 ? `You see: ${here.join(', ')}.` : '',
    `Exits: ${doors.join(', ') || 'none'}.`,
    `You carry: ${carried.join(', ') || 'nothing'}.`,
  ]
    .filter(Boolean)
    .join(' ');
}

function isLocked({ locks }: AdventurePosition['world'], room: number, unlocked: readonly number[]): boolean {
  return Object.hasOwn(locks, room) && !unlocked.includes(room);
}

/** The position after a command. */
function done(position: AdventurePosition, command: string): AdventurePosition | Refusal {
  const [, verb, object = ''] = /^(go|take|drop|unlock|look)(?: (?:the )?(.+))?$/.exec(command) ?? [];
  if (verb === 'look') return { ...position, news: '' };
  if (verb === 'go') return gone(position, object);
  if (verb === 'unlock') return unlockedBy(position, object);
  if (verb === 'take' || verb === 'drop') return moved(position, verb, object);
  return { refusal: 'I could not read that. Expected go, take, drop, unlock or look.' };
}

function exitOf({ world, room }: AdventurePosition, way: string): number | undefined {
  return ways.includes(way as Way) ? world.rooms[room]!.exits[way as Way] : undefined;
}

function gone(position: AdventurePosition, way: string): AdventurePosition | Refusal {
  const to = exitOf(position, way);
  if (to === undefined) return { refusal: 'There is no way there.' };
  if (isLocked(position.world, to, position.unlocked)) return { refusal: 'That door is locked.' };
  return { ...position, room: to, news: '' };
}

function unlockedBy(position: AdventurePosition, way: string): AdventurePosition | Refusal {
  const to = exitOf(position, way);
  if (to === undefined || !isLocked(position.world, to, position.unlocked))
    return { refusal: 'There is nothing to unlock there.' };
  const key = position.world.locks[to]!;
  if (position.things[key] !== -1) return { refusal: `You need the ${key}.` };
  return { ...position, unlocked: [...position.unlocked, to], news: 'The door is open.' };
}

function moved(
  position: AdventurePosition,
  verb: 'take' | 'drop',
  thing: string,
): AdventurePosition | Refusal {
  const { things, room } = position;
  const place = Object.hasOwn(things, thing) ? things[thing] : undefined;
  if (place !== (verb === 'take' ? room : -1))
    return { refusal: verb === 'take' ? 'There is no such thing here.' : 'You do not carry that.' };
  const news = verb === 'take' ? `You took the ${thing}.` : `You dropped the ${thing}.`;
  return { ...position, things: { ...things, [thing]: verb === 'take' ? -1 : room }, news };
}

function commandsToGoal(position: AdventurePosition): string[] | undefined {
  return shortestWay<AdventurePosition, string>(position, {
    next: (from) => {
      const useful = [from.world.wanted, ...Object.values(from.world.locks)];
      const taken = useful.filter((thing) => from.things[thing] === from.room);
      const tried: readonly (readonly [string, AdventurePosition | Refusal])[] = [
        ...ways.map((way) => [`go ${way}`, gone(from, way)] as const),
        ...ways.map((way) => [`unlock ${way}`, unlockedBy(from, way)] as const),
        ...taken.map((thing) => [`take ${thing}`, moved(from, 'take', thing)] as const),
        [`drop ${from.world.wanted}`, moved(from, 'drop', from.world.wanted)],
      ];
      return tried.filter((one): one is [string, AdventurePosition] => !('refusal' in one[1]));
    },
    key: adventure.key!,
    isGoal: isDelivered,
  });
}

const roomNames = [
  'hall',
  'kitchen',
  'library',
  'cellar',
  'garden',
  'attic',
  'study',
  'workshop',
  'pantry',
  'tower',
  'chapel',
  'stable',
];
const thingNames = ['lamp', 'book', 'rope', 'apple', 'map', 'coin', 'flute', 'mirror'];
const keyNames = ['iron key', 'brass key', 'silver key'];

/** Rooms in a tree. Every locked room's key lies where it can be reached before. */
function drawWorld(random: RandomStream, count: number, locked: number): Omit<AdventureSetup, 'maxTurns'> {
  const names = random.shuffle(roomNames).slice(0, count);
  const exits = names.map((): Partial<Record<Way, number>> => ({}));
  const parents = [0];
  for (let room = 1; room < count; room++) {
    const free = exits
      .slice(0, room)
      .flatMap((have, from) => ways.filter((way) => !(way in have)).map((way) => ({ from, way })));
    const { from, way } = pick(random, free);
    exits[from]![way] = room;
    exits[room]![opposite[way]] = from;
    parents.push(from);
  }
  const rooms = names.map((name, index) => ({ name, exits: exits[index]! }));
  const things: Record<string, number> = {};
  const locks: Record<string, string> = {};
  const lockedRooms = random
    .shuffle(Array.from({ length: count - 1 }, (_, index) => index + 1))
    .slice(0, locked);
  // Rooms have higher numbers than the rooms that lead to them. So a key in a lower room can be had before its door.
  for (const [index, room] of lockedRooms.toSorted((a, b) => a - b).entries()) {
    locks[room] = keyNames[index]!;
    things[keyNames[index]!] = random.integer(room);
  }
  const [wanted, ...others] = random.shuffle(thingNames);
  const goal = random.integer(count);
  things[wanted!] = (goal + 1 + random.integer(count - 1)) % count;
  for (const other of others.slice(0, 2)) things[other] = random.integer(count);
  return { rooms, things, locks, wanted: wanted!, goal };
}
