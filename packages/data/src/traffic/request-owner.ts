import { isRecord } from '@rlp/core';

/** Fields of a request that say for whom it was made. */
const fields = ['user', 'safety_identifier', 'conversation', 'metadata'];

/** What a request says of its user and its conversation, to spread into an exchange. */
export function requestOwner(request: Readonly<Record<string, unknown>>): {
  readonly owner?: Readonly<Record<string, unknown>>;
} {
  const { metadata, ...owner } = Object.fromEntries(
    Object.entries(request).filter(([field, value]) => fields.includes(field) && value != null),
  );
  const all = { ...owner, ...(isRecord(metadata) ? metadata : {}) };
  return Object.keys(all).length > 0 ? { owner: all } : {};
}
