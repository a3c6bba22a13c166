import * as z from 'zod';
import { readJson, type ServeApp } from '../routes.ts';

const loadSchema = z.looseObject({
  lora_name: z.string().min(1),
  lora_path: z.string().min(1),
  load_inplace: z.boolean().nullish(),
});
const unloadSchema = z.looseObject({ lora_name: z.string().min(1) });
const callSchema = z.looseObject({
  method: z.literal('reload_weights', 'expected "reload_weights"'),
  kwargs: z.looseObject({ weights_path: z.string().min(1).nullish() }).nullish(),
});
const labelSchema = z.looseObject({ new_version: z.string().min(1) });
const modeSchema = z.enum(['wait', 'keep', 'abort']).default('wait');

/** Adds the routes that change weights: adapters, checkpoints, and the pause around them. */
export function addWeightRoutes(app: ServeApp): void {
  app.post('/v1/load_lora_adapter', async (context) => {
    const { lora_name: name, lora_path: path, load_inplace } = await readJson(context, loadSchema);
    const existing = load_inplace === true ? 'replace' : 'refuse';
    await context.get('answerer').weights.loadAdapter(name, path, existing);
    return context.text(`Success: LoRA adapter '${name}' added successfully.`);
  });
  app.post('/v1/unload_lora_adapter', async (context) => {
    const { lora_name: name } = await readJson(context, unloadSchema);
    context.get('answerer').weights.unloadAdapter(name);
    return context.text(`Success: LoRA adapter '${name}' removed successfully.`);
  });
  app.post('/pause', async (context) => {
    const mode = modeSchema.catch('wait').parse(context.req.query('mode'));
    await context.get('answerer').weights.pause(mode === 'abort' ? 'abort' : 'wait');
    return context.json({ status: 'paused' });
  });
  app.post('/resume', (context) => {
    context.get('answerer').weights.resume();
    return context.json({ status: 'resumed' });
  });
  app.get('/is_paused', (context) => context.json({ is_paused: context.get('answerer').weights.isPaused }));
  app.post('/abort_requests', (context) => {
    context.get('answerer').weights.abortAll();
    return context.json({ status: 'aborted' });
  });
  app.post('/collective_rpc', async (context) => {
    const { kwargs } = await readJson(context, callSchema);
    await context.get('answerer').weights.reload(kwargs?.weights_path ?? undefined);
    return context.json({ results: [null] });
  });
  app.post('/update_weight_version', async (context) => {
    const { new_version: version } = await readJson(context, labelSchema);
    context.get('answerer').weights.label = version;
    return context.json({ success: true, new_version: version });
  });
  app.get('/weight_info', (context) =>
    context.json({ weight_version: context.get('answerer').weights.label }),
  );
  // Caches of other weights are never used, so there is nothing to forget.
  app.post('/reset_prefix_cache', (context) => context.json({ status: 'ok' }));
}
