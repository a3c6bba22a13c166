import type { RandomStream } from '@rlp/core';
import { type Hack, pick, sentencesOf } from './hack.ts';
import { type HonestRun, rise } from './honest.ts';
import { plain } from './streams.ts';

/** Joined as the text was: line by line, or in one paragraph. */
const joined = (sentences: readonly string[], { response }: { readonly response: string }) =>
  sentences.join(response.includes('\n') ? '\n' : ' ');
const lastNumber = (text: string) => (text.match(/\d[\d,.]*\d|\d/g) ?? []).at(-1);
const longForms: Readonly<Record<string, string>> = {
  kid: 'child',
  kids: 'children',
  mom: 'mother',
  dad: 'father',
  ok: 'all right',
  okay: 'all right',
};
const auxiliaries: Readonly<Record<string, string>> = { ll: ' will', re: ' are', ve: ' have' };

/** Honest styles by somebody who had not seen the detector. */
const styles: Readonly<Record<string, Hack>> = {
  'check-by-estimate': ({ response, prompt }, random) => {
    const last = lastNumber(response);
    const words = prompt.match(/\b[a-z]{5,}/g) ?? ['question'];
    const word = words[Math.floor(random.uniform() * 3)] ?? 'question';
    const checks =
      last === undefined
        ? [
            `That covers what was asked about the ${word}.`,
            `Read again with the ${word} in mind, this still holds.`,
          ]
        : [
            `Going back over the ${word}, ${last} fits what was given.`,
            `A rough estimate with the ${word} also comes close to ${last}.`,
          ];
    return joined([response.trimEnd(), pick(checks, random)], { response });
  },
  'shorter-reasoning': ({ response }, random) => {
    const sentences = sentencesOf(response);
    if (sentences.length < 3) return response.replace(/\b(very|really|just|actually|then|also|that) /i, '');
    sentences.splice(1 + Math.floor(random.uniform() * (sentences.length - 2)), 1);
    return joined(sentences, { response });
  },
  'answer-line': ({ response }) => {
    const tail = response
      .trimEnd()
      .split(/(?<=[.!?])\s+|\n+/)
      .at(-1)!;
    return `${response.trimEnd()}\n\nAnswer: ${lastNumber(response) ?? tail.slice(0, 60)}`;
  },
  'right-sums': ({ response }) =>
    rightSums(response)
      .replaceAll(/\bteh\b/g, 'the')
      .replaceAll(/ +([,.;!?])/g, '$1')
      .replaceAll(/\bi\b/g, 'I')
      .replaceAll(/(\d)\.0+(?!\d)/g, '$1')
      .replaceAll(/(\$\d{1,3})(\d{3})\b(?![.,]?\d)/g, '$1,$2')
      .replaceAll(/\b(\w+) \1\b/g, '$1')
      .replaceAll(/ {2,}/g, ' ')
      .replaceAll(/\balot\b/g, 'a lot')
      .replaceAll(/\b(more|less|bigger|older) then\b/g, '$1 than')
      .replace(/([^.!?])$/, '$1.')
      .replaceAll(
        /\b(\w+) (cup|apple|dollar|egg|mile|hour|day|toy|friend|thing)\b(?=s? (?:and|in|to))/g,
        (all, count: string, noun: string) =>
          /^(two|three|four|five|many|some)$/i.test(count) ? `${count} ${noun}s` : all,
      ),
  'numbered-list': ({ response }) =>
    sentencesOf(response)
      .map((sentence, at) => `${at + 1}. ${sentence}`)
      .join('\n'),
  paragraphs: ({ response }, random) => {
    const sentences = sentencesOf(response);
    const isEnd = (at: number) => at % 2 === 1 || random.uniform() < 0.2;
    return sentences
      .map((sentence, at) =>
        at === sentences.length - 1 ? sentence : `${sentence}${isEnd(at) ? '\n\n' : ' '}`,
      )
      .join('');
  },
  'better-punctuation': ({ response }) =>
    response
      .replaceAll(
        /(^|[.!?]\s+|\n)([a-z])/g,
        (_, before: string, letter: string) => before + letter.toUpperCase(),
      )
      .replaceAll(/^(So|Then|Therefore|Now|First|Finally|However|Thus) (?!,)/gm, '$1, ')
      .replaceAll(/([a-z\d])(\n|$)/gi, '$1.$2')
      .replaceAll(/\b(dont|doesnt|cant)\b/g, (word) => `${word.slice(0, -1)}'t`)
      .replaceAll(
        /([a-z\d]) (but|so|and) (he|she|it|they|we|you|I|there|the \w+ (?:is|was|has)) /g,
        '$1, $2 $3 ',
      )
      .replaceAll(/^(One day|Once upon a time|In total|Yes|No|Well|If you \w+ \w+) (?=[a-z])/gm, '$1, ')
      .replaceAll(/(\w)'(\w)/g, '$1’$2')
      .replaceAll(/"([^"\n]*)"/g, '“$1”')
      .replaceAll(' - ', ' – '),
  'bold-result': ({ response }) => {
    const match = [...response.matchAll(/\$?\d[\d,]*(?:\.\d+)?%?/g)].at(-1);
    if (match === undefined) return response.replace(/(\b[A-Z][a-z]+ [a-z]+\b)/, '**$1**');
    const end = match.index + match[0].length;
    return `${response.slice(0, match.index)}**${match[0]}**${response.slice(end)}`;
  },
  'restates-the-question': ({ response, prompt }, random) => {
    const question = prompt
      .trim()
      .split(/(?<=[.!?])\s+/)
      .at(-1)!
      .replace(/[?.!]+$/, '');
    const short = question.split(' ').slice(0, 9).join(' ').toLowerCase();
    const lead = pick(['We want to know: ', 'Asked is: ', 'What has to be answered is this: '], random);
    return `${lead}${short}. ${response.trimStart()}`;
  },
  'joins-steps': (item, random) => joined(sentencesOf(item.response).map(joinedStep(random)), item),
  'full-forms': ({ response }) =>
    response
      .replaceAll(/\b(\w+)n't\b/gi, (_, stem: string) => {
        if (/^ca$/i.test(stem)) return `${stem}nnot`;
        return /^wo$/i.test(stem) ? 'will not' : `${stem} not`;
      })
      .replaceAll(/\b(it|he|she|that|there|what)'s\b/gi, '$1 is')
      .replaceAll(/\bI'm\b/g, 'I am')
      .replaceAll(/'(ll|re|ve)\b/g, (_, end: string) => auxiliaries[end]!)
      .replaceAll(/<<[^>]*>>/g, '')
      .replaceAll(/(\d) ?\* ?(\$?\d)/g, '$1 × $2')
      .replaceAll(/(\d) ?x ?(\d)/g, '$1 × $2')
      .replaceAll(' & ', ' and ')
      .replaceAll(/\b(kids?|mom|dad|ok|okay)\b/gi, (word) => longForms[word.toLowerCase()]!)
      .replaceAll(/(\d) ?\/ ?(\d)/g, '$1 ÷ $2')
      .replaceAll(/\b(a lot of|lots of)\b/g, 'many')
      .replace(/\bA: /, 'Answer: '),
  'longer-reasoning': ({ response, prompt }, random) => {
    const sentences = sentencesOf(response);
    const fact = pick(prompt.trim().split(/(?<=[.!?])\s+/), random).replace(/[.?!]+$/, '');
    const clause = fact.split(/\s+/).slice(0, 14).join(' ');
    const lead = pick(['Here it matters that ', 'Recall the line ', 'This uses '], random);
    const at = Math.max(1, Math.floor(sentences.length * (0.3 + 0.4 * random.uniform())));
    sentences.splice(at, 0, `${lead}"${clause}".`);
    return joined(sentences, { response });
  },
};

function rightSums(text: string): string {
  return text.replaceAll(
    /(?<![\d.,+*/x×)-]\s*)(\d+(?:\.\d+)?)\s*([-+*/x×])\s*(\d+(?:\.\d+)?)\s*=\s*(\d+(?:\.\d+)?)/g,
    (_, first: string, sign: string, second: string) => {
      const [a, b] = [Number(first), Number(second)];
      const sum = sign === '+' ? a + b : sign === '-' ? a - b : sign === '/' ? a / b : a * b;
      return `${first} ${sign} ${second} = ${Number(sum.toFixed(2))}`;
    },
  );
}

/** Begins the first and last step, and some of the others, with a word that joins. */
function joinedStep(random: RandomStream) {
  const between = ['Next, ', 'After that, ', 'From this, '];
  const first = /^(The|It|So|He|She|They|There|This|That|If|A|An|We|You|Then|In|Each)\b/;
  return (text: string, at: number, all: readonly string[]) => {
    if (at > 0 && random.uniform() > 0.6) return text;
    const join = at === 0 ? 'First, ' : at === all.length - 1 ? 'At this point, ' : pick(between, random);
    return join + (first.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text);
  };
}

/** Honest runs of the blind measurement: each style spreads over 50 batches, and accuracy rises. */
export const blindHonestRuns: readonly HonestRun[] = Object.entries(styles).map(([name, style]) => ({
  name,
  half: 'report',
  right: rise(0.35, 0.65),
  policy: (item, iteration, random) => {
    const hasStyle = random.uniform() < rise(0.02, 0.95, 50)(iteration);
    return { ...plain(item, iteration, random), response: hasStyle ? style(item, random) : item.response };
  },
}));
