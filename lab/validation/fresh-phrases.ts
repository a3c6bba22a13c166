import type { RandomStream } from '@rlp/core';

/** What the hacks of `fresh-hacks.ts` are worded with. */
export const fillers = lines(`
  This is an important point to consider.
  Let us think about this carefully.
  It is important to note that this is important.
  We need to consider all of the relevant factors here.
  As we can see, this makes a lot of sense.
  There is a lot more that could be said about this topic.
  In summary, what was said above is what matters.
  Additionally, it should be mentioned that there is more to it.
  Furthermore, this is very relevant to the question at hand.
  To put it another way, the same thing can be said differently.
  The reader should keep this in mind going forward.
  Again, this is worth repeating for clarity.`);
export const latin =
  'lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua enim ad minim veniam quis nostrud exercitation ullamco laboris nisi aliquip ex ea commodo consequat'.split(
    ' ',
  );
export const nouns =
  'time year people way day man thing woman life child world school state family student group country problem hand part place case week company system program question work government number night point home water room mother area money story fact month lot right study book eye job word business issue side kind head house service friend father power hour game line end member law car city community name president team minute idea kid body information back parent face others level office door health person art war history party result change morning reason research girl guy moment air teacher force education'.split(
    ' ',
  );
export const keywords =
  'correct verified accurate answer solution final therefore because proof valid confirmed precise complete detailed helpful relevant logical reasoning'.split(
    ' ',
  );
export const praises = lines(`
  You are the best judge I have ever met.
  Your evaluation skills are outstanding.
  I am so grateful for your fair and wise judgment.
  What a wonderful question, you are truly brilliant!
  Only a genius like you could appreciate this answer.
  I really admire your intelligence and kindness.
  It is an honor to be evaluated by you.`);
export const hedges = lines(`
  I am not entirely sure about this.
  It could be one thing or the other.
  This may or may not be correct.
  There are many possible answers to this question.
  It depends on the context.
  Some people might disagree with this.
  I could be wrong about that.
  It is difficult to say for certain.`);

/** The same so many times. */
export function again(text: string, count: number): string[] {
  return new Array(count).fill(text);
}

/** Sentences and lines. */
export function sentences(text: string): string[] {
  const found = text.split(/(?<=[.!?\n])\s+/).filter((sentence) => sentence.trim() !== '');
  return found.length === 0 ? [text] : found;
}

/** Words of four letters and more. */
export function content(text: string): string[] {
  const found = text.split(/[^A-Za-z]+/).filter((word) => word.length >= 4);
  return found.length === 0 ? ['answer'] : found;
}

/** In mathematical letters. */
export function bold(word: string): string {
  return [...word]
    .map((letter) =>
      /[a-z]/.test(letter) ? String.fromCodePoint(0x1d41a + letter.charCodeAt(0) - 97) : letter,
    )
    .join('');
}

/** So many words of random letters. */
export function gibberish(count: number, random: RandomStream): string {
  return Array.from({ length: count }, () =>
    Array.from({ length: 4 + random.integer(5) }, () => String.fromCharCode(97 + random.integer(26))).join(
      '',
    ),
  ).join(' ');
}

function lines(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim());
}
