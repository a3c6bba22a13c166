import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ArgumentError } from '@rlp/core';
import { adaptedWeights, checkBaseModel, type LanguageModel, readLoraAdapter, saveModel } from '@rlp/models';
import { exportAdapter, exportGguf, exportOnnx } from '@rlp/models/export';
import { runFiles } from '@rlp/run';
import { defineCommand } from 'citty';
import type { CliContext } from './context.ts';
import { type LoadedPolicy, loadPolicy } from './open-policy.ts';
import { UsageError } from './usage-error.ts';

/** What an export makes. */
interface Export {
  readonly policy: LoadedPolicy;
  /** Model that was given: a folder, a run, or a name of the hub. */
  readonly source: string;
  readonly out: string;
  readonly dtype: string | undefined;
  readonly adapter: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Forms of an export, by name. Each returns a line about what it wrote. */
const forms = {
  async merged({ policy, out, dtype, signal }: Export) {
    const type = typeOf(dtype, ['F32', 'F16', 'BF16'], 'F32');
    await saveModel(out, policy.model, { dtype: type, signal });
    return `${out}: safetensors in ${type}, for transformers, vLLM and rlp`;
  },
  async adapter({ policy, source, out, dtype, adapter }: Export) {
    if (dtype !== undefined) throw new UsageError('rlp export: an adapter has no --dtype; leave it out');
    const folder = adapter ?? (await newestAdapter(source));
    const { config } = policy.model;
    const read = await readLoraAdapter(folder, config);
    await exportAdapter(out, read, config);
    // vLLM takes neither DoRA nor modules that were trained in full.
    const isPlain = read.variant === 'lora' && read.modules.size === 0;
    return `${out}: the adapter of ${folder}, for PEFT${isPlain ? ', vLLM' : ''} and rlp`;
  },
  async onnx({ policy, out, dtype, signal }: Export) {
    typeOf(dtype, ['F32'], 'F32');
    await exportOnnx(out, policy.model, { signal });
    return `${out}: ONNX, for transformers.js: pipeline('text-generation', …, { dtype: 'fp32' })`;
  },
  async gguf({ policy, out, dtype, signal }: Export) {
    const type = typeOf(dtype, ['F16', 'F32', 'BF16', 'Q8_0'], 'F16');
    const file = await exportGguf(out, policy.model, { dtype: type, signal });
    return `${file}: GGUF in ${type}, for llama.cpp`;
  },
} satisfies Readonly<Record<string, (asked: Export) => Promise<string>>>;

/** Files by which a folder shows the form of an export. */
const marks: readonly (readonly [form: keyof typeof forms, file: RegExp])[] = [
  ['gguf', /\.gguf$/],
  ['onnx', /^onnx$/],
  ['adapter', /^adapter_config\.json$/],
  ['merged', /\.safetensors$/],
];

/** Refuses a folder of another form's export, which this one would delete. The same form is replaced. */
async function requireSameForm(out: string, form: keyof typeof forms, dtype: string | undefined) {
  const names = await readdir(out).catch((): string[] => []);
  const [earlier] = marks.flatMap(([name, file]) => {
    const found = names.find((each) => file.test(each));
    return found === undefined ? [] : [{ name, found }];
  });
  // A folder holds one GGUF file, which has its type in its name.
  const isReplaced = (found: string) =>
    form !== 'gguf' || found.endsWith(`-${(dtype ?? 'F16').toUpperCase()}.gguf`);
  if (earlier === undefined || (earlier.name === form && isReplaced(earlier.found))) return;
  throw new ArgumentError(
    `rlp export: ${out} holds ${earlier.found} of an earlier export, which this one would delete; choose another --out, or delete that folder`,
  );
}

function typeOf<Type extends string>(asked: string | undefined, types: readonly Type[], usual: Type): Type {
  if (asked === undefined) return usual;
  const found = types.find((type) => type === asked.toUpperCase());
  if (found !== undefined) return found;
  throw new UsageError(`rlp export: expected --dtype ${types.join(' or ')}, got ${asked}`);
}

/** Folder of the adapter that a run saved last. @throws ArgumentError if there is none. */
async function newestAdapter(run: string): Promise<string> {
  const { checkpoints } = runFiles(run);
  const names = await readdir(checkpoints, { recursive: true }).catch((): string[] => []);
  const found = await Promise.all(
    names
      .filter((name) => /(^|[/\\])adapter_config\.json$/.test(name))
      .map(async (name) => {
        const path = join(checkpoints, name);
        return { folder: dirname(path), time: (await stat(path)).mtimeMs };
      }),
  );
  const newest = found.sort((a, b) => b.time - a.time || b.folder.localeCompare(a.folder))[0];
  if (newest !== undefined) return newest.folder;
  throw new ArgumentError(
    `rlp export: ${run} holds no adapter; give --adapter DIR, or the folder of a run with backend.lora`,
  );
}

/** The model with the correction of an adapter. */
async function adapted(model: LanguageModel, folder: string): Promise<LanguageModel> {
  const adapter = await readLoraAdapter(folder, model.config);
  await checkBaseModel(adapter.baseModel, model.folder);
  return { ...model, weights: new Map([...model.weights, ...adaptedWeights(model.weights, adapter)]) };
}

/** `rlp export`. */
export const exportCommand = defineCommand({
  meta: { name: 'export', description: 'Write a model for other programs' },
  args: {
    model: {
      type: 'positional',
      description: 'Model folder, folder of a run, or name on the hub',
      required: true,
    },
    to: { type: 'string', description: 'merged, adapter, onnx or gguf', valueHint: 'FORM', required: true },
    out: { type: 'string', description: 'Folder to write', valueHint: 'DIR', required: true },
    adapter: { type: 'string', description: 'PEFT adapter that corrects the model', valueHint: 'DIR' },
    dtype: {
      type: 'string',
      description: 'F32 (default), F16 or BF16; of GGUF F16 (default), F32, BF16 or Q8_0',
      valueHint: 'TYPE',
    },
  },
  async run({ args, data }) {
    const { print, signal } = data as CliContext;
    const { to, out, dtype, adapter } = args;
    if (!Object.hasOwn(forms, to)) {
      throw new UsageError(`rlp export: expected --to ${Object.keys(forms).join(', ')}, got ${to}`);
    }
    const form = to as keyof typeof forms;
    await requireSameForm(out, form, dtype);
    const loaded = await loadPolicy(args.model);
    const isCorrected = adapter !== undefined && to !== 'adapter';
    const policy = isCorrected ? { ...loaded, model: await adapted(loaded.model, adapter) } : loaded;
    print(await forms[form]({ policy, source: args.model, out, dtype, adapter, signal }));
  },
});
