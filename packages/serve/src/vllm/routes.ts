import type { ServeApp } from '../routes.ts';
import { addGenerateRoute } from './generate.ts';
import { addTokenizeRoutes } from './tokenize.ts';
import { addWeightRoutes } from './weights.ts';

/** Adds the routes of vLLM's server that are not OpenAI's. */
export function addVllmRoutes(app: ServeApp): void {
  addGenerateRoute(app);
  addTokenizeRoutes(app);
  addWeightRoutes(app);
  app.get('/health', (context) => context.body(null, 200));
  app.get('/ping', (context) => context.body(null, 200));
  app.get('/version', (context) => context.json({ version: 'rlp' }));
  app.get('/get_world_size', (context) => context.json({ world_size: 1 }));
}
