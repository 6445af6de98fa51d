import { findAll, wholeMatch, type FactMatch } from '../index/fact-match.ts';
import { holdsSign, signs } from '../index/signs.ts';

const link =
  /(?<![A-Za-z0-9+.-])(?:(?:https?|ftp|wss?|git|ssh|gs|s3):\/\/|www\.)[^\s<>"'`|\\^{}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{2,2000}/giu;
/** An address without a scheme; only under domains that are hardly ever file endings or words. */
const bareLink =
  /(?<=([a-z0-9.-]{1,80}))\.(?:com|org|net|io|dev|app|edu|gov|kr|jp|cn|de|fr|es|it|br|uk|eu)(?![\w@-]|\.\w)(?:\/[^\s<>"'`|\\^{}\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{0,2000})?/giu;
/** Looking behind at every place of a text is slow: this finds out whether it is needed. */
const commonDomain =
  /[a-z0-9-]\.(?:com|org|net|io|dev|app|edu|gov|kr|jp|cn|de|fr|es|it|br|uk|eu)/iu;
const trailing = /[.,:;?!&#=+*~_\-)\]'"]{1,20}$/;
const email =
  /(?<![\w.%+-])[\w%+-](?:[\w.%+-]{0,63})@[a-z0-9](?:[a-z0-9-]{0,62}\.){1,5}[a-z]{2,24}(?![a-z0-9-])/giu;
/** A telephone number written in groups. */
const groupedPhone =
  /(?<![\w.,/-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,5}\)[ .-]?)?\d{1,5}(?:[ .-]\d{2,5}){1,5}(?![\w/]|[.,-]\d)/g;
const plainPhone = /(?<![\w.,/-])\+\d{7,15}(?!\w)/g;
/** Numbers after which a group of figures is a telephone number, whatever it looks like. */
const phoneDigits = { least: 7, most: 15 };

/** Brackets that the link itself opens stay with it. */
function withoutTrail(written: string): string {
  const cut = written.replace(trailing, '');
  const isOpen = cut.split('(').length > cut.split(')').length && written[cut.length] === ')';
  return isOpen ? `${cut})` : cut;
}

/** Equal for a link with and without scheme, `www.`, final slash, in other case. */
const linkKey = (written: string): string =>
  written
    .toLowerCase()
    .replace(/^[a-z0-9]{1,5}:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/$/, '');

function linkFound(written: string, start: number): FactMatch | undefined {
  const whole = withoutTrail(written);
  const key = linkKey(whole);
  if (key.length < 3) return undefined;
  return { kind: 'link', start, end: start + whole.length, readings: [key] };
}

/** The host before the domain, which must not go on before it, nor be an address. */
function readBareLink(match: RegExpExecArray, text: string): FactMatch | undefined {
  const host = (match[1] ?? '').replace(/^[.-]{1,9}/, '');
  const start = match.index - host.length;
  if (host === '' || /[\w@.+/-]/.test(text[start - 1] ?? ' ')) return undefined;
  return linkFound(`${host}${match[0]}`, start);
}

/** Links with a scheme or `www.`, and bare ones of common domains. */
export const findLinks = (text: string): FactMatch[] => [
  ...(holdsSign(text, signs.colon | signs.join) && /:\/\/|www\./i.test(text)
    ? findAll(text, link, (match) => linkFound(match[0], match.index))
    : []),
  ...(holdsSign(text, signs.join) && commonDomain.test(text)
    ? findAll(text, bareLink, (match) => readBareLink(match, text))
    : []),
];

/** E-mail addresses. */
export const findEmails = (text: string): FactMatch[] =>
  text.includes('@')
    ? findAll(text, email, (match) => wholeMatch(match, 'email', [match[0].toLowerCase()]))
    : [];

const digitsOf = (written: string): string => written.replaceAll(/\D/g, '');

/** The number with and without the prefix of its country: +82 10… and 010… are one. */
function phoneReadings(written: string): string[] {
  const digits = digitsOf(written);
  if (!written.startsWith('+')) return [digits, digits.replace(/^0/, '')];
  const [, country = ''] = /^\+(\d{1,3})[ .(-]/.exec(written) ?? [];
  const national = digits.slice(country.length);
  return country === '' ? [digits] : [digits, national, national.replace(/^0/, ''), `0${national}`];
}

/** Dates, ranges of years and sums are written in groups too. */
function isPhone(written: string): boolean {
  const digits = digitsOf(written).length;
  if (digits < phoneDigits.least || digits > phoneDigits.most) return false;
  if (/^\d{4}[-. ]\d{1,2}[-. ]\d{1,2}$|^\d{1,2}[-. ]\d{1,2}[-. ]\d{4}$/.test(written)) return false;
  if (/^\d{4}[- ]\d{4}$/.test(written)) return false;
  if (/^\d{1,3}(?:[. ]\d{3})+$/.test(written)) return written.startsWith('0');
  return /^[+(0]/.test(written) || /^\d{2,4}[-. ]\d{3,4}(?:[-. ]\d{4})?$/.test(written);
}

/** Telephone numbers in groups, or of one run with `+` before it; bare runs of figures are identifiers. */
export const findPhones = (text: string): FactMatch[] => [
  ...(holdsSign(text, signs.plus)
    ? findAll(text, plainPhone, (match) =>
        wholeMatch(match, 'phone', [digitsOf(match[0]), digitsOf(match[0]).replace(/^82/, '0')]),
      )
    : []),
  ...findAll(text, groupedPhone, (match) =>
    isPhone(match[0])
      ? wholeMatch(match, 'phone', [...new Set(phoneReadings(match[0]))])
      : undefined,
  ),
];
