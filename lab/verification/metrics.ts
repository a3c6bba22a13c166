/** One text with its label and what a verifier says. */
export interface Judged {
  /** Whether the text is as it should be. */
  readonly good: boolean;
  /** The report's score. */
  readonly score: number;
  /** Whether the report fails it. */
  readonly failed: boolean;
}

/** How well a verifier finds bad texts. */
export interface Detection {
  readonly texts: number;
  readonly bad: number;
  /** Of the texts it fails, the share that is bad; NaN if it fails none. */
  readonly precision: number;
  /** Of the bad texts, the share it fails. */
  readonly recall: number;
  readonly f1: number;
  /** Of the good texts, the share it fails. */
  readonly falseAlarms: number;
  /** Probability that a good text scores above a bad one. */
  readonly auc: number;
  /** Expected calibration error of the score as P(good), ten bins. */
  readonly calibrationError: number;
}

/**
 * The figures of one verifier on one set of texts.
 *
 * @param expectedBad - The share of bad texts that the score is calibrated for; its calibration is measured as if the set had it.
 */
export function detection(judged: readonly Judged[], expectedBad: number): Detection {
  const bad = judged.filter(({ good }) => !good);
  const good = judged.filter((one) => one.good);
  const hits = bad.filter(({ failed }) => failed).length;
  const alarms = good.filter(({ failed }) => failed).length;
  const precision = hits / (hits + alarms);
  const recall = hits / bad.length;
  return {
    texts: judged.length,
    bad: bad.length,
    precision,
    recall,
    f1: hits === 0 ? 0 : (2 * precision * recall) / (precision + recall),
    falseAlarms: alarms / good.length,
    auc: aucOf(
      good.map(({ score }) => score),
      bad.map(({ score }) => score),
    ),
    calibrationError: reliability(judged, expectedBad).reduce(
      (sum, { share, meanScore, shareGood }) => sum + share * Math.abs(meanScore - shareGood),
      0,
    ),
  };
}

/** Texts whose scores fall between two tenths. */
export interface ReliabilityBin {
  readonly from: number;
  readonly texts: number;
  /** Of all texts, by weight. */
  readonly share: number;
  readonly meanScore: number;
  readonly shareGood: number;
}

/**
 * The reliability table of a score as P(good): of texts scored about 0.8, about 0.8 should be good. Good and bad texts are
 * weighted to the share of bad ones that is expected. Empty bins are absent.
 */
export function reliability(judged: readonly Judged[], expectedBad: number, bins = 10): ReliabilityBin[] {
  const bad = judged.filter(({ good }) => !good).length;
  const weightOf = ({ good }: Judged) =>
    good ? (1 - expectedBad) / (judged.length - bad) : expectedBad / bad;
  return Array.from({ length: bins }, (_, bin) => {
    const inside = judged.filter(({ score }) => Math.min(bins - 1, Math.floor(score * bins)) === bin);
    const share = inside.reduce((sum, one) => sum + weightOf(one), 0);
    return {
      from: bin / bins,
      texts: inside.length,
      share,
      meanScore: inside.reduce((sum, one) => sum + weightOf(one) * one.score, 0) / share,
      shareGood: inside.reduce((sum, one) => sum + (one.good ? weightOf(one) : 0), 0) / share,
    };
  }).filter(({ texts }) => texts > 0);
}

function aucOf(good: readonly number[], bad: readonly number[]): number {
  let wins = 0;
  for (const g of good) for (const b of bad) wins += g > b ? 1 : g === b ? 0.5 : 0;
  return wins / (good.length * bad.length);
}
