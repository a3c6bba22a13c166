import * as z from 'zod';

const memberSchema = z.strictObject({
  card: z.string(),
  name: z.string(),
  /** Unpaid fees in dollars. */
  fees: z.number().nonnegative(),
});

const bookSchema = z.strictObject({
  id: z.string(),
  title: z.string(),
  /** Card of the member who has it, or `null` if it is on the shelf. */
  borrower: z.string().nullable(),
  /** How often the present loan was renewed. */
  renewals: z.int().min(0),
  /** Card of the member who waits for it. */
  reservedBy: z.string().nullable(),
});

/** Schema of a {@link Library}. */
export const librarySchema = z.strictObject({
  members: z.array(memberSchema).min(1).readonly(),
  books: z.array(bookSchema).min(1).readonly(),
});

/** Schema of a {@link LibraryRequest}. */
export const requestSchema = z.strictObject({
  kind: z.enum(['borrow', 'renew', 'return', 'reserve']),
  /** Title of the book. */
  title: z.string(),
});

/** The database of a library. */
export type Library = z.output<typeof librarySchema>;

/** A book of a library. */
export type Book = Library['books'][number];

/** What a member wants. */
export type LibraryRequest = z.output<typeof requestSchema>;

/** What the rules allow. */
export function isAllowed(
  { members, books }: Library,
  card: string,
  { kind, title }: LibraryRequest,
): boolean {
  const book = books.find((one) => one.title === title);
  const member = members.find((one) => one.card === card);
  if (book === undefined || member === undefined) return false;
  const { borrower, renewals, reservedBy } = book;
  const isReserved = reservedBy !== null && reservedBy !== card;
  if (kind === 'borrow') return borrower === null && !isReserved && member.fees < 10;
  if (kind === 'renew') return borrower === card && renewals < 2 && reservedBy === null && member.fees < 10;
  if (kind === 'return') return borrower === card;
  return borrower !== null && borrower !== card && reservedBy === null;
}

/** What each kind of request does to a book, whether it is allowed or not. */
export const changes: Readonly<Record<LibraryRequest['kind'], (book: Book, card: string) => Book>> = {
  borrow: (book, card) => ({ ...book, borrower: card, renewals: 0, reservedBy: null }),
  renew: (book) => ({ ...book, renewals: book.renewals + 1 }),
  return: (book) => ({ ...book, borrower: null, renewals: 0 }),
  reserve: (book, card) => ({ ...book, reservedBy: card }),
};

/** The library with one book changed. */
export function changed(library: Library, id: string, change: (book: Book) => Book): Library {
  return { ...library, books: library.books.map((book) => (book.id === id ? change(book) : book)) };
}

/** The library after a request, which changes nothing if the rules forbid it. */
export function handled(library: Library, card: string, request: LibraryRequest): Library {
  const book = library.books.find(({ title }) => title === request.title);
  if (book === undefined || !isAllowed(library, card, request)) return library;
  return changed(library, book.id, (now) => changes[request.kind](now, card));
}
