import * as z from 'zod';
import { renderByTemplate } from '../answer/asked-request.ts';
import { ApiError } from '../api-error.ts';
import { chatMessageSchema, chatToolSchema, templateVariablesSchema, unread } from '../openai/messages.ts';
import { tokenText } from '../openai/token-text.ts';
import { readJson, type ServeApp } from '../routes.ts';

const bodySchema = z.looseObject({
  prompt: z.string().nullish(),
  messages: z.array(chatMessageSchema).min(1).nullish(),
  tools: z.array(chatToolSchema).nullish(),
  add_special_tokens: z.boolean().nullish(),
  add_generation_prompt: z.boolean().nullish(),
  chat_template_kwargs: templateVariablesSchema.nullish(),
  chat_template: unread('the template of the model renders all conversations'),
  continue_final_message: unread('the last message is always closed', false),
  return_token_strs: z.boolean().nullish(),
});

const tokensSchema = z.looseObject({ tokens: z.array(z.int().nonnegative()) });

/** Adds `/tokenize` and `/detokenize`. */
export function addTokenizeRoutes(app: ServeApp): void {
  app.post('/tokenize', async (context) => {
    const body = await readJson(context, bodySchema);
    const { tokenizer, renderer, contextLength } = context.get('answerer').policy;
    const tokens = body.messages == null ? textTokens() : chatTokens(body.messages);
    const texts = body.return_token_strs === true ? tokens.map((token) => tokenText(tokenizer, token)) : null;
    return context.json({ count: tokens.length, max_model_len: contextLength, tokens, token_strs: texts });

    function textTokens() {
      if (body.prompt == null) throw new ApiError(400, 'expected prompt or messages, got neither');
      const specialTokens = body.add_special_tokens === false ? 'none' : 'add';
      return tokenizer.encode(body.prompt, { specialTokens });
    }

    function chatTokens(messages: NonNullable<typeof body.messages>) {
      if (renderer === undefined) throw new ApiError(400, 'this model has no chat template; send a prompt');
      const tools = body.tools != null && body.tools.length > 0 ? body.tools : undefined;
      const templateVariables = body.chat_template_kwargs ?? undefined;
      const generationPrompt = body.add_generation_prompt === false ? 'none' : 'add';
      return renderByTemplate({ messages, tools, templateVariables }, renderer, generationPrompt);
    }
  });
  app.post('/detokenize', async (context) => {
    const { tokens } = await readJson(context, tokensSchema);
    return context.json({ prompt: context.get('answerer').policy.tokenizer.decode(tokens) });
  });
}
