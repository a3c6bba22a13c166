import { parseJsonObject, readText } from '../config/validation.ts';
import { nodePath } from '../node-files.ts';

/** Texts of a model by the names of their files: of a folder, or of what a page was given. */
export interface ModelTexts {
  /** Where they are, for error messages. */
  readonly origin: string;
  /** Place of a file, for error messages. */
  pathOf(name: string): string;
  /** The text of a file. `undefined` if it does not exist. */
  read(name: string): Promise<string | undefined>;
}

/** Texts of a folder. */
export function folderTexts(folder: string): ModelTexts {
  const pathOf = (name: string) => nodePath().join(folder, name);
  return { origin: folder, pathOf, read: (name) => readText(pathOf(name)) };
}

/**
 * A JSON object, or `undefined` if the file does not exist.
 *
 * @throws FormatError if it holds something else.
 */
export async function jsonOf(texts: ModelTexts, name: string): Promise<Record<string, unknown> | undefined> {
  const text = await texts.read(name);
  return text === undefined ? undefined : parseJsonObject(text, texts.pathOf(name));
}
