/** Formats a number as Python's `f'{value:.1f}'` does. Exact ties go to the even digit, where `toFixed` rounds away from zero. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  const last = Number(text.at(-1));
  // Exact ties are odd multiples of 1 / 2^(decimals + 1).
  const isTie = Math.abs(value * 2 ** (decimals + 1)) % 2 === 1;
  return isTie && last % 2 === 1 ? `${text.slice(0, -1)}${last - 1}` : text;
}

/** Formats a share as a percentage with one decimal. */
export function percent(share: number): string {
  return `${fixed(100 * share, 1)}%`;
}

/** Formats a number as Python's `str` does, with a decimal or an exponent. */
export function pythonNumber(value: number): string {
  const [digits = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (value !== 0 && (exponent < -4 || exponent >= 16)) {
    return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  }
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}
