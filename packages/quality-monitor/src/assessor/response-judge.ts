import type { DuplicateWindow } from '../text/duplicate-window.ts';
import { HashSet } from '../text/hash-set.ts';
import { ReadText } from '../text/read-text.ts';
import { Sequences, signatureLength } from '../text/sequences.ts';
import { TextReader } from '../text/text-reader.ts';
import { QualitySums } from './metrics.ts';
import type { ResolvedAssessorOptions } from './options.ts';
import { type QualityTools, responseQuality } from './response-quality.ts';
import { shapeReader } from './response-shape.ts';

/** Judges responses batch by batch. Equal responses are judged once. */
export class ResponseJudge {
  readonly #tools: QualityTools;

  /** @throws ArgumentError for tags that are not plain words. */
  constructor(options: ResolvedAssessorOptions) {
    this.#tools = {
      options,
      readShape: shapeReader(options.tags, options.conventions),
      sequences: new Sequences(),
      texts: new TextReader(),
      part: new ReadText(),
      vocabulary: new HashSet(),
      faults: [],
    };
  }

  /** @param recent - Receives the responses. */
  judge(responses: readonly string[], recent: DuplicateWindow): QualitySums {
    const texts = this.#tools.texts.readAll(responses);
    const { vocabulary, faults } = this.#tools;
    const sums = new QualitySums();
    const judge = (text: ReadText, at: number) => {
      const signature = new Uint32Array(signatureLength);
      return { signature, quality: responseQuality(responses[at]!, text, this.#tools, signature) };
    };
    const judged = new Map<ReadText, ReturnType<typeof judge>>();
    vocabulary.clear();
    for (const [at, text] of texts.entries()) {
      const found = judged.get(text) ?? judge(text, at);
      judged.set(text, found);
      sums.add(found.quality);
      recent.add(found.signature);
    }
    sums.differentWords = vocabulary.size;
    sums.faults = faults.splice(0);
    return sums;
  }
}
