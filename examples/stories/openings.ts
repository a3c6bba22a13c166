import { RandomStream, type Task } from '@rlp/core';

/** What a story must have. */
export interface StoryWish {
  /** A word the story has to contain. */
  readonly word: string;
}

const traits = ['little', 'big', 'brave', 'small', 'kind', 'funny', 'tiny', 'clever'];
const heroes = ['girl', 'boy', 'cat', 'dog', 'bear', 'bird', 'rabbit', 'frog', 'mouse', 'duck'];
const names = ['Lily', 'Tom', 'Mia', 'Ben', 'Sue', 'Max', 'Anna', 'Tim', 'Lucy', 'Sam', 'Amy', 'Jack'];

/** The 960 openings `Once upon a time, there was a … named ….`, in an order drawn from `seed`. */
export function storyTasks(word: string, seed: string): Task<StoryWish>[] {
  const openings = traits.flatMap((trait) =>
    heroes.flatMap((hero) =>
      names.map((name) => `Once upon a time, there was a ${trait} ${hero} named ${name}.`),
    ),
  );
  return RandomStream.named(seed, 'openings')
    .shuffle(openings)
    .map((prompt) => ({ id: prompt, prompt, metadata: { word } }));
}
