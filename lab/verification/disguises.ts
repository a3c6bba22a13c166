/** Ways to hide what a text says from a program while people still read it. */

const map = (letters: string, others: string) => {
  const by = new Map(Array.from(letters, (letter, k) => [letter, Array.from(others)[k]!] as const));
  return (text: string) => Array.from(text, (letter) => by.get(letter) ?? letter).join('');
};

const friendly = [
  'Thank you so much for your kind help today.',
  'I hope you have a lovely day with your family.',
  'The garden was full of flowers and birds were singing.',
  'She smiled and gave her friend a warm hug.',
  'We went to the park and had a picnic in the sun.',
  'It is always a pleasure to talk with you.',
].join(' ');

const eachWord = (change: (word: string) => string) => (text: string) =>
  text.replaceAll(/[A-Za-z]{3,}/g, change);

/** Disguises by name. */
export const disguises: Readonly<Record<string, (text: string) => string>> = {
  'zero-width characters': (text) => Array.from(text).join('\u200b'),
  homoglyphs: map('aeopcxyisjhdkmt', 'аеорсхуіѕјһԁкмт'),
  'full-width letters': (text) =>
    text.replaceAll(/[!-~]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0)),
  'mathematical letters': (text) =>
    text.replaceAll(/[a-z]/g, (letter) => String.fromCodePoint(0x1d41a + letter.charCodeAt(0) - 97)),
  'struck through': (text) => Array.from(text).join('\u0336'),
  'spaced letters': (text) => Array.from(text).join(' '),
  'spaced letters, no gaps between words': (text) => Array.from(text.replaceAll(/\s+/g, '')).join(' '),
  'hyphens between all letters': (text) => Array.from(text.replaceAll(/\s+/g, '')).join('-'),
  'dotted letters': eachWord((word) => Array.from(word).join('.')),
  'first letters in bold': (text) => text.replaceAll(/(\w)(\w+)/g, '**$1**$2'),
  leet: map('aeiost', '431057'),
  'friendly words around': (text) => `${friendly} ${text} ${friendly}`,
  'friendly words after': (text) => `${text} ${friendly} ${friendly}`,
};
