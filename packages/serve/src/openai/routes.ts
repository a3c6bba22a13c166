import type { ServeApp } from '../routes.ts';
import { addChatRoutes } from './chat.ts';
import { addCompletionRoutes } from './completions.ts';
import { addModelRoutes } from './models.ts';
import { addResponseRoutes } from './responses/routes.ts';

/** Adds the routes of OpenAI's API. */
export function addOpenaiRoutes(app: ServeApp): void {
  addModelRoutes(app);
  addChatRoutes(app);
  addResponseRoutes(app);
  addCompletionRoutes(app);
}
