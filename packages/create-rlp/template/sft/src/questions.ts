/** A row of `data/questions.jsonl`. */
export interface Question {
  readonly question: string;
  readonly answer: string;
}

/** What is wrong with a row. `undefined` if it is fit to be imitated. */
export function problemOf({ question, answer }: Question): string | undefined {
  if (question.trim() === '') return 'the question is empty';
  if (answer.trim() === '') return 'the answer is empty';
  return answer.length > 3 ? 'the answer is longer than three characters' : undefined;
}
