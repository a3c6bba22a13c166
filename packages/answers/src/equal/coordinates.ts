import { type Collection, collection } from './expression.ts';
import { withoutLabel } from './labels.ts';

/** Letters that name the places of a tuple, in this order. */
const inOrder = /^(?:abc?d?|xyz?|mn|pqr?|rs|st|uvw?)$/;

/** `x = 1, y = 2` as the tuple `(1, 2)`, in whatever order it is written; `undefined` for other lists. */
export function coordinatesOf({ parts }: Collection): Collection | undefined {
  const places = parts.flatMap((part) => {
    const name = part.type === 'relation' ? part.sides[0] : undefined;
    const value = part.type === 'relation' ? withoutLabel(part)[0] : undefined;
    return name?.type === 'symbol' && value !== undefined ? [{ name: name.name, value }] : [];
  });
  places.sort((a, b) => (a.name < b.name ? -1 : 1));
  if (places.length !== parts.length || !inOrder.test(places.map(({ name }) => name).join(''))) return;
  return collection(
    '()',
    places.map(({ value }) => value),
  );
}
