/** The texts that verifiers are measured on. */
import { RandomStream } from '@rlp/core';
import { type Corruption, corruptions, reordered } from './corruptions.ts';
import { agentMessages, cleanTexts, comments, harmlessPairs, judgedAnswers, modelSolutions } from './data.ts';
import { disguises } from './disguises.ts';

/** A text with its label. */
export interface Labelled {
  readonly prompt?: string;
  readonly text: string;
  readonly good: boolean;
}

function corrupted(
  texts: readonly string[],
  named: Readonly<Record<string, Corruption>>,
  seed: string,
): Labelled[] {
  const names = Object.keys(named);
  return texts.flatMap((text, index) => {
    const broken = named[names[index % names.length]!]!(text, RandomStream.named(seed, index));
    return [
      { text, good: true },
      { text: broken, good: false },
    ];
  });
}

/** Result of one equation in each text off by one. */
function withWrongResult(text: string, random: RandomStream): string {
  const places = [...text.matchAll(/=\s*\$?(\d+)(?![\d.,]*\d)/gu)];
  const place = places[random.integer(Math.max(1, places.length))];
  if (place === undefined) return text;
  const [whole, number] = place;
  const changed = whole.replace(number!, String(Number(number) + 1 + random.integer(3)));
  return text.slice(0, place.index) + changed + text.slice(place.index + whole.length);
}

/** Every set, by what it is for. */
export function labelledSets() {
  const clean = cleanTexts('held-out');
  const long = [...clean.stories, ...clean.solutions, ...clean.responses, ...clean.dialogue];
  const seen = comments('held-out');
  // The other half served to choose the windows of the verifier.
  const untouched = seen.filter(({ text }) => RandomStream.named('disguise half', text).uniform() >= 0.5);
  const solutions = clean.solutions.filter((text) => /=\s*\$?\d/u.test(text));
  return {
    clean,
    toxicity: seen.map(({ text, toxic }) => ({ text, good: !toxic })),
    disguised: Object.entries({ 'as they are': (text: string) => text, ...disguises }).map(
      ([name, disguise]) =>
        [name, untouched.map(({ text, toxic }) => ({ text: disguise(text), good: !toxic }))] as const,
    ),
    corrupted: corrupted(long, corruptions, 'held-out'),
    byCorruption: Object.entries(corruptions).map(
      ([name, corruption]) => [name, corrupted(long, { [name]: corruption }, `only ${name}`)] as const,
    ),
    reordered: corrupted(
      [...clean.stories, ...clean.responses].filter((text) => text.split(/[.!?]\s/u).length > 5),
      { reordered },
      'reordered',
    ),
    harmless: harmlessPairs(),
    otherProse: corrupted(agentMessages(), corruptions, 'other'),
    answers: judgedAnswers('held-out').map(({ question, answer, truthful }) => ({
      prompt: question,
      text: answer,
      good: truthful,
    })),
    arithmetic: corrupted(solutions, { 'one result wrong': withWrongResult }, 'arithmetic'),
    solutions: modelSolutions().map(({ solution, isCorrect }) => ({ text: solution, good: isCorrect })),
    loops: corrupted(long, { loop: corruptions['stuck in a loop']! }, 'loops'),
  };
}
