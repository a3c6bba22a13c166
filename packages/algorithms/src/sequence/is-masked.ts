/** Whether no token of a sequence is trained. */
export function isMasked(mask: Uint8Array): boolean {
  return mask.every((counts) => counts === 0);
}
