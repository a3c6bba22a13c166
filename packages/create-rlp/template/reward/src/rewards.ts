/** Rewards responses of one to three characters. Replace it by what you want more of. */
export function brief({ response }: { readonly response: string }): number {
  const { length } = response.trim();
  return length >= 1 && length <= 3 ? 1 : 0;
}
