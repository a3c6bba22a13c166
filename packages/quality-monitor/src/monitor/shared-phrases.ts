const [mostSuspects, mostOthers, mostWords] = [32, 64, 400];
const longest = 4;
/** Least share of the suspects, and most relative share of the others, that have a phrase. */
const [leastShare, mostRelative] = [0.3, 0.25];

/**
 * Returns up to three phrases of one to four words that suspect responses share and others hardly have.
 *
 * Phrases in more suspects and of more words come first. A phrase that is part of another one is left out, and the other way round.
 */
export function sharedPhrases(suspects: readonly string[], others: readonly string[]): string[] {
  const among = countPhrases(suspects.slice(0, mostSuspects));
  const elsewhere = countPhrases(others.slice(0, mostOthers));
  const share = (count: number, texts: readonly string[], most: number) =>
    count / Math.max(1, Math.min(most, texts.length));
  const found = [...among]
    .map(([phrase, count]) => ({ phrase, share: share(count, suspects, mostSuspects), count }))
    .filter((one) => one.count > 1 && one.share >= leastShare)
    .filter((one) => share(elsewhere.get(one.phrase) ?? 0, others, mostOthers) <= mostRelative * one.share)
    .sort((a, b) => worth(b) - worth(a) || b.phrase.length - a.phrase.length);
  const chosen: string[] = [];
  for (const { phrase } of found) {
    const isPart = chosen.some((one) => one.includes(phrase) || phrase.includes(one));
    if (chosen.length < 3 && !isPart) chosen.push(phrase);
  }
  return chosen;
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
