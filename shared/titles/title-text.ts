import { withoutHidden } from '#shared/text/hidden-characters.ts';
import { cutHead } from '#shared/text/cut.ts';

/** UTF-16 units of a title: one line of a list on a phone. */
const TITLE_SHOWN_CHARACTERS = 60;

/** What is this long is no title that ran over, but an answer. */
const ANSWER_CHARACTERS = 160;

/** With the marks around it. What is longer is not looked at: taking marks off the end takes the square of their number. */
const LINE_CHARACTERS = 400;

/** Marks that models put around a title, quotation marks of any kind among them. */
const WRAPPING = /^[\s"'“”„‘’«»「」『』《》*_#`-]+|[\s"'“”„‘’«»「」『』《》*_#`.。．]+$/gu;

/** Markup, addresses of web pages, and what would change how other lines of a list are shown. */
const REFUSED = /[<>{}`|\\]|\]\(|https?:|www\.|[\p{Cc}\p{Co}\p{Cn}\u2028\u2029]/iu;

/**
 * The title in what a model answered, or undefined when there is none that can be shown as it is: one line
 * with a letter or digit, without markup. One that is a little long ends in `…`.
 */
export function titleIn(answer: string): string | undefined {
  const lines = answer.split(/\r?\n/u).filter((line) => line.trim() !== '');
  const [line, ...others] = lines;
  if (line === undefined || others.length > 0 || line.length > LINE_CHARACTERS) return undefined;
  const title = withoutHidden(line).replaceAll(WRAPPING, '').replaceAll(/\s+/gu, ' ');
  if (title.length > ANSWER_CHARACTERS || REFUSED.test(title) || !title.isWellFormed())
    return undefined;
  if (!/[\p{L}\p{N}]/u.test(title)) return undefined;
  return title.length <= TITLE_SHOWN_CHARACTERS
    ? title
    : `${cutHead(title, TITLE_SHOWN_CHARACTERS - 1).trimEnd()}…`;
}
