/** `npx tsx --conditions=@rlp/source lab/train-verifiers.ts`: fits the models of the verifiers and writes their weights. */
import { writeFileSync } from 'node:fs';
import { RandomStream } from '@rlp/core';
import {
  answerFeatures,
  classCount,
  coherenceEvidence,
  type LetterOrder,
  type LinearModel,
  letterClasses,
  letterClassesOf,
  type ModelFeatures,
  probability,
  profanityLexicon,
  proseTokens,
  toxicityBits,
  toxicityFeatures,
  toxicityPieces,
  type WordOrder,
  windows,
  wordClasses,
} from '@rlp/rewards/verification/features';
import { corruptions } from './verification/corruptions.ts';
import { cleanTexts, comments, hasData, judgedAnswers, plainEnglish } from './verification/data.ts';
import {
  calibrated,
  crossValidated,
  type Example,
  fit,
  quantized,
} from './verification/logistic-regression.ts';

const folder = new URL('../packages/rewards/src/verification/model/', import.meta.url);

function write(name: string, about: string, fields: Readonly<Record<string, unknown>>): void {
  const lines = Object.entries(fields).map(([key, value]) => {
    if (typeof value !== 'string' || value.length < 100) return `  ${key}: ${JSON.stringify(value)},`;
    // A declared literal type would repeat the text in the declarations.
    return `  ${key}:\n    ${JSON.stringify(value)} as string,`;
  });
  const text = `/** ${about} Written by \`lab/train-verifiers.ts\`. */\nexport const ${name} = {\n${lines.join('\n')}\n} as const;\n`;
  const file = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  writeFileSync(new URL(`${file}.ts`, folder), text);
  console.log(`${file}.ts: ${text.length} bytes`);
}

const rounded = (weights: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(weights).map(([name, weight]) => [name, Number(weight.toPrecision(5))]));

/** A text that is toxic if any of its pieces is. */
interface Bag {
  readonly text: ModelFeatures;
  readonly pieces: readonly ModelFeatures[];
  readonly positive: boolean;
}

async function trainToxicity(): Promise<void> {
  const profanity = await profanityLexicon();
  const featuresOf = (text: string) => toxicityFeatures(text, profanity.count(text));
  const bagOf = (text: string, positive: boolean): Bag => {
    const pieces = Array.from(new Set(toxicityPieces(text)), featuresOf);
    return { text: featuresOf(text), pieces, positive };
  };
  const labelled = comments('train').map(({ text, toxic }) => bagOf(text, toxic));
  const { stories, solutions, responses, dialogue, answers } = cleanTexts('train');
  const few = [stories, solutions].map((texts) => texts.filter((_, index) => index % 4 === 0));
  const clean = [...few, responses, dialogue, answers]
    .flat()
    // The verifier judges short windows too.
    .flatMap((text, index) => windows(text, [60, 20, 10][index % 3]!))
    // A word or two say nothing: so that they count as nothing.
    .flatMap((text, index) => (index % 3 === 0 ? [text, windows(text, 1 + (index % 4))[1] ?? ''] : [text]))
    .map((text): Example => ({ features: featuresOf(text), positive: false }));
  const cleanBags = [stories, solutions, responses, dialogue, answers]
    .flat()
    .map((text) => bagOf(text, false));
  const fitted = (bags: readonly Bag[]) => {
    const examples = [...bags.flatMap(examplesOf), ...clean];
    const first = fit(examples, toxicityOptions);
    const worst = [...bags.filter(({ positive }) => positive), ...cleanBags].map(
      ({ pieces, positive }): Example => ({ features: worstOf(first, pieces), positive }),
    );
    return fit([...examples, ...worst], toxicityOptions);
  };
  const scores = crossValidated(labelled, 5, (bags) => {
    const model = fitted(bags);
    return ({ pieces }) => probability(model, worstOf(model, pieces));
  });
  const model = calibrated(fitted(labelled), scores, 0.2);
  const { base64, scale } = quantized(model.hashed!.weights);
  write('toxicityWeights', 'Weights of the toxicity model.', {
    bias: Number(model.bias.toPrecision(5)),
    dense: rounded(model.dense),
    scale: scale * model.hashed!.scale,
    words: knownWords().join(' '),
    weights: base64,
  });
}

const toxicityOptions = { bits: toxicityBits, l2: 3e-3, epochs: 30, seed: 'toxicity', averaged: true };

/** A comment, and the pieces of one that is not toxic. None of them is; together they count as four texts. */
function examplesOf({ text, pieces, positive }: Bag): Example[] {
  const parts = positive ? [] : pieces;
  return [
    { features: text, positive },
    ...parts.map((features) => ({ features, positive, weight: 4 / parts.length })),
  ];
}

function worstOf(model: LinearModel, pieces: readonly ModelFeatures[]): ModelFeatures {
  const scores = pieces.map((features) => probability(model, features));
  return pieces[scores.indexOf(Math.max(...scores))]!;
}

