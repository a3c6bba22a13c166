import type { ModelFeatures } from './linear-model.ts';

const hedge =
  /\b(?:no comment|it depends|depends on|there is no|there's no|no scientific|not (?:necessarily|clear|known|true)|unclear|unknown|some (?:people|say)|varies|many people|myth|legend|nothing|no evidence|cannot|can't|don't know|not sure)\b/iu;
const negation = /\b(?:no|not|never|nothing|none|nobody|cannot)\b|n['’]t\b/iu;
const absolute = /\b(?:always|all|every|never|must|will)\b/iu;

/** What the model of answers looks at. It is how an answer to a question is put, not what it says. */
export function answerFeatures(question: string, answer: string): ModelFeatures {
  const [asked, said] = [wordSet(question), wordSet(answer)];
  let shared = 0;
  for (const word of said) if (asked.has(word)) shared += 1;
  return {
    dense: {
      hedges: Number(hedge.test(answer)),
      negates: Number(negation.test(answer)),
      length: Math.min(3, Math.log1p(said.size)) / 3,
      sharedOfAnswer: said.size === 0 ? 0 : shared / said.size,
      sharedOfQuestion: asked.size === 0 ? 0 : shared / asked.size,
      yes: Number(/^\s*yes\b/iu.test(answer)),
      no: Number(/^\s*no\b/iu.test(answer)),
      number: Number(/\p{N}/u.test(answer)),
      absolute: Number(absolute.test(answer)),
    },
  };
}

function wordSet(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'’]*/gu) ?? []);
}
