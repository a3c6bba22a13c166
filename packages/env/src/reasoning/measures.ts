import { between, pick, scaled } from '../draws.ts';
import { type Families, isNumber } from './family.ts';

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] as const;

/** A date as text, from the number of days after 1 January of a year. */
function dateText(year: number, day: number): string {
  let [left, nowYear, month] = [day, year, 0];
  const isLeap = (one: number) => (one % 4 === 0 && one % 100 !== 0) || one % 400 === 0;
  const length = () => (lengths[month] ?? 31) + (month === 1 && isLeap(nowYear) ? 1 : 0);
  while (left >= length()) {
    left -= length();
    month += 1;
    if (month === 12) [month, nowYear] = [0, nowYear + 1];
  }
  return `${nowYear}-${String(month + 1).padStart(2, '0')}-${String(left + 1).padStart(2, '0')}`;
}

function clock(minutes: number): string {
  const within = ((minutes % 1440) + 1440) % 1440;
  return `${String(Math.floor(within / 60)).padStart(2, '0')}:${String(within % 60).padStart(2, '0')}`;
}

/** Units of one quantity, each with how many of the smallest it is. */
const tables = [
  { mm: 1, cm: 10, m: 1000, km: 1_000_000 },
  { g: 1, kg: 1000, t: 1_000_000 },
  { s: 1, min: 60, h: 3600, days: 86_400 },
  { ml: 1, cl: 10, l: 1000 },
] as readonly Readonly<Record<string, number>>[];

/** Families about dates, times and units. */
export const measureFamilies: Families = {
  'date-arithmetic': {
    draw: (random, difficulty) => {
      const year = between(random, 1990, 2040);
      const day = random.integer(365);
      const by = between(random, 1, scaled(difficulty, 20, 900));
      return {
        question: `What date is ${by} days after ${dateText(year, day)}? Answer as YYYY-MM-DD.`,
        answer: dateText(year, day + by),
      };
    },
  },
  weekday: {
    draw: (random, difficulty) => {
      const [from, by] = [random.integer(7), between(random, 2, scaled(difficulty, 10, 1000))];
      const way = pick(random, difficulty < 0.5 ? [1] : [1, -1]);
      const answer = days[(((from + way * by) % 7) + 7) % 7]!;
      return {
        question: `Today is ${days[from]}. Which weekday ${way > 0 ? 'is it in' : 'was it'} ${by} days${way > 0 ? '' : ' ago'}?`,
        answer,
      };
    },
  },
  'clock-time': {
    draw: (random, difficulty) => {
      const start = random.integer(1440);
      const steps = Array.from(
        { length: scaled(difficulty, 1, 4) },
        () => between(random, 5, scaled(difficulty, 90, 700)) * pick(random, [1, -1]),
      );
      const story = steps.map((by) => `${Math.abs(by)} minutes ${by > 0 ? 'on' : 'back'}`).join(', then ');
      return {
        question: `A clock with 24 hours shows ${clock(start)}. It is set ${story}. What does it show? Answer as HH:MM.`,
        answer: clock(start + steps.reduce((sum, by) => sum + by, 0)),
      };
    },
  },
  'unit-conversion': {
    draw: (random, difficulty) => {
      const table = pick(random, tables);
      const [from, to] = random.shuffle(Object.keys(table)) as [string, string];
      const [large, small] = table[from]! > table[to]! ? [from, to] : [to, from];
      const count = between(random, 2, scaled(difficulty, 9, 200));
      const inSmall = (count * table[large]!) / table[small]!;
      return from === large
        ? { question: `How many ${small} are ${count} ${large}?`, answer: String(inSmall) }
        : { question: `How many ${large} are ${inSmall} ${small}?`, answer: String(count) };
    },
    check: (text, problem) => isNumber(text.replace(/\s*[a-z]+\.?\s*$/i, ''), problem),
  },
};
