/** A name without case and separators, so `clip_high` and `clipHigh` are the same. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one text into the other. */
function editDistance(from: string, to: string): number {
  let previous: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let cost = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1));
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwap) cost = Math.min(cost, previous[j - 2]! + 1);
      next.push(cost);
    }
    previous = row;
    row = next;
  }
  return row[to.length]!;
}

/** The candidates whose name differs in case and separators only. */
export function sameNames<Candidate>(
  name: string,
  candidates: readonly Candidate[],
  nameOf: (candidate: Candidate) => string,
): Candidate[] {
  return candidates.filter((candidate) => plain(nameOf(candidate)) === plain(name));
}

/** The nearest candidates that a typing error turns into `name`, or that it abbreviates. */
export function nearNames<Candidate>(
  name: string,
  candidates: readonly Candidate[],
  nameOf: (candidate: Candidate) => string,
): Candidate[] {
  const given = plain(name);
  const limit = given.length <= 3 ? 0 : Math.min(3, Math.ceil(given.length / 4));
  const measured = candidates.map((candidate) => {
    const other = plain(nameOf(candidate));
    const distance = editDistance(given, other);
    const isBeginning = other === `${given}s` || (given.length >= 4 && other.startsWith(given));
    // Of four letters one may be missing.
    const isShort = given.length === 3 && other.length === 4 && distance === 1;
    return { candidate, distance: isBeginning || isShort ? limit : distance };
  });
  const nearest = Math.min(...measured.map(({ distance }) => distance));
  if (nearest > limit) return [];
  return measured.filter(({ distance }) => distance === nearest).map(({ candidate }) => candidate);
}
