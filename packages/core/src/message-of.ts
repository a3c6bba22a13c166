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

/** The message of an error of another realm, or else what an object holds. */
function contentsOf(thrown: object): string {
  if ('message' in thrown && typeof thrown.message === 'string') return thrown.message;
  const text = String(thrown);
  if (!text.startsWith('[object ')) return text;
  const json = JSON.stringify(thrown);
  return json.length > shownLetters ? `${json.slice(0, shownLetters)}…` : json;
}
