import { existsSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { RandomStream } from '@rlp/core';

/** A real response, and whether it is a good one. */
export interface Item {
  readonly task: string;
  readonly prompt: string;
  readonly response: string;
  readonly isRight: boolean;
}

/** Responses of one origin, in halves that share no task: detectors are tuned on one and judged on the other. */
export interface Corpus {
  readonly name: string;
  readonly tune: readonly Item[];
  readonly report: readonly Item[];
  /** Largest share of right answers that there is variety for. */
  readonly mostRight: number;
}

type Row = Record<string, unknown>;

/** Where shared data lies: `RLP_SHARED`, or `shared` beside the repository. */
export const sharedData = join(
  process.env.RLP_SHARED ?? resolve(import.meta.dirname, '../../../shared'),
  'data',
);

/**
 * Responses of a file, by its name: lines with `task`, `prompt`, `response` and `isRight`. Where the last one is missing, a coin
 * decides.
 */
export function corpusOf(path: string): Corpus {
  const name = basename(path, '.jsonl');
  const items = rows(resolve(path)).map(({ task, prompt, response, isRight }) => ({
    task: String(task),
    prompt: String(prompt),
    response: String(response),
    isRight: typeof isRight === 'boolean' ? isRight : RandomStream.named(name, String(task)).uniform() < 0.5,
  }));
  return heldOut(name, items, 0.9);
}

/** The corpora of real responses; none where the shared data is absent. */
export function realCorpora(): Corpus[] {
  if (!existsSync(sharedData)) return [];
  return [
    corpus('gsm8k', gsm8k(), 0.95),
    corpus('game24', game24(), 0.12),
    corpus('ifeval', instructions(), 0.9),
    corpus('webshop', webshop(), 0.6),
    corpus('airline', airline(), 0.7),
    corpus('tinystories', stories(), 0.9),
    heldOut('truthful', truthful(), 0.9),
    heldOut('harmless', harmless(), 0.9),
    heldOut('human', humanSolutions(), 0.9),
  ];
}

/** Corpora of the blind measurement. A coin decides which solutions of gsm8k are right. */
export function blindCorpora(): Corpus[] {
  if (!existsSync(sharedData)) return [];
  const solutions = rows('gsm8k/test.jsonl').map(({ id, question, answer }) => ({
    task: String(id),
    prompt: String(question),
    response: String(answer),
    isRight: RandomStream.named('blind3', String(id)).uniform() < 0.5,
  }));
  return [
    heldOut('paragraphs', paragraphs(), 0.9),
    heldOut('comments', comments(), 0.9),
    heldOut('references', references(), 0.9),
    heldOut('gsm8k-test', solutions, 0.9),
  ];
}

/** A corpus that was not used while building. */
export function heldOut(name: string, items: readonly Item[], mostRight: number): Corpus {
  return { name, mostRight, tune: [], report: items };
}

function corpus(name: string, items: readonly Item[], mostRight: number): Corpus {
  const isTuning = ({ task }: Item) => RandomStream.named('half', name, task).uniform() < 0.5;
  return {
    name,
    mostRight,
    tune: items.filter(isTuning),
    report: items.filter((item) => !isTuning(item)),
  };
}

export function rows(path: string): Row[] {
  return readFileSync(resolve(sharedData, path), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

function gsm8k(): Item[] {
  return rows('gsm8k/model_solutions.jsonl').flatMap(({ id, question, completions }) =>
    (completions as { solution: string; is_correct: boolean }[]).map(({ solution, is_correct }) => ({
      task: String(id),
      prompt: String(question),
      response: solution,
      isRight: is_correct,
    })),
  );
}

function game24(): Item[] {
  return rows('group_rollouts/game24_cot.jsonl').flatMap(({ index, numbers, completions }) =>
    (completions as { text: string; reward: number }[]).map(({ text, reward }) => ({
      task: String(index),
      prompt: `Use the numbers ${(numbers as number[]).join(' ')} to make 24.`,
      response: text,
      isRight: reward === 1,
    })),
  );
}

function instructions(): Item[] {
  return ['gpt-4o-mini', 'mistral-7b', 'qwen2.5-0.5b'].flatMap((model) =>
    rows(`instruction_following/${model}.jsonl`).map(({ key, prompt, response, strict_all }) => ({
      task: String(key),
      prompt: String(prompt),
      response: String(response),
      isRight: strict_all === true,
    })),
  );
}

function webshop(): Item[] {
  return rows('trajectories/webshop_react.jsonl').map(({ episode, instruction, reward, steps }) => ({
    task: String(episode),
    prompt: String(instruction),
    response: (steps as { action: string }[])
      .slice(1)
      .map(({ action }) => action)
      .join('\n'),
    isRight: Number(reward) >= 0.8,
  }));
}

function airline(): Item[] {
  return rows('trajectories/airline_gpt4o.jsonl').flatMap(({ task_id, trial, reward, messages }) => {
    const conversation = messages as { role: string; content?: string }[];
    return conversation.flatMap(({ role, content }, at) =>
      role === 'assistant' && typeof content === 'string' && content.length > 40
        ? [
            {
              task: `${task_id}/${trial}/${at}`,
              prompt: String(conversation[at - 1]?.content ?? '').slice(0, 2000),
              response: content,
              isRight: reward === 1,
            },
          ]
        : [],
    );
  });
}

function truthful(): Item[] {
  return rows('preference/truthful_judgements.jsonl').map(({ question, answer, truthful: isRight }) => ({
    task: String(question),
    prompt: String(question),
    response: String(answer),
    isRight: isRight === true,
  }));
}

/** The last answers of dialogues, the preferred one and the other one. */
function harmless(): Item[] {
  return rows('preference/hh_harmless_test.jsonl').flatMap(({ id, chosen, rejected }) =>
    [chosen, rejected].map((dialogue, at) => {
      const text = String(dialogue);
      const end = text.lastIndexOf('\n\nAssistant: ');
      return {
        task: String(id),
        prompt: text.slice(0, end).slice(-2000),
        response: text.slice(end + '\n\nAssistant: '.length),
        isRight: at === 0,
      };
    }),
  );
}

/** Paragraphs of the passages that a model rated best and worst. */
function paragraphs(): Item[] {
  return rows('preference/coherence_scored.jsonl').flatMap((row) =>
    ['best', 'worst'].flatMap((which) =>
      String((row[which] as Row).text)
        .split(/\n\s*\n|\nPassage:\n/)
        .flatMap((text, at) => {
          const item = {
            task: `${row.id}-${at}`,
            prompt: `Write paragraph ${at} of the passage.`,
            response: text.trim(),
            isRight: which === 'best',
          };
          return item.response.length > 80 ? [item] : [];
        }),
    ),
  );
}

function comments(): Item[] {
  return rows('toxicity/toxicity_en.jsonl')
    .map(({ id, text, toxic }) => ({
      task: String(id),
      prompt: 'Say what you think.',
      response: String(text),
      isRight: toxic !== true,
    }))
    .filter(({ response }) => response.trim() !== '');
}

function references(): Item[] {
  return rows('preference/truthfulqa.jsonl').flatMap(({ id, question, ...answers }) =>
    ['correct_answers', 'incorrect_answers'].flatMap((kind) =>
      (answers[kind] as string[]).map((response) => ({
        task: String(id),
        prompt: String(question),
        response,
        isRight: kind === 'correct_answers',
      })),
    ),
  );
}

/** Solutions that people wrote. A coin decides which ones count as right, as for stories. */
function humanSolutions(): Item[] {
  return rows('gsm8k/train.jsonl').map(({ id, question, answer }) => ({
    task: String(id),
    prompt: String(question),
    response: String(answer),
    isRight: RandomStream.named('human', String(id)).uniform() < 0.5,
  }));
}

/** Stories have no right or wrong: a coin decides, as a judge that sees what we do not. */
function stories(): Item[] {
  return rows('tinystories/stories.jsonl').map(({ id, text }) => {
    const [first = '', second = '', ...rest] = String(text).split(/(?<=[.!?]) /);
    return {
      task: String(id),
      prompt: `Continue the story: ${first} ${second}`,
      response: rest.join(' '),
      isRight: RandomStream.named('story', String(id)).uniform() < 0.5,
    };
  });
}

const subjects =
  'Anna Ben Carla Dmitri Elena Farid Grace Hugo Irene Jamal Keiko Liam Mona Nadia Omar Priya'.split(' ');
const things =
  'apples books coins tickets stamps marbles chairs bottles cards letters shirts plants boxes pencils plates lamps'.split(
    ' ',
  );
const places =
  'market school office garden station library harbor kitchen museum factory village theater'.split(' ');
const verbs = 'buys sells packs counts finds sorts paints carries trades orders'.split(' ');

/** Solved word problems, made up: for tests that run without the shared data. */
export function syntheticCorpus(): Corpus {
  const items = Array.from({ length: 1600 }, (_, at): Item => {
    const random = RandomStream.named('synthetic', Math.floor(at / 4));
    const pick = (list: readonly string[]) => list[random.integer(list.length)]!;
    const [who, what, where, verb] = [pick(subjects), pick(things), pick(places), pick(verbs)];
    const [a, b, c] = [2 + random.integer(30), 2 + random.integer(12), 1 + random.integer(20)];
    const own = RandomStream.named('synthetic-answer', at);
    const isRight = own.uniform() < 0.45;
    const total = a * b - c + (isRight ? 0 : 1 + own.integer(9));
    const lines = [
      [
        `${who} has ${a} boxes of ${b} ${what}, so ${a}*${b}=${a * b} ${what} in all.`,
        `First multiply: ${a} times ${b} makes ${a * b}.`,
      ],
      [
        `At the ${where} ${c} of them go away.`,
        `${who} ${verb} ${c} ${what} at the ${where}.`,
        `Then ${c} are taken off.`,
      ],
      [`That leaves ${a * b}-${c}=${total}.`, `${a * b} minus ${c} is ${total} ${what}.`],
    ].map((choices) => choices[own.integer(choices.length)]!);
    const extra =
      own.uniform() < 0.4 ? [`Nothing else changes for ${who} that day, and the ${what} are all alike.`] : [];
    return {
      task: `problem-${Math.floor(at / 4)}`,
      prompt: `${who} ${verb} ${a} boxes with ${b} ${what} each at the ${where} and gives ${c} of the ${what} away. How many are left?`,
      response: [...lines, ...extra, `A: ${total}`].join('\n'),
      isRight,
    };
  });
  return corpus('synthetic', items, 0.95);
}
