import type { Candidate } from './candidate.ts';
import { stanceAt } from './stances.ts';

const mostJson = 10_000;

/** The field `answer` of a response that is JSON, or ends in a line or block of it. `null` if it has only others, and several or one that is denied. */
export function jsonAnswer(text: string): Candidate | null | undefined {
  const end = text.slice(-mostJson).trim();
  const body = end.endsWith('```')
    ? end.slice(end.lastIndexOf('```', end.length - 4) + 3, -3).replace(/^[a-z]{0,8}\s/i, '')
    : end.slice(end.lastIndexOf('\n{') + 1);
  if (!body.trimStart().startsWith('{')) return;
  try {
    const fields = Object.entries(JSON.parse(body) as object);
    const value: unknown = fields.find(([name]) => /^(?:final_?)?answer$/i.test(name))?.[1];
    const isDenied = ([name]: [string, unknown]) =>
      stanceAt(`${name} `, { at: name.length + 1, end: name.length + 1 }) !== 'asserts';
    const areDenied = fields.some(isDenied);
    if (value === undefined) return areDenied || fields.length > 1 ? null : undefined;
    return typeof value === 'string' || typeof value === 'number'
      ? { answer: String(value), at: 0, end: 0 }
      : null;
  } catch {
    return;
  }
}
