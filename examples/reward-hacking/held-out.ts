import type { Policy, Setting } from './setting.ts';

/** Share of held-out sums that the policy gets exactly right, sampled as it is in training: at temperature 1. */
export async function accuracyOf(
  { sampler }: Policy,
  { heldOut, tokenizer, maxTokens, pay: { extract } }: Setting,
  signal?: AbortSignal,
): Promise<number> {
  const responses = await Promise.all(
    heldOut.map(({ prompt }, index) => {
      const tokens = tokenizer.encode(prompt as string);
      return sampler.sample({ prompt: tokens, count: 1, maxTokens, seed: `held-out/${index}`, signal });
    }),
  );
  const right = responses.filter(
    ([response], index) => extract(response!.text) === heldOut[index]!.metadata.answer,
  );
  return right.length / heldOut.length;
}
