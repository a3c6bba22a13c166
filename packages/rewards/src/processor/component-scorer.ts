import { TextScanner } from '../kernel/text-scanner.ts';
import {
  agreementScore,
  confidenceScore,
  fluencyScore,
  keywordScore,
  lengthScore,
  occurrences,
  referenceWords,
  uncertainPhrases,
} from './components.ts';
import type { ResolvedRewardConfig } from './config.ts';
import type { ReadEpisode } from './episode.ts';

/** Names of the components, in the order of the weights. */
export const componentNames = ['length', 'keyword', 'fluency', 'accuracy'] as const;

/** Name of a component. */
export type ComponentName = (typeof componentNames)[number];

/** A column for each component. Shape of each: `[B]`. */
export type ComponentColumns = Readonly<Record<ComponentName, Float64Array>>;

const agreement = { similarityThreshold: 0.7, punctuation: 'ignored' } as const;
const bonusMultiplier = 1;
const tolerance = 0.2;

/** New columns of zeros. */
export function componentColumns(rows: number): ComponentColumns {
  const column = () => new Float64Array(rows);
  return { length: column(), keyword: column(), fluency: column(), accuracy: column() };
}

/** Computes an episode's components in one pass over its response. */
export class ComponentScorer {
  /** 0 for a component that is not computed. In the order of {@link componentNames}. Shape: `[4]`. */
  readonly weights: readonly number[];
  readonly #length: Parameters<typeof lengthScore>[1];
  readonly #reference: (metadata: ReadEpisode['metadata']) => string | undefined;
  readonly #scanner: TextScanner;
  readonly #keywords: readonly string[];
  #prompt: string | undefined;
  #inPrompt: Uint8Array = new Uint8Array();
  #referenceText: string | undefined;
  #referenceWords: ReadonlySet<string> = new Set();

  constructor(
    config: ResolvedRewardConfig,
    reference: (metadata: ReadEpisode['metadata']) => string | undefined,
  ) {
    const { lengthWeight, keywordWeight, perplexityWeight, accuracyWeight, keywords } = config;
    const active = [lengthWeight, keywords.length > 0 ? keywordWeight : 0, perplexityWeight, accuracyWeight];
    this.weights = active.map((weight) => Math.max(0, weight));
    this.#length = { targetLength: config.targetLength, tolerance };
    this.#reference = reference;
    this.#keywords = this.weights[1] === 0 ? [] : keywords;
    const hedges = this.weights[3] === 0 ? [] : uncertainPhrases;
    this.#scanner = new TextScanner(
      [...hedges, ...this.#keywords],
      config.enableCompilation ? 'auto' : 'plain',
    );
  }

  /** Names of the components that are computed. */
  get active(): ComponentName[] {
    return componentNames.filter((_, k) => this.weights[k] !== 0);
  }

  /** Fills in row `row`; rows of responses without words stay 0. Gives the number of words. */
  score({ prompt, response, metadata }: ReadEpisode, row: number, columns: ComponentColumns): number {
    const reference = this.weights[3] === 0 ? undefined : this.#reference(metadata);
    const scan = this.#scanner.scan(response);
    if (scan.words === 0) return 0;
    columns.length[row] = lengthScore(scan.words, this.#length);
    columns.fluency[row] = fluencyScore(scan);
    if (this.#keywords.length > 0) {
      const start = this.weights[3] === 0 ? 0 : uncertainPhrases.length;
      columns.keyword[row] = keywordScore(scan.found, start, this.#keywordsIn(prompt), bonusMultiplier);
    }
    if (this.weights[3] === 0) return scan.words;
    columns.accuracy[row] =
      reference === undefined
        ? confidenceScore(scan.found)
        : agreementScore(response, this.#wordsOf(reference), agreement);
    return scan.words;
  }

  /** Members of a group share their prompt, so the last one is kept. */
  #keywordsIn(prompt: string): Uint8Array {
    if (prompt !== this.#prompt) {
      this.#inPrompt = occurrences(prompt, this.#keywords);
      this.#prompt = prompt;
    }
    return this.#inPrompt;
  }

  #wordsOf(reference: string): ReadonlySet<string> {
    if (reference !== this.#referenceText) {
      this.#referenceWords = referenceWords(reference, agreement.punctuation);
      this.#referenceText = reference;
    }
    return this.#referenceWords;
  }
}
