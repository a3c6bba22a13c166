import { hashAnswer } from '@rlp/answers';
import type { Task } from '@rlp/core';
import { gsm8kAnswer } from '@rlp/rewards/stock';
import * as z from 'zod';
import type { AnswerBenchmark, BenchmarkOptions, BenchmarkRow } from './benchmark.ts';
import { fieldsOf, idOf } from './fields.ts';

interface Solved {
  readonly answer: string;
}

const invalid = '[invalid]';

/** The first number after `####`, as lm_eval's filter `strict-match` reads it. */
const strictMatch = (response: string) => hashAnswer(response, 'first') ?? invalid;

/** The last number, as lm_eval's filter `flexible-extract` reads it. */
function flexibleExtract(response: string): string {
  let found = invalid;
  for (const match of response.matchAll(/(-?[$0-9.,]{2,})|(-?[0-9]+)/g)) found = match[0];
  return found.trim();
}

/** What lm_eval compares: without thousands separators, dollars, a last full stop and what precedes `#### `. */
function comparable(answer: string): string {
  const hash = answer.lastIndexOf('#### ');
  const last = hash < 0 ? answer : answer.slice(hash + '#### '.length);
  return last
    .replaceAll(/[,$]/g, '')
    .replace(/\.(?=\n?$)/, '')
    .toLowerCase();
}

/** Grade-school word problems: rows of `{ question, answer }`, where answers end in `#### 18`. */
export function gsm8k(rows: readonly BenchmarkRow[], options: BenchmarkOptions = {}): AnswerBenchmark {
  const { style = 'completion', source = 'gsm8k' } = options;
  const fields = fieldsOf(rows, { question: z.string(), answer: z.string() }, source);
  const ask = (question: string) =>
    style === 'completion'
      ? `Question: ${question}\nAnswer:`
      : [{ role: 'user' as const, content: `${question}\nEnd with a line "#### " and the number.` }];
  const match =
    (read: (response: string) => string) =>
    ({ task, response }: { task: Task; response: string }) =>
      Number(comparable(read(response)) === comparable((task.metadata as Solved).answer));
  return {
    kind: 'answer',
    name: 'gsm8k',
    metric: 'exact_match,strict-match',
    tasks: fields.map(({ question, answer }, index) => ({
      id: idOf(rows[index]!, index),
      prompt: ask(question),
      metadata: { answer },
    })),
    metrics: {
      'exact_match,strict-match': match(strictMatch),
      'exact_match,flexible-extract': match(flexibleExtract),
      ours: gsm8kAnswer({ reference: (metadata) => (metadata as Solved).answer }),
    },
    answer: (response) => hashAnswer(response) ?? numberOrNothing(flexibleExtract(response)),
    sampling: { maxTokens: 256, ...(style === 'completion' && { stopStrings: ['Question:'] }) },
  };
}

const numberOrNothing = (text: string) => (text === invalid ? undefined : comparable(text));
