/** Formats a number as Python's `f'{value:.1f}'` does. Exact ties go to the even digit. */
export function fixed(value: number, decimals: number): string {
  const text = value.toFixed(decimals);
  const exact = Math.abs(value).toFixed(60);
  const point = exact.indexOf('.');
  if (point < 0 || !/^50*$/.test(exact.slice(point + 1 + decimals))) return text;
  const down = exact.slice(0, point + 1 + decimals).replace(/\.$/, '');
  const isEven = Number(down.at(-1)) % 2 === 0;
  return isEven ? `${value < 0 ? '-' : ''}${down}` : roundedUp(value, decimals);
}

/** Rounds away from zero, as `toFixed` does for positive numbers. */
function roundedUp(value: number, decimals: number): string {
  return `${value < 0 ? '-' : ''}${Math.abs(value).toFixed(decimals)}`;
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