/** Words that a run of letters is parted into. Toxic comments count as six sources, because their words are those to be found. */
function knownWords(): string[] {
  const toxic = comments('train').flatMap(({ text, toxic: isToxic }) => (isToxic ? [text] : []));
  const tokensOf = [...plainEnglish('train'), ...Array.from({ length: 6 }, () => toxic)].map((texts) =>
    texts.map(proseTokens),
  );
  return rankedWords(tokensOf)
    .filter((word) => /^[a-z'’]{2,}$|^[ai]$/.test(word))
    .slice(0, 2000);
}

/** The words of sources, the commonest first. Every source counts the same, however long it is. */
function rankedWords(tokensOf: readonly (readonly (readonly string[])[])[]): string[] {
  const counts = new Map<string, number>();
  for (const texts of tokensOf) {
    const tokens = texts.flat();
    for (const token of tokens) {
      if (!/^\p{L}/u.test(token)) continue;
      const word = token.toLowerCase();
      counts.set(word, (counts.get(word) ?? 0) + 40_000 / tokens.length);
    }
  }
  return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([word]) => word);
}

/** Every source counts the same, however long it is. */
function learnWordOrder(sources: readonly (readonly string[])[]): { order: WordOrder; base64: string } {
  const tokensOf = sources.map((texts) => texts.map(proseTokens));
  const share = tokensOf.map((texts) => 40_000 / texts.reduce((sum, tokens) => sum + tokens.length, 0));
  const words = rankedWords(tokensOf).slice(0, 170);
  const own = new Map(words.map((word, index) => [word, index]));
  const size = classCount(words.length);
  const pairs = new Float64Array(size * size);
  const [first, second] = [new Float64Array(size), new Float64Array(size)];
  let total = 0;
  for (const [source, texts] of tokensOf.entries()) {
    const weight = share[source]!;
    for (const classes of texts.map((tokens) => wordClasses(tokens, own))) {
      for (let at = 1; at < classes.length; at++) {
        const [a, b] = [classes[at - 1]!, classes[at]!];
        pairs[a * size + b]! += weight;
        first[a]! += weight;
        second[b]! += weight;
        total += weight;
      }
    }
  }
  const smoothing = 3;
  const information = pairs.map((count, at) => {
    const expected = (first[Math.floor(at / size)]! * second[at % size]!) / total;
    return Math.max(-4, Math.min(4, Math.log((count + smoothing) / (expected + smoothing))));
  });
  const { base64, scale } = quantized(information);
  return { order: { words, information: Int8Array.from(Buffer.from(base64, 'base64')), scale }, base64 };
}

function learnLetterOrder(texts: readonly string[]): { letters: LetterOrder; base64: string } {
  const pairs = new Float64Array(letterClasses ** 2);
  for (const token of texts.flatMap(proseTokens)) {
    if (!/^\p{L}/u.test(token)) continue;
    const letters = letterClassesOf(token.toLowerCase());
    for (let at = 1; at < letters.length; at++) pairs[letters[at - 1]! * letterClasses + letters[at]!]! += 1;
  }
  const total = pairs.reduce((sum, count) => sum + count, 0);
  const sumOver = (keep: (at: number) => boolean) =>
    pairs.reduce((sum, count, at) => (keep(at) ? sum + count : sum), 0);
  const first = Array.from({ length: letterClasses }, (_, a) =>
    sumOver((at) => Math.floor(at / letterClasses) === a),
  );
  const second = Array.from({ length: letterClasses }, (_, b) => sumOver((at) => at % letterClasses === b));
  const information = pairs.map((count, at) => {
    const expected = (first[Math.floor(at / letterClasses)]! * second[at % letterClasses]!) / total;
    return Math.max(-4, Math.min(4, Math.log((count + 5) / (expected + 5))));
  });
  const { base64, scale } = quantized(information);
  return { letters: { information: Int8Array.from(Buffer.from(base64, 'base64')), scale }, base64 };
}

function trainCoherence(): void {
  const texts = cleanTexts('train');
  const { order, base64 } = learnWordOrder(plainEnglish('train'));
  const { letters, base64: letterBase64 } = learnLetterOrder(plainEnglish('train').flat());
  const pieces = [...texts.stories, ...texts.solutions, ...texts.responses, ...texts.dialogue].flatMap(
    (text) => {
      const found = windows(text, 80);
      const short = windows(text, 15 + (text.length % 40))[0]!;
      return [short, found[0]!, ...(found.length > 2 ? [text] : [])];
    },
  );
  const names = Object.keys(corruptions);
  const examples = pieces.flatMap((text, index): Example[] => {
    const random = RandomStream.named('corrupt', index);
    const broken = corruptions[names[index % names.length]!]!(text, random);
    return [
      { features: coherenceEvidence(text, order, letters).features, positive: true },
      { features: coherenceEvidence(broken, order, letters).features, positive: false },
    ];
  });
  const model = fit(examples, { l2: 1e-5, epochs: 60, seed: 'coherence' });
  write('coherenceWeights', 'Weights of the coherence model and the word order it goes by.', {
    bias: Number(model.bias.toPrecision(5)),
    dense: rounded(model.dense),
    words: order.words.join(' '),
    scale: order.scale,
    information: base64,
    letterScale: letters.scale,
    letterInformation: letterBase64,
  });
}

function trainAnswers(): void {
  const examples = judgedAnswers('train').map(
    ({ question, answer, truthful }): Example => ({
      features: answerFeatures(question, answer),
      positive: truthful,
    }),
  );
  const model = fit(examples, { l2: 1e-3, epochs: 40, seed: 'answers' });
  write('answerWeights', 'Weights of the model of truthful answers.', {
    bias: Number(model.bias.toPrecision(5)),
    dense: rounded(model.dense),
  });
}

if (hasData) {
  await trainToxicity();
  trainCoherence();
  trainAnswers();
} else {
  console.log('train-verifiers: no shared data, nothing to learn from');
}
