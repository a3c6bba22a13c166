import { isPromiseLike } from '../settle-within.ts';
import { type Reading, valueAt } from './reading.ts';
import { keySuggestion, valueSuggestion } from './suggestion.ts';
import { inWords, shownValue } from './wording.ts';

/** A problem as Standard Schema reports it, with the fields that zod adds. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
  /** Of zod: what kind of problem it is. */
  readonly code?: string | undefined;
  /** Of zod: the keys that are not allowed. */
  readonly keys?: readonly string[] | undefined;
  /** Of zod: the problems of each branch of a union. */
  readonly errors?: readonly (readonly SchemaIssue[])[] | undefined;
}

function pathOf({ path = [] }: SchemaIssue): string[] {
  return path.map((part) => String(typeof part === 'object' ? part.key : part));
}

/** zod's message for a union without its own message. */
const unspecific = 'Invalid input';

/**
 * The branch of a union that the input was meant for, which is the one with the fewest problems.
 *
 * Without fields, the input belongs to no branch. The union's message describes it better, if it has one.
 */
function meantBranch(
  { errors = [], message }: SchemaIssue,
  value: unknown,
): readonly SchemaIssue[] | undefined {
  if (message !== unspecific && typeof value !== 'object') return;
  const isOfKind = (issues: readonly SchemaIssue[]) =>
    issues.every(
      (issue) => pathOf(issue).length > 0 || issue.code === 'unrecognized_keys' || issue.code === 'custom',
    );
  return errors.filter(isOfKind).sort((a, b) => a.length - b.length)[0];
}

/** The problem of a union of names and objects, when neither was given. */
function unionMessage({ message, errors = [] }: SchemaIssue, value: unknown): string {
  const got = `, got ${shownValue(value)}`;
  const each = errors.flatMap((issues) => issues.map((issue) => inWords(issue.message, value)));
  const alternatives = [...new Set(each)];
  if (message !== unspecific || alternatives.length === 0) return inWords(message, value);
  if (!alternatives.every((text) => text.startsWith('expected ') && text.endsWith(got))) {
    return alternatives.join('; or ');
  }
  const kinds = alternatives.map((text) => text.slice('expected '.length, -got.length));
  return `expected ${kinds.join(', or ')}${got}`;
}

function lines(issue: SchemaIssue, above: readonly string[], reading: Reading): string[] {
  const path = [...above, ...pathOf(issue)];
  const place = path.length > 0 ? `${path.join('.')}: ` : '';
  if (issue.code === 'unrecognized_keys' && issue.keys !== undefined) {
    return issue.keys.map((key) => {
      const hint = keySuggestion(key, path, reading);
      return `${place}Unrecognized option "${key}"${hint === undefined ? '' : `; ${hint}`}`;
    });
  }
  const value = valueAt(reading, path);
  const branch = issue.code === 'invalid_union' ? meantBranch(issue, value) : undefined;
  if (branch !== undefined) return branch.flatMap((inner) => lines(inner, path, reading));
  const message = issue.code === 'invalid_union' ? unionMessage(issue, value) : inWords(issue.message, value);
  const hint = isPromiseLike(value) ? 'await the promise' : valueSuggestion(value, path, reading);
  return [`${place}${message}${hint === undefined ? '' : `; ${hint}`}`];
}

/** One line per problem, with the place, and what was probably meant. */
export function problemsOf(issues: readonly SchemaIssue[], reading: Reading): string[] {
  return issues.flatMap((issue) => lines(issue, [], reading));
}
