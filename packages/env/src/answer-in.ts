/** Characters of a response that are read. An answer that is longer is not an answer. */
const maxAnswerCharacters = 4000;

/** The answer in a response: what stands in the last `<answer>…</answer>`, or else the last line that is not empty. */
export function answerIn(response: string): string {
  // To look from the end takes forty times as long, so that is done only for what is there.
  const close = response.includes('</answer>') ? response.lastIndexOf('</answer>') : -1;
  const open = close < 0 ? -1 : response.lastIndexOf('<answer>', close);
  const inside =
    open < 0
      ? response.trimEnd().slice(-maxAnswerCharacters - 1)
      : response.slice(open + '<answer>'.length, close);
  const answer = open < 0 ? inside.slice(inside.lastIndexOf('\n') + 1) : inside;
  return answer.length > maxAnswerCharacters ? '' : answer.trim();
}
