import { rootCause } from './causes.ts';

/** Letters of a thrown object that a message shows. */
const shownLetters = 200;

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    if (error instanceof Error) return error.message || error.name;
    if (error === undefined || error === null) return `threw ${error}`;
    return typeof error === 'object' ? contentsOf(error) : String(error);
  } catch {
    return 'threw something that cannot be read';
  }
}

/** File and line of the first call of a stack that is no package's, as V8, Firefox and Safari write it. */
const ownCall = /^(?!.*(?:node_modules|node:|at async )).*?([^\s/\\(@]+\.\w+)(?:\?[^:]*)?:(\d+):\d+\)?$/m;

/**
 * A message about an error, and for a mistake of a program such as a `TypeError` also where: `x is not a function, at rewards.ts:12`. Lines of
 * packages in `node_modules` and of Node are passed over, and so is what awaits.
 *
 * @param error - The error, or one that it caused.
 */
export function withPlace(message: string, error: unknown): string {
  try {
    const { name, stack = '' } = rootCause(error) as Error;
    const isMistake = /^(Type|Reference|Range|Syntax)Error$/.test(name);
    const [, file, line] = (isMistake && ownCall.exec(stack)) || [];
    return file === undefined ? message : `${message}, at ${file}:${line}`;
  } catch {
    return message;
  }
}

/** The message of an error of another realm, or else what an object holds. */
function contentsOf(thrown: object): string {
  if ('message' in thrown && typeof thrown.message === 'string') return thrown.message;
  const text = String(thrown);
  if (!text.startsWith('[object ')) return text;
  const json = JSON.stringify(thrown);
  return json.length > shownLetters ? `${json.slice(0, shownLetters)}…` : json;
}
