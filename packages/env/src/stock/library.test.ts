import { describe, expect, it } from 'vitest';
import { type Book, handled, isAllowed, type Library } from './library.ts';

const free: Book = { id: 'b1', title: 'Dune', borrower: null, renewals: 0, reservedBy: null };
const library = (book: Partial<Book>, fees = 0): Library => ({
  members: [
    { card: '1', name: 'Ada', fees },
    { card: '2', name: 'Ben', fees: 0 },
  ],
  books: [{ ...free, ...book }],
});

describe('the rules of the library', () => {
  it.each([
    ['borrow', {}, true],
    ['borrow', { borrower: '2' }, false],
    ['borrow', { reservedBy: '2' }, false],
    ['borrow', { reservedBy: '1' }, true],
    ['renew', { borrower: '1', renewals: 1 }, true],
    ['renew', { borrower: '1', renewals: 2 }, false],
    ['renew', { borrower: '1', reservedBy: '2' }, false],
    ['renew', { borrower: '2' }, false],
    ['return', { borrower: '1' }, true],
    ['return', { borrower: '2' }, false],
    ['reserve', { borrower: '2' }, true],
    ['reserve', {}, false],
    ['reserve', { borrower: '1' }, false],
    ['reserve', { borrower: '2', reservedBy: '1' }, false],
  ] as const)('%s %j: %s', (kind, book, isFine) => {
    expect(isAllowed(library(book), '1', { kind, title: 'Dune' })).toBe(isFine);
  });

  it('stop who owes 10 dollars from borrowing and renewing', () => {
    for (const [kind, book] of [
      ['borrow', {}],
      ['renew', { borrower: '1' }],
    ] as const) {
      expect(isAllowed(library(book, 9.99), '1', { kind, title: 'Dune' })).toBe(true);
      expect(isAllowed(library(book, 10), '1', { kind, title: 'Dune' })).toBe(false);
    }
  });

  it('allow nothing with a book or a member that the library does not have', () => {
    for (const [card, title] of [
      ['1', 'Emma'],
      ['9', 'Dune'],
    ] as const) {
      expect(isAllowed(library({}), card, { kind: 'borrow', title })).toBe(false);
      expect(handled(library({}), card, { kind: 'borrow', title })).toEqual(library({}));
    }
  });

  it('let a loan be renewed twice', () => {
    let now = library({});
    for (const kind of ['borrow', 'renew', 'renew', 'renew'] as const)
      now = handled(now, '1', { kind, title: 'Dune' });
    expect(now.books[0]).toEqual({ ...free, borrower: '1', renewals: 2 });
  });
});
