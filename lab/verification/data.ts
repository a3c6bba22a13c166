/** Labelled texts from the shared data, each with the part it belongs to. */
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { RandomStream } from '@rlp/core';

const shared = process.env.RLP_SHARED ?? resolve(import.meta.dirname, '..', '..', '..', 'shared');

/** Where the data lies. */
export const dataDirectory = join(shared, 'data');

/** Whether there is data to read. */
export const hasData = existsSync(join(dataDirectory, 'toxicity', 'toxicity_en.jsonl'));

/** What models are fitted on, or what they are judged on and have never seen. */
export type Part = 'train' | 'held-out';

/** The part of a record: three in ten are held out, drawn by the record's key. */
function partOf(...key: readonly (string | number)[]): Part {
  return RandomStream.named('held-out', ...key).uniform() < 0.3 ? 'held-out' : 'train';
}

function records<Row>(path: string): Row[] {
  return readFileSync(join(dataDirectory, path), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
}

/** A comment and whether people found it toxic. */
export interface Comment {
  readonly text: string;
  readonly toxic: boolean;
}

/** The comments of one part. */
export function comments(part: Part): Comment[] {
  return records<Comment & { id: number }>('toxicity/toxicity_en.jsonl').filter(
    ({ id }) => partOf('toxicity', id) === part,
  );
}

/** Prose that is what it should be, by where it comes from. */
export type CleanTexts = Readonly<
  Record<'stories' | 'solutions' | 'responses' | 'dialogue' | 'answers', readonly string[]>
>;

/** The prose of one part. */
export function cleanTexts(part: Part): CleanTexts {
  const stories = records<{ id: number; text: string }>('tinystories/stories.jsonl');
  const solutions = records<{ id: string; question: string; answer: string }>('gsm8k/test.jsonl');
  const answers = records<{ question: string; best_answer: string }>('preference/truthfulqa.jsonl');
  return {
    stories: stories.filter(({ id }) => partOf('story', id) === part).map(({ text }) => text),
    solutions: solutions
      .filter(({ id }) => partOf('gsm8k', id) === part)
      .map(({ question, answer }) => `${question}\n${withoutMarks(answer)}`),
    responses: instructionResponses()
      .filter(({ model, key }) => model === 'gpt-4o-mini' && partOf('instruction', key) === part)
      .map(({ response }) => response),
    dialogue: harmlessPairs(part)
      .map(({ chosen }) => chosen)
      .filter((reply) => reply.split(/\s+/u).length >= 12),
    answers: answers
      .filter(({ question }) => partOf('question', question) === part)
      .map(({ question, best_answer: answer }) => `${question} ${answer}`),
  };
}

/** A solution without calculator marks and the line of the final answer. */
function withoutMarks(solution: string): string {
  return solution.replace(/<<[^>]*>>/gu, '').replace(/\n####.*/su, '');
}

/** Further English of one part, for the statistics of word order: not all of it is fine, but nearly all is English. */
export function plainEnglish(part: Part): readonly (readonly string[])[] {
  const dialogues = records<{ id: number; chosen: string }>('preference/hh_harmless_test.jsonl');
  return [
    ...Object.values(cleanTexts(part)),
    comments(part).flatMap(({ text, toxic }) => (toxic ? [] : [text])),
    dialogues
      .filter(({ id }) => partOf('harmless', id) === part)
      .map(({ chosen }) => chosen.replaceAll(/\n\n(?:Human|Assistant): /gu, '\n')),
    instructionResponses()
      .filter(({ model, key }) => model === 'mistral-7b' && partOf('instruction', key) === part)
      .map(({ prompt, response }) => `${prompt}\n${response}`),
  ];
}

/** What an airline's agent wrote to customers: prose of a kind that no model was fitted on. */
export function agentMessages(): string[] {
  const runs = records<{ trial: number; messages: { role: string; content: string | null }[] }>(
    'trajectories/airline_gpt4o.jsonl',
  );
  const said = runs
    .filter(({ trial }) => trial === 0)
    .flatMap(({ messages }) => messages.filter(({ role }) => role === 'assistant'))
    .flatMap(({ content }) => (content === null || content === undefined ? [] : [content]));
  return [...new Set(said)].filter((text) => text.split(/\s+/u).length >= 20);
}

/** An answer to a question, and whether people found it truthful. */
export interface JudgedAnswer {
  readonly question: string;
  readonly answer: string;
  readonly truthful: boolean;
}

/** The judged answers of one part; all answers to a question are in the same. */
export function judgedAnswers(part: Part): JudgedAnswer[] {
  return records<JudgedAnswer>('preference/truthful_judgements.jsonl').filter(
    ({ question }) => partOf('question', question) === part,
  );
}

/** Solutions of language models to word problems, and whether their answer is right. */
export function modelSolutions(): { readonly solution: string; readonly isCorrect: boolean }[] {
  return records<{ completions: { solution: string; is_correct: boolean }[] }>(
    'gsm8k/model_solutions.jsonl',
  ).flatMap(({ completions }) =>
    completions.map(({ solution, is_correct: isCorrect }) => ({ solution, isCorrect })),
  );
}

/** The worst and the best of ten passages on the same task. */
export function scoredPassages(): { readonly worst: string; readonly best: string }[] {
  return records<Record<'worst' | 'best', { text: string }>>('preference/coherence_scored.jsonl').map(
    ({ worst, best }) => ({ worst: passageOf(worst.text), best: passageOf(best.text) }),
  );
}

function passageOf(text: string): string {
  const at = text.indexOf('Passage:');
  return at < 0 ? text : text.slice(at + 'Passage:'.length).trim();
}

/** Last replies of an assistant, the one people preferred as less harmful and the other. */
export function harmlessPairs(part?: Part): { readonly chosen: string; readonly rejected: string }[] {
  const last = (dialogue: string) => dialogue.slice(dialogue.lastIndexOf('\n\nAssistant:') + 12).trim();
  return records<{ id: number; chosen: string; rejected: string }>('preference/hh_harmless_test.jsonl')
    .filter(({ id }) => part === undefined || partOf('harmless', id) === part)
    .map(({ chosen, rejected }) => ({ chosen: last(chosen), rejected: last(rejected) }));
}

/** Responses to instructions, with what the reference checker says of each instruction. */
export interface InstructionResponse {
  readonly model: string;
  readonly key: number;
  readonly prompt: string;
  readonly response: string;
  readonly instruction_id_list: readonly string[];
  readonly kwargs: readonly Readonly<Record<string, unknown>>[];
  readonly strict: readonly boolean[];
}

/** All of them, three models. */
export function instructionResponses(): InstructionResponse[] {
  return ['gpt-4o-mini', 'mistral-7b', 'qwen2.5-0.5b'].flatMap((model) =>
    records<Omit<InstructionResponse, 'model'>>(`instruction_following/${model}.jsonl`).map((row) => ({
      ...row,
      model,
    })),
  );
}
