import { conversationText, type Message, RandomStream } from '@rlp/core';
import * as z from 'zod';
import { plainText } from '../shared/plain-text.ts';

/**
 * A prompt as data. `{{name}}` stands for what the judge fills in. Which names there are is said by each judge's default template.
 *
 * `{{key}}` must occur: it is drawn anew for each call and marks both where quoted material begins and ends, and the lines that hold
 * the verdict. A response cannot know it, so nothing in it is taken for a verdict.
 */
export interface JudgeTemplate {
  readonly system: string;
  readonly user: string;
}

const placeholder = /\{\{([a-zA-Z]+)\}\}/g;

/** Schema of a template that has the required placeholders, and no others than the default one. */
export function templateSchema(fallback: JudgeTemplate, required: readonly string[]) {
  const known = new Set([...placeholdersOf(fallback), 'key']);
  const names = (list: readonly string[]) => list.map((name) => `{{${name}}}`).join(', ');
  const isTemplate = ({ system, user }: Partial<JudgeTemplate>) =>
    typeof system === 'string' && typeof user === 'string';
  return z
    .custom<JudgeTemplate>(
      (value) => typeof value === 'object' && value !== null && isTemplate(value),
      'must be { system, user }',
    )
    .check(({ value, issues }) => {
      const used = placeholdersOf(value);
      const missing = required.filter((name) => !used.includes(name));
      const unknown = used.filter((name) => !known.has(name));
      const problem =
        missing.length > 0
          ? `must contain ${names(missing)}`
          : `contains ${names(unknown)}, which nothing fills in; remove it, or check its spelling`;
      if (missing.length + unknown.length > 0)
        issues.push({ code: 'custom', message: problem, input: value });
    })
    .default(fallback);
}

function placeholdersOf({ system, user }: JudgeTemplate): string[] {
  return Array.from(`${system}\n${user}`.matchAll(placeholder), ([, name]) => name!);
}

/** The conversation of a filled template. Values are put in as they are: a placeholder in a value stays text. */
function fillTemplate(template: JudgeTemplate, values: Readonly<Record<string, string>>): Message[] {
  const fill = (text: string) => text.replaceAll(placeholder, (whole, name: string) => values[name] ?? whole);
  return [
    { role: 'system', content: fill(template.system) },
    { role: 'user', content: fill(template.user) },
  ];
}

/** What stands for a template's placeholders, but for the key. `quote` puts a text or a conversation between the key's lines. */
export type FillTemplate = (
  quote: (name: string, material: string | readonly Message[]) => string,
  key: string,
) => Readonly<Record<string, string>>;

/** The conversation of a template, and the key that quotes material in it, drawn from the stream of that path. */
export function quotingMessages(
  template: JudgeTemplate,
  fill: FillTemplate,
  {
    path,
    maximumCharacters,
  }: { readonly path: readonly (string | number)[]; readonly maximumCharacters: number },
): { readonly key: string; readonly messages: Message[] } {
  const texts: string[] = [];
  fill((_, material) => String(texts.push(conversationText(material))), '');
  const key = drawKey(path, texts);
  const values = fill(
    (name, material) => fenced(name, conversationText(material), { key, maximumCharacters }),
    key,
  );
  return { key, messages: fillTemplate(template, { ...values, key }) };
}

/** Sixteen hexadecimal digits from the stream of this name that occur in none of the texts. */
export function drawKey(name: readonly (string | number)[], texts: readonly string[]): string {
  const stream = RandomStream.named('judge key', ...name);
  for (;;) {
    const half = () =>
      Math.floor(stream.uniform() * 0x100000000)
        .toString(16)
        .padStart(8, '0');
    const key = half() + half();
    if (!texts.some((text) => text.includes(key))) return key;
  }
}

/** Quotes material without disguises between lines that only the key's holder can write. A text beyond the limit loses its middle. */
function fenced(
  name: string,
  text: string,
  { key, maximumCharacters }: { readonly key: string; readonly maximumCharacters: number },
): string {
  return `[BEGIN ${name} ${key}]\n${shortened(plainText(text).text, maximumCharacters)}\n[END ${name} ${key}]`;
}

function shortened(text: string, maximum: number): string {
  if (text.length <= maximum) return text;
  const half = Math.floor(maximum / 2);
  return `${text.slice(0, half)}\n[… ${text.length - 2 * half} characters left out …]\n${text.slice(-half)}`;
}

export { workText as shownWork } from '@rlp/core';
