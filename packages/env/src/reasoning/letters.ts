import { between, pick, scaled } from '../draws.ts';
import { words } from '../stock/words.ts';
import { type Families, isNumber, sample } from './family.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz';
const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

function isBalanced(text: string): boolean {
  const open: string[] = [];
  for (const mark of text) {
    if (mark in closing) open.push(closing[mark]!);
    else if (open.pop() !== mark) return false;
  }
  return open.length === 0;
}

function shifted(text: string, by: number): string {
  return text.replaceAll(/[a-z]/g, (letter) => alphabet[(alphabet.indexOf(letter) + by) % 26]!);
}

function letters(text: string): string {
  return [...text].toSorted().join('');
}

/** Families about letters and words. */
export const letterFamilies: Families = {
  'count-letters': {
    draw: (random, difficulty) => {
      const text = sample(random, words, scaled(difficulty, 2, 12)).join(' ');
      const letter = pick(random, [...new Set(text.replaceAll(' ', ''))]);
      return {
        question: `How many times is the letter "${letter}" in "${text}"?`,
        answer: String(text.split(letter).length - 1),
      };
    },
    check: isNumber,
  },
  'sort-words': {
    draw: (random, difficulty) => {
      const list = sample(random, words, scaled(difficulty, 3, 12));
      return {
        question: `Sort these words by the alphabet, separated by commas: ${list.join(', ')}`,
        answer: list.toSorted().join(', '),
      };
    },
  },
  unscramble: {
    draw: (random, difficulty) => {
      const answer = sample(random, words, scaled(difficulty, 1, 3)).join(' ');
      const mixed = answer
        .split(' ')
        .map((word) => random.shuffle([...word]).join(''))
        .join(' ');
      return {
        question: `The letters of each word are mixed up. Write the English words: ${mixed}`,
        answer,
        data: mixed,
      };
    },
    // Other words of the same letters are right, too.
    check: (text, { answer }) => {
      const said = text
        .toLowerCase()
        .split(/[\s,]+/)
        .filter(Boolean);
      const wanted = answer.split(' ');
      return (
        said.length === wanted.length &&
        said.every((word, index) => words.includes(word) && letters(word) === letters(wanted[index]!))
      );
    },
  },
  caesar: {
    draw: (random, difficulty) => {
      const answer = sample(random, words, scaled(difficulty, 1, 6)).join(' ');
      const by = difficulty < 0.3 ? between(random, 1, 3) : between(random, 1, 25);
      return {
        question: `Each letter was moved ${by} places on in the alphabet, from z on to a. Write the text before: ${shifted(answer, by)}`,
        answer,
      };
    },
  },
  'reverse-text': {
    draw: (random, difficulty) => {
      const text = sample(random, words, scaled(difficulty, 1, 5)).join(' ');
      return {
        question: `Write this backwards, letter by letter: ${text}`,
        answer: [...text].reverse().join(''),
      };
    },
  },
  brackets: {
    draw: (random, difficulty) => {
      let text = '';
      for (let pairs = scaled(difficulty, 2, 9); pairs > 0; pairs--) {
        const place = random.integer(text.length + 1);
        const mark = pick(random, ['(', '[', '{']);
        // Put around what already balances, or beside it.
        const end = random.uniform() < 0.5 && isBalanced(text.slice(place)) ? text.length : place;
        text = text.slice(0, place) + mark + text.slice(place, end) + closing[mark] + text.slice(end);
      }
      if (random.uniform() < 0.5) {
        const [one, other] = [random.integer(text.length), random.integer(text.length)];
        const marks = [...text];
        text = marks.with(one, marks[other]!).with(other, marks[one]!).join('');
      }
      return {
        question: `Do these brackets match? Answer yes or no. ${text}`,
        answer: isBalanced(text) ? 'yes' : 'no',
      };
    },
  },
  rewriting: {
    draw: (random, difficulty) => {
      const rules = sample(random, ['ab', 'ba', 'bc', 'ca', 'cb', 'ac'], 2).map(
        (from) => [from, pick(random, ['a', 'b', 'c'])] as const,
      );
      const text = Array.from({ length: scaled(difficulty, 5, 14) }, () =>
        pick(random, ['a', 'b', 'c']),
      ).join('');
      let answer = text;
      for (;;) {
        const rule = rules.find(([from]) => answer.includes(from));
        if (rule === undefined) break;
        answer = answer.replace(...rule);
      }
      const [first, second] = rules.map(([from, to]) => `"${from}" becomes "${to}"`);
      return {
        question:
          `Rewrite the text by rules. Rule 1: ${first}. Rule 2: ${second}. Each step takes the first rule that fits somewhere, and ` +
          `applies it to the leftmost place. Stop when no rule fits. What is left of "${text}"?`,
        answer,
      };
    },
    check: (text, { answer }) => text.replaceAll(/["'\s.]/g, '').toLowerCase() === answer,
  },
};
