import { requireArguments } from '@rlp/core';

/** A model of the Hugging Face hub. */
export interface HubName {
  /** Such as `Qwen/Qwen3-0.6B`. */
  readonly name: string;
  /** Branch, tag or commit after an `@`. */
  readonly revision: string | undefined;
  /** Whether the address of the hub was written before it, so that it cannot be a folder. */
  readonly isExplicit: boolean;
}

const prefix = /^(hf:\/\/(models\/)?|https:\/\/huggingface\.co\/)/;

/** Reads the name of a model on the hub, such as `Qwen/Qwen3-0.6B`. `undefined` for what can only be a path. */
export function parseHubName(source: string): HubName | undefined {
  requireArguments('parseHubName', { source: 'text' }, source);
  const rest = source.replace(prefix, '');
  const [, name, revision] = /^([\w-][\w.-]*\/[\w][\w.-]*)(?:@([\w][\w./-]*))?$/.exec(rest) ?? [];
  return name === undefined ? undefined : { name, revision, isExplicit: rest !== source };
}

/** Name of the model whose snapshot in the hub's cache a folder is. `undefined` for other folders. */
export function hubNameOf(folder: string): string | undefined {
  const [, name] = /[/\\]models--([^/\\]+)[/\\]snapshots[/\\][0-9a-f]+[/\\]?$/i.exec(folder) ?? [];
  return name?.replace('--', '/');
}
