import { counted } from '@rlp/core';

const [mostSuspects, mostOthers, mostWords] = [32, 64, 400];
const longest = 4;
/** Least share of the suspects that have a phrase. */
const leastShare = 0.2;

/**
 * Returns up to three phrases of one to four words that suspect responses share and others hardly have.
 *
 * Of all phrases of the suspects, not even one is expected to differ as much by chance. Phrases in more suspects and of more words
 * come first. A phrase that is part of another one is left out, and the other way round.
 */
export function sharedPhrases(suspects: readonly string[], others: readonly string[]): string[] {
  const [some, rest] = [suspects.slice(0, mostSuspects), others.slice(0, mostOthers)];
  const [among, elsewhere] = [counted(some.flatMap(phrasesOf)), counted(rest.flatMap(phrasesOf))];
  const found = [...among]
    .map(([phrase, count]) => ({ phrase, share: count / some.length, count }))
    .filter(({ phrase, share, count }) => {
      const usual = ((elsewhere.get(phrase) ?? 0) + 0.5) / (rest.length + 1);
      const nats = count > 1 && share >= leastShare ? some.length * divergence(share, usual) : 0;
      return share > usual && nats > Math.log(among.size);
    })
    .sort((a, b) => worth(b) - worth(a) || b.phrase.length - a.phrase.length);
  const chosen: string[] = [];
  for (const { phrase } of found) {
    const isPart = chosen.some((one) => one.includes(phrase) || phrase.includes(one));
    if (chosen.length < 3 && !isPart) chosen.push(phrase);
  }
  return chosen;
}

/** Kullback–Leibler divergence of two shares, in nats. */
export function divergence(share: number, usual: number): number {
  const rest = share >= 1 ? 0 : (1 - share) * Math.log((1 - share) / (1 - usual));
  return share <= 0 ? rest : share * Math.log(share / usual) + rest;
}

function worth({ phrase, share }: { readonly phrase: string; readonly share: number }): number {
  return share * Math.sqrt(phrase.split(' ').length);
}

/** Phrases of the first words of a text, each once. */
function phrasesOf(text: string): string[] {
  const words = (text.toLowerCase().match(/\S+/g) ?? []).slice(0, mostWords);
  const phrases = words.flatMap((_, start) =>
    Array.from({ length: longest }, (_, more) => words.slice(start, start + 1 + more).join(' ')),
  );
  return [...new Set(phrases)];
}
