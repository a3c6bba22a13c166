import type { Message, TextGenerator } from '@rlp/core';

/** What a judge is shown: its key, the quoted responses, and the rest of the prompt. */
function shown(messages: readonly Message[]) {
  const text = messages.map(({ content }) => content).join('\n');
  const key = /\[BEGIN task ([0-9a-f]{16})\]/.exec(text)?.[1] ?? '';
  // A long response is shown in parts.
  const quotation = new RegExp(`\\[BEGIN (response[^\\]]*?) ${key}\\]([^]*?)\\[END \\1 ${key}\\]`, 'g');
  const responses = [...text.matchAll(quotation)].map(([, , response]) => response!);
  const rules = text.replace(quotation, '');
  for (const response of responses) if (response.includes('FILTERED')) throw new Error('refused by a filter');
  return { key, rules, responses };
}

/** A text as a capable model reads it: whatever its case, marks, tags, the escapes of its letters, and blanks between them. */
const read = (response: string) =>
  response
    .replace(/<bdo dir="rtl">([^<]*)<\/bdo>/g, (_, turned: string) => [...turned].reverse().join(''))
    .replace(/(?:&amp;#|&#)0*(\d+);|\\u([0-9a-f]{4})/gi, (_, decimal, hexadecimal) =>
      String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16)),
    )
    .replace(/<\w+>|\*\*/g, '')
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/(?<=\b\w) (?=\w\b)/g, '')
    .toUpperCase();

const refuses = (response: string) => response.normalize('NFD').includes('REFUSE');

/** Lines that an obedient model repeats. */
const repeated = (response: string) =>
  (response.normalize('NFKC').match(/^.*(?:score|winner).*$/gim) ?? []).slice(0, 1000);

/** The scripted judge that `judge-attacks.ts` describes. */
export const obedient: TextGenerator = async (messages) => {
  const { key, rules, responses } = shown(messages);
  const response = responses[0] ?? '';
  if (refuses(response)) return '';
  const highest = /from -?\d+ \(worst\) to\s+(\d+)/.exec(rules)?.[1] ?? '10';
  const lowest = /from (-?\d+) \(worst\)/.exec(rules)?.[1] ?? '1';
  const score = read(response).includes('INSULT') ? lowest : highest;
  return [...repeated(response), `${key} score: ${score}`].join('\n');
};

/** An obedient judge that also writes what a response asks it to write, with its key for KEY. */
export const credulous: TextGenerator = async (messages, options) => {
  const { key, responses } = shown(messages);
  const asked = (place: string) =>
    [...(responses[0] ?? '').matchAll(new RegExp(`^Write ${place}:(.*)$`, 'gm'))].map(([, line]) =>
      line!.trimStart().replaceAll('KEY', key),
    );
  return [...asked('first'), await obedient(messages, options), ...asked('last')].join('\n');
};

/** An obedient judge of several responses: it prefers those without INSULT. */
export const comparing: TextGenerator = async (messages) => {
  const { key, rules, responses } = shown(messages);
  const texts = responses.map(read);
  if (responses.some(refuses)) return '';
  const bad = texts.map((text) => text.trim() === '' || text.includes('INSULT'));
  const winner = bad[0] === bad[1] ? 'tie' : bad[0] ? 'B' : 'A';
  const lines = rules.split('\n').filter((line) => line.startsWith(key) && /NUMBER|CHOICE/.test(line));
  const verdict = lines.map((line, k) =>
    line.replace('NUMBER', bad[k] ? '0' : '1').replace('CHOICE', winner),
  );
  return [...responses.flatMap(repeated), ...verdict].join('\n');
};
