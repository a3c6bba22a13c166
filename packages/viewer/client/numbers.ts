/** A number with three significant digits, without trailing zeros. */
export function short(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(3))).replace('-', '−');
}

/** A number with its sign. */
export function signed(value: number): string {
  return value > 0 ? `+${short(value)}` : short(value);
}

/** How many of something there are. */
export function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`;
}

/** A reward, or why there is none. */
export function rewardText(reward: number | null | undefined): string {
  if (reward === undefined) return '';
  return reward === null ? 'not scored' : short(reward);
}
