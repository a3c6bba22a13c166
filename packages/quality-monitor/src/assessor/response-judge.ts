import { bandKeys, type DuplicateWindow } from '../text/duplicate-window.ts';
import { HashSet } from '../text/hash-set.ts';
import { ReadText } from '../text/read-text.ts';
import { Sequences, signatureLength } from '../text/sequences.ts';
import { TextReader } from '../text/text-reader.ts';
import { QualitySums } from './metrics.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import { type QualityTools, type ResponseQuality, responseQuality } from './response-quality.ts';
import { shapeReader } from './response-shape.ts';

/** A text of a batch. */
interface Judged {
  readonly quality: ResponseQuality;
  readonly signature: Uint32Array;
  readonly keys: Int32Array;
}

/** Judges responses batch by batch. Equal responses are judged once. Objects are reused. */
export class ResponseJudge {
  readonly #tools: QualityTools;
  /** Objects to reuse. */
  readonly #judged: Judged[] = [];

  /** @throws ArgumentError for tags that are not plain words. */
  constructor(options: ResolvedAssessorOptions) {
    this.#tools = {
      options,
      readShape: shapeReader(options.tags),
      sequences: new Sequences(),
      texts: new TextReader(),
      part: new ReadText(),
      vocabulary: new HashSet(),
      faults: [],
    };
  }

  /**
   * @param recent - Receives the responses.
   * @param texts - The responses, if they were read before.
   */
  judge(
    responses: readonly string[],
    recent: DuplicateWindow,
    texts: readonly ReadText[] = this.#tools.texts.readAll(responses),
  ): QualitySums {
    const { vocabulary, faults } = this.#tools;
    const judged = new Map<ReadText, Judged>();
    const sums = new QualitySums();
    vocabulary.clear();
    for (let at = 0; at < responses.length; at++) {
      const text = texts[at]!;
      let found = judged.get(text);
      if (found === undefined) {
        const before = this.#judged[judged.size];
        const signature = before?.signature ?? new Uint32Array(signatureLength);
        const quality = responseQuality(responses[at]!, text, this.#tools, signature);
        found = { quality, signature, keys: bandKeys(signature, before?.keys) };
        this.#judged[judged.size] = found;
        judged.set(text, found);
      }
      sums.add(found.quality);
      recent.add(found.signature, found.keys);
    }
    sums.differentWords = vocabulary.size;
    sums.faults = faults.splice(0);
    return sums;
  }
}
