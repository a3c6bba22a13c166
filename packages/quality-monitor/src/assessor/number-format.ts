/** Formats a number as Python's `f'{value:.1f}'` does. Exact ties go to the even digit, where `toFixed` rounds away from zero. */
export function fixed(value: number, decimals: number): string {
  const exact = Math.abs(value).toFixed(60);
  const end = exact.indexOf('.') + 1 + decimals;
  const down = exact.slice(0, end).replace(/\.$/, '');
  const isTie = /^50*$/.test(exact.slice(end)) && exact.includes('.');
  if (!isTie || Number(down.at(-1)) % 2 !== 0) return value.toFixed(decimals);
  return `${value < 0 ? '-' : ''}${down}`;
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
