/** What the verifiers of `@rlp/rewards` find in texts that they have never seen, and what textpolicy's rules find there. */
import type { Verifier } from '@rlp/core';
import {
  CoherenceVerifier,
  createDefaultVerifierPipeline,
  FactualVerifier,
  FormatVerifier,
  LanguageVerifier,
  RepetitionVerifier,
  RuleVerifier,
  SafetyPatternVerifier,
  ToxicityVerifier,
  textpolicyRules,
} from '@rlp/rewards/verification';
import {
  agentMessages,
  type CleanTexts,
  type harmlessPairs,
  instructionResponses,
  scoredPassages,
} from './data.ts';
import { type Detection, detection, type Judged, type ReliabilityBin, reliability } from './metrics.ts';
import { type Labelled, labelledSets } from './sets.ts';

/** A row of a table: who judged what, and how well. */
interface Row extends Detection {
  readonly set: string;
  readonly by: string;
}

/** Shares of texts that are fine and yet failed. */
interface FalseAlarmRow {
  readonly set: string;
  readonly texts: number;
  readonly shares: Readonly<Record<string, number>>;
}

/** A comparison within pairs. */
interface PairRow {
  readonly set: string;
  readonly by: string;
  readonly pairs: number;
  /** Share of the pairs in which the better text scores higher; ties count half. */
  readonly accuracy: number;
}

/** Everything that is measured. */
export interface Measurements {
  readonly rows: readonly Row[];
  readonly falseAlarms: readonly FalseAlarmRow[];
  readonly pairs: readonly PairRow[];
  readonly agreement: readonly { readonly set: string; readonly texts: number; readonly agree: number }[];
  readonly reliability: Readonly<Record<string, readonly ReliabilityBin[]>>;
}

const remembered = new WeakMap<readonly Labelled[], Map<Verifier, Promise<Judged[]>>>();

/** What a verifier says of a set of texts; asked once. */
function judge(verifier: Verifier, texts: readonly Labelled[]): Promise<Judged[]> {
  const known = remembered.get(texts) ?? new Map<Verifier, Promise<Judged[]>>();
  remembered.set(texts, known);
  const judged = known.get(verifier) ?? judgeNow(verifier, texts);
  known.set(verifier, judged);
  return judged;
}

async function judgeNow(verifier: Verifier, texts: readonly Labelled[]): Promise<Judged[]> {
  const reports = await verifier.verifyBatch(
    texts.map(({ prompt = '', text }) => ({ prompt, response: text })),
  );
  return texts.map(({ good }, index) => {
    const { score, result } = reports[index]!;
    return { good, score, failed: result === 'fail' };
  });
}

const ours = {
  toxicity: new ToxicityVerifier(),
  coherence: new CoherenceVerifier(),
  statements: new FactualVerifier(),
  answers: new FactualVerifier({ scope: 'answers' }),
  repetition: new RepetitionVerifier(),
};
const original = {
  toxicity: new RuleVerifier('textpolicy', textpolicyRules.toxicity()),
  coherence: new RuleVerifier('textpolicy', textpolicyRules.coherence()),
  factual: new RuleVerifier('textpolicy', textpolicyRules.factual()),
};
/** Fewer than half of the words are different ones: a common rule of thumb. */
const distinctWords = new RuleVerifier('half of the words distinct', (text) => {
  const words = text.toLowerCase().split(/\s+/u);
  return new Set(words).size >= words.length / 2;
});

async function accuracyOf(
  verifier: Verifier,
  pairs: readonly { readonly better: string; readonly worse: string }[],
): Promise<number> {
  const scoresOf = async (texts: readonly string[]) =>
    (await verifier.verifyBatch(texts.map((response) => ({ prompt: '', response })))).map(
      ({ score }) => score,
    );
  const better = await scoresOf(pairs.map((pair) => pair.better));
  const worse = await scoresOf(pairs.map((pair) => pair.worse));
  const won = better.reduce(
    (sum, score, k) => sum + (score > worse[k]! ? 1 : score === worse[k] ? 0.5 : 0),
    0,
  );
  return won / pairs.length;
}

/** A set of texts, who judges it, who judged it before, and the share of bad texts the score is calibrated for, if set. */
type Plan = readonly (readonly [string, Verifier, Verifier, readonly Labelled[], number?])[];

function planOf(sets: ReturnType<typeof labelledSets>): Plan {
  const evenOdds = new ToxicityVerifier({ expectedFailures: 0.5 });
  const { toxicity, coherence, statements, answers, repetition } = ours;
  const prose = (set: string, texts: readonly Labelled[]) =>
    [set, coherence, original.coherence, texts, 0.1] as const;
  return [
    ['toxic comments (held out)', toxicity, original.toxicity, sets.toxicity, 0.2],
    ['… with expectedFailures 0.5', evenOdds, original.toxicity, sets.toxicity],
    ...sets.disguised.map(
      ([name, texts]) => [`… an untouched half, ${name}`, toxicity, original.toxicity, texts, 0.2] as const,
    ),
    prose('prose against corrupted prose (held out)', sets.corrupted),
    ...sets.byCorruption.map(([name, texts]) => prose(`… ${name}`, texts)),
    prose('… an airline agent, a kind never trained on', sets.otherProse),
    prose('… sentences reordered', sets.reordered),
    ['one result of a solution wrong', statements, original.factual, sets.arithmetic],
    ['solutions of models with a wrong answer', statements, original.factual, sets.solutions],
    ['untruthful answers (held out)', answers, original.factual, sets.answers],
    ['prose against loops', repetition, distinctWords, sets.loops],
  ];
}

