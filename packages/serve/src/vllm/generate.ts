import * as z from 'zod';
import type { AnswerChoice } from '../answer/request.ts';
import { promptLogprobsOf } from '../openai/prompt-logprobs.ts';
import { drawOf, samplingFields, samplingOf } from '../openai/sampling.ts';
import { tokenText } from '../openai/token-text.ts';
import { usageOf } from '../openai/usage.ts';
import { answerJson, readJson, type ServeApp, type ServeContext, signalOf } from '../routes.ts';

const bodySchema = z.looseObject({
  model: z.string().nullish(),
  token_ids: z.array(z.int().nonnegative()),
  sampling_params: z.looseObject({
    ...samplingFields,
    max_tokens: z.int().min(1).nullish(),
    logprobs: z.int().min(0).max(20).nullish(),
    prompt_logprobs: z.int().min(-1).nullish(),
  }),
  stream: z.literal(false, 'is not supported; use /v1/completions').nullish(),
});

/** Adds `/inference/v1/generate`: tokens in, tokens out. */
export function addGenerateRoute(app: ServeApp): void {
  app.post('/inference/v1/generate', async (context) => {
    const { model, token_ids: prompt, sampling_params: sampling } = await readJson(context, bodySchema);
    const answerer = context.get('answerer');
    const { prompt_logprobs: wanted, logprobs } = sampling;
    const request = {
      ...{ model: model ?? undefined, prompt, ...drawOf(sampling) },
      // vLLM's default.
      sampling: samplingOf(sampling, sampling.max_tokens ?? 16),
      topLogprobs: logprobs ?? 0,
    };
    const answer = await answerer.answer(request, signalOf(context));
    const version = answerer.weights.labelOf(answer.policyVersion);
    const choices = answer.choices.map((choice, index) =>
      choiceOf(choice, { index, version, context, withLogprobs: logprobs != null }),
    );
    const likely = wanted === -1 ? ('all' as const) : (wanted ?? 0);
    const scoring = { model: answer.model, tokens: prompt, likely };
    const places = wanted == null ? undefined : await answerer.score(scoring, signalOf(context));
    return answerJson(context, {
      ...{ request_id: `generate-${answer.model}`, model: answer.model, choices, usage: usageOf(answer) },
      prompt_logprobs: places ? promptLogprobsOf(places, answerer.policy.tokenizer) : null,
    });
  });
}

function choiceOf(
  { tokens, finish, stopString }: AnswerChoice,
  {
    index,
    version,
    context,
    withLogprobs,
  }: {
    readonly index: number;
    readonly version: string;
    readonly context: ServeContext;
    readonly withLogprobs: boolean;
  },
): object {
  const { tokenizer } = context.get('answerer').policy;
  const content = tokens.map(({ token, logprob, top = [] }) => ({
    ...{ token: tokenText(tokenizer, token), token_id: token, logprob },
    top_logprobs: top.map((likely) => ({
      ...{ token: tokenText(tokenizer, likely.token), token_id: likely.token, logprob: likely.logprob },
    })),
  }));
  return {
    ...{ index, token_ids: tokens.map(({ token }) => token), finish_reason: finish },
    ...{ stop_reason: stopString ?? null, logprobs: withLogprobs ? { content } : null },
    weight_versions: [{ version, start: 0, end: tokens.length }],
  };
}
