import { writtenAnswer } from '@rlp/answers';

/** Characters of an answer that are read. A longer one is not an answer. */
const maxAnswerCharacters = 4000;

/** The answer in a response: what stands in the last `<answer>…</answer>`, or else the last line that is not empty. */
export function answerIn(response: string): string {
  const answer = writtenAnswer(response);
  return answer.length > maxAnswerCharacters ? '' : answer;
}
