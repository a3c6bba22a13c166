import * as z from 'zod';
import { apiErrorOf } from '../api-error.ts';
import { readJson, type ServeApp, type ServeContext } from '../routes.ts';

const loadSchema = z.looseObject({ lora_name: z.string().min(1), lora_path: z.string().min(1) });
const unloadSchema = z.looseObject({ lora_name: z.string().min(1) });
const updateSchema = z.looseObject({
  model_path: z.string().min(1),
  weight_version: z.string().nullish(),
  abort_all_requests: z.boolean().nullish(),
});
const pauseSchema = z.looseObject({ mode: z.enum(['abort', 'retract', 'in_place']).nullish() });

/** Adds the routes that change weights: adapters, checkpoints, and the pause around them. */
export function addControlRoutes(app: ServeApp): void {
  app.post('/load_lora_adapter', async (context) => {
    const { lora_name: name, lora_path: path } = await readJson(context, loadSchema);
    return commanded(context, async () => {
      await context.get('answerer').weights.loadAdapter(name, path);
      return { loaded_adapters: adaptersOf(context) };
    });
  });
  app.post('/unload_lora_adapter', async (context) => {
    const { lora_name: name } = await readJson(context, unloadSchema);
    return commanded(context, async () => {
      context.get('answerer').weights.unloadAdapter(name);
      return { loaded_adapters: adaptersOf(context) };
    });
  });
  app.post('/update_weights_from_disk', async (context) => {
    const {
      model_path: path,
      weight_version: label,
      abort_all_requests,
    } = await readJson(context, updateSchema);
    const { weights } = context.get('answerer');
    return commanded(context, async () => {
      if (abort_all_requests === true) weights.abortAll();
      await weights.reload(path);
      if (label != null) weights.label = label;
      return { num_paused_requests: 0 };
    });
  });
  app.post('/pause_generation', async (context) => {
    const { mode } = await readJson(context, pauseSchema);
    await context.get('answerer').weights.pause(mode === 'abort' ? 'abort' : 'wait');
    return context.json({ status: 'ok', message: 'Generation paused successfully.' });
  });
  app.post('/continue_generation', (context) => {
    context.get('answerer').weights.resume();
    return context.json({ status: 'ok', message: 'Generation continued successfully.' });
  });
  // Caches of other weights are never used, so there is nothing to forget.
  app.on(['GET', 'POST'], '/flush_cache', (context) => context.text('Cache flushed.'));
}

function adaptersOf(context: ServeContext): Readonly<Record<string, string>> {
  const adapters = context.get('answerer').weights.names.filter(({ kind }) => kind === 'adapter');
  return Object.fromEntries(adapters.map(({ name, path = '' }) => [name, path]));
}

/** SGLang says in the body whether a command worked. */
async function commanded(context: ServeContext, command: () => Promise<object>): Promise<Response> {
  try {
    return context.json({ success: true, message: 'Succeeded.', ...(await command()) });
  } catch (error) {
    const { status, message } = apiErrorOf(error);
    return context.json({ success: false, message }, status < 500 ? 400 : 500);
  }
}
