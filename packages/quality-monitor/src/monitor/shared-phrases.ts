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
  const among = countPhrases(suspects.slice(0, mostSuspects));
  const elsewhere = countPhrases(others.slice(0, mostOthers));
  const [suspectCount, otherCount] = [suspects.slice(0, mostSuspects), others.slice(0, mostOthers)].map(
    ({ length }) => length,
  ) as [number, number];
  const found = [...among]
    .map(([phrase, count]) => ({ phrase, share: count / suspectCount, count }))
    .filter(({ phrase, share, count }) => {
      const usual = ((elsewhere.get(phrase) ?? 0) + 0.5) / (otherCount + 1);
      const nats = count > 1 && share >= leastShare ? suspectCount * divergence(share, usual) : 0;
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
function divergence(share: number, usual: number): number {
  const rest = share === 1 ? 0 : (1 - share) * Math.log((1 - share) / (1 - usual));
  return share * Math.log(share / usual) + rest;
}

function worth({ phrase, share }: { readonly phrase: string; readonly share: number }): number {
  return share * Math.sqrt(phrase.split(' ').length);
}

/** Number of texts with each phrase. */
function countPhrases(texts: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts) {
    const words = text
      .toLowerCase()
      .split(/\s+/, mostWords)
      .filter((word) => word !== '');
    const phrases = new Set<string>();
    for (let start = 0; start < words.length; start++) {
      for (let length = 1; length <= longest; length++) {
        phrases.add(words.slice(start, start + length).join(' '));
      }
    }
    for (const phrase of phrases) counts.set(phrase, (counts.get(phrase) ?? 0) + 1);
  }
  return counts;
}
