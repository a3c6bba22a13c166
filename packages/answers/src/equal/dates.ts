import { valueInWords } from './number-words.ts';

/** The names of each month in six languages, short and long, as regular expressions. */
const months = (
  'jan(?:uary?|vier|eiro)?|enero|gennaio feb(?:ruary?|rero|braio)?|février|fevereiro mar(?:ch|s|zo)?|märz|março apr(?:ile?)?|avril|abril ' +
  'may|mayo|mai|maio|maggio june?|juni|juin|junio|giugno|junho july?|juli|juillet|julio|luglio|julho aug(?:ust)?|août|agosto ' +
  'sept?(?:ember|embre|iembre)?|settembre|setembro o[ck]t(?:ober|obre|ubre)?|ottobre|outubro nov(?:emb(?:er|re|ro))?|noviembre dec(?:ember)?|dez(?:ember|embro)?|décembre|diciembre|dicembre'
).split(' ');
const wholeMonths = months.map((names) => new RegExp(`^(?:${names})$`, 'i'));
/** The name of a month, in a regular expression. */
export const monthName = `(?:${months.join('|')})`;
const month = `(?<month>${monthName})`;
const day = '(?<day>[0-3]?\\d)(?:st|nd|rd|th)?';
const dates = [
  `${month}\\.? ${day}(?:,? (?<year>\\d{4}))?`,
  `(?:(?:the|am|den|le|el|il) )?${day}\\.? (?:of |de |del )?${month}\\.?(?:,?(?: de)? (?<year>\\d{4}))?`,
  '(?<day>[0-3]?\\d)\\. ?(?<month>[01]?\\d)\\. ?(?<year>\\d{4})',
  '(?<day>1[3-9]|2\\d|3[01])/(?<month>[01]?\\d)/(?<year>\\d{4})',
  '(?<month>[01]?\\d)/(?<day>1[3-9]|2\\d|3[01])/(?<year>\\d{4})',
  '(?<year>\\d{4})-(?<month>\\d\\d)-(?<day>\\d\\d)',
].map((form) => new RegExp(`^${form}$`, 'i'));

/** `July 4, 1776`, `4 July 1776` and `1776-07-04` in one form; `undefined` for anything else. */
function dateOf(text: string): string | undefined {
  for (const form of dates) {
    const { month: name, day: number, year = '' } = form.exec(text)?.groups ?? {};
    if (name === undefined) continue;
    const index = wholeMonths.findIndex((names) => names.test(name));
    return `${year} ${index < 0 ? Number(name) : index + 1} ${Number(number)}`;
  }
  return;
}

const clock =
  /^(?<hour>[01]?\d|2[0-3])(?::(?<minute>[0-5]\d))?(?<second>:[0-5]\d)?\s*(?:(?<half>[ap])\.?\s?m\.?)?$/i;

/** What a clock says. */
interface Time {
  readonly hour: number;
  readonly rest: string;
  /** `open`: of 12 hours, without the half of the day. */
  readonly half: 'said' | 'open' | 'none';
}

/** `2:30 p.m.` and `14:30` in one form. Without minutes it needs the half of the day: `2 pm`. */
function timeOf(text: string): Time | undefined {
  const { hour, minute, second = '', half } = clock.exec(text)?.groups ?? {};
  if (hour === undefined || (minute ?? half) === undefined) return;
  const after = half === undefined ? Number(hour) : (Number(hour) % 12) + (/p/i.test(half) ? 12 : 0);
  const open = /^(?:[1-9]|1[0-2])$/.test(hour) ? 'open' : 'none';
  return { hour: after, rest: `${minute ?? '00'}${second}`, half: half === undefined ? open : 'said' };
}

const spoken =
  /^(?:(half|(?:a )?quarter|(?:twenty-)?five|ten|twenty|\d+(?= m))(?: minutes)? (past|to) )?([a-z]+|\d{1,2})( o['’]clock)?$/;

/** `half past three` and `ten to five` as `3:30` and `4:50`. */
function onClock(text: string): string {
  const [, part = 'zero', way, hour, sign] = spoken.exec(text.toLowerCase()) ?? [];
  if (hour === undefined || (way ?? sign) === undefined) return text;
  const valueOfWord = (word: string) => Number(valueInWords(word) ?? word);
  const past = part === 'half' ? 30 : part.endsWith('quarter') ? 15 : valueOfWord(part);
  const hours = way === 'to' ? ((valueOfWord(hour) + 10) % 12) + 1 : valueOfWord(hour);
  if (!(hours >= 1 && hours <= 12 && past < 60)) return text;
  return `${hours}:${String(way === 'to' ? 60 - past : past).padStart(2, '0')}`;
}

const calendar =
  'monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december'.split(
    ' ',
  );

/** The place of a day of the week or a month in the calendar, by its name or its usual short form: `Tues.`, `Sept`. */
function placeInCalendar(text: string): number {
  const word = text.toLowerCase().replace(/^on |\.$/g, '');
  const isName = /^(?:[a-z]{3}|tues|thurs?|sept)$/.test(word) || calendar.includes(word);
  return isName ? calendar.findIndex((name) => name.startsWith(word)) : -1;
}

/** Whether two dates or two times of day are the same; `undefined` for anything else. The half of the day may be missing on one side, as a unit may. */
export function agreeAsDates(...answers: readonly [string, string]): boolean | undefined {
  const [given, expected] = answers.map((answer) => {
    const text = answer
      .replaceAll(/\\(?:text|mathrm)\s*\{|[\\~]|[.,;]\s*$/g, ' ')
      .replaceAll(/[{}$]/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .replace(/^(?:mon|tues|wednes|thurs|fri|satur|sun)day,? (?=.*\d)/i, '')
      .replace(/^(?:12(?::00)? )?noon$/i, '12 pm')
      .replace(/^(?:12(?::00)? )?midnight$/i, '12 am');
    return { date: dateOf(text), time: timeOf(onClock(text)), named: placeInCalendar(text) };
  });
  if (given!.named >= 0 && expected!.named >= 0) return given!.named === expected!.named;
  if (given!.date !== undefined && expected!.date !== undefined) return given!.date === expected!.date;
  const [own, right] = [given!.time, expected!.time];
  if (own === undefined || right === undefined) return;
  const isSame = own.hour === right.hour && own.rest === right.rest;
  if (isSame && own.half !== 'said' && right.half !== 'said') return true;
  const isOpen = [own, right].some(({ half }) => half === 'open') && own.half !== right.half;
  if (isOpen && [own, right].some(({ half }) => half === 'none')) return false;
  const hours = isOpen ? 12 : 24;
  return own.hour % hours === right.hour % hours && own.rest === right.rest;
}