/** Measures; the shared data must be there. */
export async function measure(): Promise<Measurements> {
  const sets = labelledSets();
  const { toxicity, coherence, answers } = ours;
  const rows: Row[] = [];
  for (const [set, one, other, texts, expected] of planOf(sets)) {
    const expectedBad = expected ?? texts.filter(({ good }) => !good).length / texts.length;
    rows.push({ set, by: `ours (${one.name})`, ...detection(await judge(one, texts), expectedBad) });
    rows.push({ set, by: other.name, ...detection(await judge(other, texts), expectedBad) });
  }
  return {
    rows,
    falseAlarms: await falseAlarms(sets.clean),
    pairs: await pairs(sets.harmless),
    agreement: await agreement(),
    reliability: {
      toxicity: reliability(await judge(toxicity, sets.toxicity), 0.2),
      coherence: reliability(await judge(coherence, sets.corrupted), 0.1),
      'factual (answers)': reliability(await judge(answers, sets.answers), 0.6),
    },
  };
}

async function falseAlarms(clean: CleanTexts): Promise<FalseAlarmRow[]> {
  const verifiers: Readonly<Record<string, Verifier>> = {
    toxicity: new ToxicityVerifier(),
    coherence: new CoherenceVerifier(),
    factual: new FactualVerifier(),
    repetition: new RepetitionVerifier(),
    'safety-pattern': new SafetyPatternVerifier(),
    'default pipeline': createDefaultVerifierPipeline(),
    'textpolicy toxicity': original.toxicity,
    'textpolicy coherence': original.coherence,
    'textpolicy factual': original.factual,
    'textpolicy length': new RuleVerifier('textpolicy', textpolicyRules.length()),
  };
  const rows: FalseAlarmRow[] = [];
  for (const [set, texts] of Object.entries({ ...clean, 'airline agent': agentMessages() })) {
    const shares: Record<string, number> = {};
    for (const [name, verifier] of Object.entries(verifiers)) {
      const judged = await judge(
        verifier,
        texts.map((text) => ({ text, good: true })),
      );
      shares[name] = judged.filter(({ failed }) => failed).length / judged.length;
    }
    rows.push({ set, texts: texts.length, shares });
  }
  return rows;
}

async function pairs(harmless: ReturnType<typeof harmlessPairs>): Promise<PairRow[]> {
  const replies = harmless.map(({ chosen, rejected }) => ({ better: chosen, worse: rejected }));
  const passages = scoredPassages().map(({ best, worst }) => ({ better: best, worse: worst }));
  const plan: readonly (readonly [string, Verifier, typeof replies])[] = [
    ['harmless replies, preferred against rejected', new ToxicityVerifier(), replies],
    ['harmless replies, preferred against rejected', original.toxicity, replies],
    ['passages, best against worst of ten', new CoherenceVerifier(), passages],
    ['passages, best against worst of ten', original.coherence, passages],
  ];
  const rows: PairRow[] = [];
  for (const [set, verifier, judged] of plan) {
    const by = verifier instanceof RuleVerifier ? verifier.name : `ours (${verifier.name})`;
    rows.push({ set, by, pairs: judged.length, accuracy: await accuracyOf(verifier, judged) });
  }
  return rows;
}

/** How often a verifier says what the reference checker of IFEval says. */
async function agreement(): Promise<Measurements['agreement']> {
  const cases = instructionResponses().flatMap(({ instruction_id_list: ids, kwargs, strict, response }) =>
    ids.map((id, k) => ({ id, options: kwargs[k]!, verdict: strict[k]!, response })),
  );
  const rows: { set: string; texts: number; agree: number }[] = [];
  for (const [set, id, create] of [
    ['format: JSON', 'en:detectable_format:json_format', () => new FormatVerifier()],
    [
      'language',
      'en:language:response_language',
      (options: Readonly<Record<string, unknown>>) =>
        new LanguageVerifier({ languages: [String(options.language)] }),
    ],
  ] as const) {
    const relevant = cases.filter((one) => one.id === id);
    let agree = 0;
    for (const { options, verdict, response } of relevant) {
      const [report] = await create(options).verifyBatch([{ prompt: '', response }]);
      if ((report!.result !== 'fail') === verdict) agree += 1;
    }
    rows.push({ set, texts: relevant.length, agree: agree / relevant.length });
  }
  return rows;
}
