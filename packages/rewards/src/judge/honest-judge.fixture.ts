import type { Message, TextGenerator, TrajectoryGroup } from '@rlp/core';
import { groupAnswering } from '../trajectories.fixture.ts';

/** A group with these responses. */
export function groupOf(
  responses: readonly string[],
  prompt: string | Message[] = 'Say hello.',
): TrajectoryGroup {
  return groupAnswering(responses, undefined, { task: { id: 'a', prompt, metadata: undefined } });
}

/** What a generator is shown: the key, and the quoted texts by their names. */
export function readPrompt(messages: readonly Message[]): { key: string; quoted: Map<string, string> } {
  const user = messages.at(-1)!.content;
  const key = /\[BEGIN task ([0-9a-f]{16})\]/.exec(user)![1]!;
  const quotes = user.matchAll(
    new RegExp(`\\[BEGIN ([^\\]]*) ${key}\\]\\n([\\s\\S]*?)\\n\\[END \\1 ${key}\\]`, 'g'),
  );
  return { key, quoted: new Map(Array.from(quotes, ([, name, text]) => [name!, text!])) };
}

/** A judge that counts exclamation marks, up to 9. */
const enthusiasm = (text: string) => Math.min(9, text.split('!').length - 1);

/** Judges by exclamation marks, in whatever form it is asked for. */
export const honest: TextGenerator = async (messages) => {
  const { key, quoted } = readPrompt(messages);
  const lines: string[] = [`The key is ${key}, good.`];
  const one = quoted.get('response');
  if (one !== undefined) {
    lines.push(`${key} score: ${enthusiasm(one) + 1}`);
    lines.push(`${key} tone: 5`, `${key} wit: ${Math.min(5, enthusiasm(one) + 1)}`);
  }
  const [a, b] = [quoted.get('response A'), quoted.get('response B')];
  if (a !== undefined && b !== undefined) {
    const margin = enthusiasm(a) - enthusiasm(b);
    lines.push(`**${key} winner: ${margin === 0 ? 'tie' : margin > 0 ? 'A' : 'B'}**`);
    return lines.join('\n');
  }
  const many = [...quoted].filter(([name]) => /^response \d+$/.test(name));
  if (many.length > 0)
    return many.map(([name, text]) => `${key} ${name.slice(9)}: ${enthusiasm(text) / 9}`).join('\n');
  return lines.join('\n');
};

/** Criteria of a rubric. */
export const criteria = [
  { name: 'tone', description: 'is kind' },
  { name: 'wit', description: 'is witty', weight: 3 },
];
/** Responses with no, one and two marks. */
export const group = groupOf(['hello', 'hello!', 'hello!!']);
