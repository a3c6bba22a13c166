import { ArgumentError, type Message, RandomStream, type Task } from '@rlp/core';
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

/**
 * Checks that a template has the placeholders it needs and no others.
 *
 * @throws ArgumentError naming those that are missing and unknown.
 */
export function checkTemplate(
  owner: string,
  template: JudgeTemplate,
  {
    required,
    optional = [],
  }: { readonly required: readonly string[]; readonly optional?: readonly string[] },
): void {
  const used = new Set(
    Array.from(`${template.system}\n${template.user}`.matchAll(placeholder), ([, name]) => name!),
  );
  const missing = required.filter((name) => !used.has(name));
  const unknown = [...used].filter((name) => !required.includes(name) && !optional.includes(name));
  const names = (list: readonly string[]) => list.map((name) => `{{${name}}}`).join(', ');
  if (missing.length > 0) throw new ArgumentError(`${owner}: the template must contain ${names(missing)}`);
  if (unknown.length > 0)
    throw new ArgumentError(
      `${owner}: the template contains ${names(unknown)}, which nothing fills in; remove it, or check its spelling`,
    );
}

/** The conversation of a filled template. Values are put in as they are: a placeholder in a value stays text. */
function fillTemplate(template: JudgeTemplate, values: Readonly<Record<string, string>>): Message[] {
  const fill = (text: string) => text.replaceAll(placeholder, (whole, name: string) => values[name] ?? whole);
  return [
    { role: 'system', content: fill(template.system) },
    { role: 'user', content: fill(template.user) },
  ];
}

/** What stands for a template's placeholders, but for the key. `quote` puts material between the key's lines. */
export type FillTemplate = (
  quote: (name: string, text: string) => string,
  key: string,
) => Readonly<Record<string, string>>;

/** The conversation of a template, with material quoted by a key. */
export function quotingMessages(
  template: JudgeTemplate,
  fill: FillTemplate,
  limits: { readonly key: string; readonly maximumCharacters: number },
): Message[] {
  const { key } = limits;
  return fillTemplate(template, { ...fill((name, text) => fenced(name, text, limits), key), key });
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

/** What a task asked, as text: one prompt, or the turns of a conversation. */
export function taskText({ prompt }: Task): string {
  if (typeof prompt === 'string') return prompt;
  return prompt.map(({ role, content }) => `${role}: ${content}`).join('\n\n');
}
