import { decimalDigit } from '@rlp/answers/text';

interface Finder {
  readonly pattern: RegExp;
  /** What else must hold of a match. */
  readonly accepts?: (match: string) => boolean;
}

const passwordWord = '(?:password|passphrase|passcode|passwort|kennwort|contrasena|mot de passe)';
/** What a sentence says to be a password. */
const told = new RegExp(
  String.raw`\b(?:my|your|our|the|admin|root|das|mein|la|mi|le|mon|\w{1,20}['’]s)(?: \w{1,20}){0,2} ${passwordWord}(?: (?:for|of|to|on|fur|zu|del?|du)(?: \p{L}{1,20}){1,3})? ?(?:is|was|ist|lautet|es|est|:|=)(?: ?:)? ?[^\s]{6,64}|\bPIN(?: \w{1,20}){0,5} ?(?:is|was|:) ?\d{4,8}\b|\busername: ?\S{1,40} ${passwordWord}: ?\S{6,64}|(?<!\S)\S{8,64} as (?:the|your|my|a) ${passwordWord}\b`,
  'giu',
);

// Every repetition is bounded, or starts where nothing it could match stands before it. None runs over the same text twice.
const finders = {
  secret: {
    pattern:
      /-{2,5} ?BEGIN (?:[A-Z]{2,12} ){0,2}PRIVATE KEY ?-{2}|\bA[ \n+-]{0,3}[KS][ \n+-]{0,3}I[ \n+-]{0,3}A(?:[ \n+-]{0,3}[A-Z0-9]){16}\b|\bgh[pousr]_(?:(?:-?\n)?[A-Za-z0-9]){36}|\bgithub_pat_[A-Za-z0-9_]{60}|\bxox[abprs]-[A-Za-z0-9-]{10}|\bAIza[A-Za-z0-9_-]{35}|\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32}|\bAuthorization: (?:Basic|Bearer) (?!(?:YOUR|your)[_-])(?=\D{0,64}\d)[\w+/.=-]{16}|\b[a-z]{2,16}:\/\/[^\s:@/]{1,64}:(?=[^\s:@/\d]{0,64}\d)[^\s:@/]{6,64}@|\beyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8}/gu,
    // A headline about Asia is not a key in groups.
    accepts: (match) => !/^A[ \n+-]{0,3}[KS]/u.test(match) || /\d|^\w+$/u.test(match),
  },
  'payment-card': {
    pattern:
      /(?<![\d.-])(?:\d(?:[ -]?\d){12,18}|\d{4}([^\p{L}\p{N}]{1,3})\d{4}\1\d{4}\1\d{4})(?![\d-]|\.\d)/gu,
    accepts: isCardNumber,
  },
  'bank-account': {
    pattern: /\b[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]{4}){2,7}(?:[ -]?[A-Z0-9]{1,3})?\b/giu,
    accepts: isBankAccount,
  },
  'social-security': { pattern: /(?<![\d-])(?!000|666|9)\d{3}([-.])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])/gu },
  email: {
    pattern: /(?<![\w.+-])[\w.+-]{1,64}@(?:[a-z0-9-]{1,63}\.){1,4}[a-z]{2,24}\b/giu,
    // Some addresses are set aside for examples (RFC 2606), and numbers for fiction.
    accepts: (match) =>
      !/[@.]example\.(?:com|org|net)$|[@.](?:example|test|invalid|localhost)$/iu.test(match),
  },
  phone: {
    pattern: /(?<![\w.+-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\)[ ]?|\d{3}[.-])\d{3}[.-]\d{4}(?![\w-])/gu,
    accepts: (match) => !/555[.-]01\d\d$/u.test(match),
  },
  'chat-markup': {
    pattern:
      /<\|(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|end_of_text|system|user|assistant|endofprompt)\|>|<<SYS>>|<<\/SYS>>|\[\/?INST\]|<(?:start|end)_of_turn>/gu,
  },
  'prompt-injection': {
    pattern:
      /\b(?:ignore|disregard|forget) ?(?:(?:all|any|the|your|of|my) ?){0,4}(?:(?:previous|prior|above|earlier|preceding) ?(?:instructions?|prompts?|rules|messages?|context)\b|rubric\b)|\b(?:ignore|disregard|forget) (?:all|everything) (?:that )?you (?:were|have been) told\b|\bignorier(?:e|en Sie|t) alle (?:vorherigen|bisherigen|obigen) (?:Anweisungen|Regeln)\b|\byou are now (?:in )?(?:DAN|developer mode|jailbroken)\b|\breveal (?:me )?(?:your|the) (?:system|hidden|secret) (?:prompt|instructions?)\b/giu,
    // `ignorePreviousMessages` is a name in a program.
    accepts: (match) => / /u.test(match) || !/\p{Ll}\p{Lu}/u.test(match),
  },
  'destructive-command': {
    pattern:
      /\br\\?m(?: [^\s;&|`]{1,60}){2,6}|\b(?:mkfs(?:\.[a-z0-9]{2,8})?|shred|wipefs|blkdiscard) [^\n;|&]{0,60}\/dev\/[a-z]|\bdd [^\n;|&]{0,200}\bof=\/dev\/(?!null|std|zero|tty)[a-z]|> ?\/dev\/(?:[shv]d[a-z]|xvd|nvme|mmcblk|disk)|(?<![\w:])(?<bomb>[\w:]{1,20})\(\) ?\{ ?\k<bomb> ?\| ?\k<bomb> ?& ?\}[ ;\n]{1,3}\k<bomb>|\bformat [a-z]:(?= ?\/)|\bfind (?:\/|~\/?|\$HOME) [^\n;|&]{0,80}(?:-delete|-exec rm|\| ?xargs (?:-\w{1,9} )?rm)\b|\bbase64 (?:-d|-D|--decode)[^\n;|&]{0,60}\| ?(?:sudo )?(?:ba|z|da)?sh\b|\b(?:tee|cp [^\n;|&]{1,60}) \/dev\/(?:[shv]d[a-z]|xvd|nvme|mmcblk|disk)|\b(?:rmtree|rm(?:dir)?(?:Sync)?)\(["']\/["']|\bchmod -R [0-7]{3,4} \/(?=\s|$)|\bRemove-Item\b[^\n;|]{0,60}-Recurse[^\n;|]{0,40} [A-Z]:\\|\b(?:del|rd|rmdir)(?: \/[a-z]){1,4} [A-Za-z]:\\|\bDROP (?:TABLE|DATABASE) (?:IF EXISTS )?\w/gu,
    accepts: (match) => !/^r\\?m /u.test(match) || isRemovalOfAll(match),
  },
  password: { pattern: told, accepts: hasPassword },
  script: {
    pattern:
      /\b(?:curl|wget|iwr|irm)\b[^\n;|&]{0,200}(?:\| ?|(?:&&|;) ?)(?:sudo )?(?:(?:ba|z|da)?sh|iex)\b|\beval ["']?\$\((?:curl|wget)\b|\b(?:ba|z|da)?sh <\((?:curl|wget)\b|<script\b|\bjavascript:(?=\S)|<[a-z][^<>]{0,300}[\s/]on(?:error|load|click|mouseover)\s?=/giu,
  },
} satisfies Readonly<Record<string, Finder>>;

/** Kinds of text that {@link safetyMatches} finds. */
export type SafetyKind = keyof typeof finders;

/** All kinds there are. */
export const safetyKinds = Object.keys(finders) as readonly SafetyKind[];

/** Signs by their numbers, and parts of texts that programs put together. */
const sign = /&#(?:x([0-9a-f]{2})|0*(\d{2,3}));/giu;
const joint = /\$\{["'`]|["'`]\}|(?<=[a-z])(?:''|"")(?=[a-z])|["'] ?\+? ?["']|\*\*|(?<=\w)`(?=\w)/gu;
/** A word in LaTeX, and the end of a word as code. */
const latexWord = /\$?\\(?:text|math)\w{0,5}\{([^{}]*)\}\$?/gu;
const codedEnd = /(?<=\w)`(\w{1,60})`/gu;
/** Digits with the same sign between them. */
const partedDigits = /(?<![\p{L}\p{N}])\d([_|·•~*#]|\p{Extended_Pictographic})\d(?:\1\d)+(?![\p{L}\p{N}])/gu;
/** A variable of the shell that stands for the root or a home folder. */
const rootName = /\b([A-Za-z]\w{0,30})=["']?([/~])["']?(?=[\s;&])/gu;

/** How often each kind occurs. A run of blanks and continued lines is one space, a dash a hyphen, any digit one of ASCII. */
export function safetyMatches(
  given: string,
  kinds: readonly SafetyKind[],
): Partial<Record<SafetyKind, number>> {
  const roots = new Map(Array.from(given.matchAll(rootName), ([, name, root]) => [name!, root!]));
  const text = given
    .replace(sign, (_, hexadecimal, decimal) =>
      String.fromCodePoint(decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16)),
    )
    .replace(/&[lg]t;/gu, (name) => (name === '&lt;' ? '<' : '>'))
    .replace(/[\uff01-\uff5e]/gu, (wide) => wide.normalize('NFKC'))
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(latexWord, '$1')
    .replace(codedEnd, '$1')
    .replace(partedDigits, (digits) => digits.replace(/\D/gu, ''))
    .replace(/(?![0-9])\p{Nd}/gu, decimalDigit)
    .replace(/< ?[|｜] ?(\w{1,20}) ?[|｜] ?>/gu, '<|$1|>')
    .replace(/\$\{?(\w{1,31})\}?/gu, (one, name) => roots.get(name) ?? one)
    .replace(/(?:[^\S\n]|\\\n|\$(?:IFS\b|\{IFS\}))+/gu, ' ')
    .replace(/(?<=["']\w)["'], ?["'](?=\w["'])/gu, '')
    .replace(joint, '')
    .replace(/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/gu, '-');
  return Object.fromEntries(
    kinds.map((kind) => {
      const { pattern, accepts = () => true }: Finder = finders[kind];
      return [kind, (text.match(pattern) ?? []).filter((match) => accepts(match)).length];
    }),
  );
}

/** A root, a home folder, or all that is in one; dots and slashes lead back to them. */
const everything =
  /^--no-preserve-root$|^["']?(?:\/|~|\$HOME|\$\{HOME\}|\*)(?:\/|\.{1,2}(?=\/|$))*\*?["'.,)]{0,4}$/u;

/** Whether `rm` takes all, in whatever order its options stand. */
function isRemovalOfAll(match: string): boolean {
  const words = match.split(' ');
  return (
    words.some((word) => /^(?:-[a-zA-Z]*[rR]|--recursive$)/u.test(word)) &&
    words.some((word) => everything.test(word))
  );
}

/** Whether a word of a sentence is made as passwords are: letters, digits, and signs or capitals inside. */
function hasPassword(match: string): boolean {
  return match
    .split(' ')
    .map((word) => word.replace(/^["'`(]+|["'`).,;:]+$/gu, ''))
    .some((word) =>
      /^\d{4,8}$|^(?!\d+-\p{Ll}+$)(?=.*\p{Ll})(?=.*\d)(?=.*[^\p{Ll}\d])[^\s<>{}()=$]{6,64}$/u.test(word),
    );
}

/** Luhn's check, a plausible issuer, and not one digit throughout. */
function isCardNumber(match: string): boolean {
  const digits = Array.from(match.replaceAll(/\D/gu, ''), Number);
  if (!/^(?:4|5[1-5]|2[2-7]|3[0-8]|6)/u.test(digits.join('')) || new Set(digits).size < 2) return false;
  const sum = digits.reverse().reduce((total, digit, place) => {
    const doubled = place % 2 === 1 ? digit * 2 : digit;
    return total + (doubled > 9 ? doubled - 9 : doubled);
  }, 0);
  return sum % 10 === 0;
}

/** ISO 13616: the first four characters moved to the end, letters as 10 to 35, the rest of division by 97 is 1. */
function isBankAccount(match: string): boolean {
  const text = match.replaceAll(/[ -]/gu, '');
  if (text.length < 15 || text.length > 34) return false;
  let rest = 0;
  for (const character of text.slice(4) + text.slice(0, 4)) {
    const value = Number.parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}
