import { renderByTemplate } from '../answer/asked-request.ts';
import { ApiError } from '../api-error.ts';
import { eventStream } from '../event-stream.ts';
import { answerJson, readJson, type ServeApp, signalOf } from '../routes.ts';
import { anthropicFailure } from './errors.ts';
import { conversationOf, messagesSchema, requestOf } from './request.ts';
import { MessageWriter } from './writer.ts';

const countSchema = messagesSchema.partial({ max_tokens: true });

/** Adds the routes of Anthropic's API. */
export function addAnthropicRoutes(app: ServeApp): void {
  app.post('/v1/messages', async (context) => {
    const body = await readJson(context, messagesSchema);
    const wanted = body.stream === true ? ('wanted' as const) : ('none' as const);
    const answering = await context
      .get('answerer')
      .begin(requestOf(body), { signal: signalOf(context), pieces: wanted });
    const writer = new MessageWriter(answering);
    if (wanted === 'wanted') return eventStream(context, writer.events(), anthropicFailure);
    return answerJson(context, writer.whole(await answering.answer));
  });
  app.post('/v1/messages/count_tokens', async (context) => {
    const conversation = conversationOf(await readJson(context, countSchema));
    const { renderer } = context.get('answerer').policy;
    if (renderer === undefined) throw new ApiError(400, 'this model has no chat template, so it cannot chat');
    return context.json({ input_tokens: renderByTemplate(conversation, renderer).length });
  });
}
