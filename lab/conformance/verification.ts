import type { Verifier } from '@rlp/core';
import {
  createCustomVerifierPipeline,
  RuleVerifier,
  type TextRule,
  textpolicyRules,
} from '@rlp/rewards/verification';
import type { AdapterTable, FixtureCase } from './fixture.ts';

/** The rules as the fixture names them; the keywords are those it was made with. */
const rules: Readonly<Record<string, TextRule>> = {
  length: textpolicyRules.length(),
  length_3_20: textpolicyRules.length({ minLength: 3, maxLength: 20 }),
  toxicity: textpolicyRules.toxicity(),
  coherence: textpolicyRules.coherence(),
  factual: textpolicyRules.factual(),
  greeting: textpolicyRules.hasGreeting(),
  non_empty: textpolicyRules.noEmptyResponse(),
  keywords: textpolicyRules.containsKeywords(['reward', 'model']),
};
const pipeline = createCustomVerifierPipeline(
  Object.entries(rules).map(([name, rule]): Verifier => new RuleVerifier(name, rule)),
);

async function verifiers({ inputs }: FixtureCase): Promise<unknown> {
  const [report] = await pipeline.verifyBatch([{ prompt: '', response: inputs.completion }]);
  return Object.fromEntries(
    Object.entries(report!.details.verifiers).map(([name, { result }]) => [name, result === 'pass']),
  );
}

export const verification: AdapterTable = { rewards_textpolicy: { verifiers } };
