import { apiErrorOf } from '../../api-error.ts';
import { eventStream } from '../../event-stream.ts';
import { answerJson, readJson, type ServeApp, signalOf } from '../../routes.ts';
import { requestOf, responsesSchema } from './request.ts';
import { ResponseWriter } from './writer.ts';

/** Adds `/v1/responses`, without stored responses. */
export function addResponseRoutes(app: ServeApp): void {
  app.post('/v1/responses', async (context) => {
    const body = await readJson(context, responsesSchema);
    const wanted = body.stream === true ? ('wanted' as const) : ('none' as const);
    const answering = await context
      .get('answerer')
      .begin(requestOf(body), { signal: signalOf(context), pieces: wanted });
    const writer = new ResponseWriter(body, answering, context);
    if (wanted === 'none') return answerJson(context, writer.whole(await answering.answer));
    return eventStream(context, writer.events(), (error) => {
      const { message, facts } = apiErrorOf(error);
      const fields = { code: facts.code ?? 'server_error', message, param: facts.param ?? null };
      return { event: 'error', data: { type: 'error', ...fields, sequence_number: writer.next() } };
    });
  });
}
