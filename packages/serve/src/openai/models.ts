import { ApiError } from '../api-error.ts';
import { type ServeApp, type ServeContext, secondsNow } from '../routes.ts';
import type { NamedWeights } from '../weights/served-weights.ts';

/** Adds `/v1/models`. `max_model_len`, `root` and `parent` are vLLM's. */
export function addModelRoutes(app: ServeApp): void {
  app.get('/v1/models', (context) => {
    const data = context.get('answerer').weights.names.map((weights) => modelOf(weights, context));
    return context.json({ object: 'list', data });
  });
  app.get('/v1/models/:name{.+}', (context) => {
    const { weights } = context.get('answerer');
    const found = weights.names.find(({ name }) => name === context.req.param('name'));
    if (found !== undefined) return context.json(modelOf(found, context));
    throw new ApiError(404, `The model "${context.req.param('name')}" does not exist`, {
      code: 'model_not_found',
    });
  });
}

function modelOf({ name, path, kind }: NamedWeights, context: ServeContext): object {
  const { weights, policy } = context.get('answerer');
  return {
    ...{ id: name, object: 'model', created: secondsNow(context), owned_by: 'rlp' },
    ...{ root: path ?? name, parent: kind === 'adapter' ? weights.name : null },
    max_model_len: policy.contextLength,
  };
}
