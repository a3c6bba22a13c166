import type { ServeApp } from '../routes.ts';
import { addGenerateRoute } from './generate.ts';
import { addControlRoutes } from './weights.ts';

/** Adds the routes of SGLang's server that are neither OpenAI's nor vLLM's. */
export function addSglangRoutes(app: ServeApp): void {
  addGenerateRoute(app);
  addControlRoutes(app);
  app.get('/health_generate', async (context) => context.body(null, 200));
  app.on('GET', ['/get_model_info', '/model_info'], (context) => {
    const { weights } = context.get('answerer');
    const path = weights.names[0]?.path ?? weights.name;
    const about = { model_path: path, tokenizer_path: path, is_generation: true };
    return context.json({ ...about, weight_version: weights.label });
  });
  app.on('GET', ['/get_server_info', '/server_info'], (context) => {
    const { weights, policy } = context.get('answerer');
    return context.json({
      ...{ model_path: weights.names[0]?.path ?? weights.name, served_model_name: weights.name },
      ...{ context_length: policy.contextLength, version: 'rlp', weight_version: weights.label },
    });
  });
  app.get('/get_weight_version', (context) =>
    context.json({ weight_version: context.get('answerer').weights.label }),
  );
}
