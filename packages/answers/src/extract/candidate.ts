/** A value that a text may give as its answer: how it reads, and where it stands. */
export interface Candidate {
  readonly answer: string;
  readonly at: number;
  readonly end: number;
}

/** A part of a text as a candidate. A denial may be one of its words, so its place is the last one: `even` of "not even". */
export function candidateIn(text: string, part: string, answer = part, from = 0): Candidate {
  const at = text.indexOf(part, from);
  const words = /^(?:(?!exist|not exist|at |more |less |fewer |greater |minus |negative )[a-z'’]+ )*/i.exec(
    part,
  )![0];
  return { answer, at: at + words.length, end: at + part.length };
}
