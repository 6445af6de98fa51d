import { findMatches } from '#shared/text/matches.ts';
import { unspacedScript } from '#shared/compaction/facts/speech/content-words.ts';

/** A name behind a salutation; not what people call the assistant itself, or everybody. */
const nobody = String.raw`(?!(?:there|again|all|friend|buddy|guys|dear|mate|freund|freunde|leute|mon ami|amigos?|amic[oi]|everyone|everybody|assistant|ai|bot|chat|chatbot|gemini|recap|zusammen|nochmal|alle|assistent|à tous|de nouveau|a todos|otra vez|de novo|outra vez|a tutti|di nuovo)(?![\p{L}]))`;
const name = String.raw`\p{L}[\p{L}'’.-]{0,29}(?:\s\p{L}[\p{L}'’.-]{0,29}){0,3}`;
const greetings = String.raw`dear|hi|hello|hey|good (?:morning|afternoon|evening)|liebe[rs]?|sehr geehrte[rs]?|hallo|guten (?:morgen|tag|abend)|moin|chère?s?|bonjour|bonsoir|salut|querid[oa]s?|estimad[oa]s?|hola|buen(?:os|as) (?:días|tardes|noches)|olá|oi|car[oaie]|prezad[oa]s?|bom dia|boa (?:tarde|noite)|gentile|egregi[oa]|ciao|buongiorno|buonasera`;
/** `Hi Tom,`, `Dear Ms Grey:`, `王先生，您好`, `田中様`, `김민수님,`; what follows may stand on the same line. */
const namedGreeting = new RegExp(
  [
    String.raw`^\s*(?:${greetings})\s${nobody}${name}\s?(?:[,:，：]|!?\s*$)`,
    String.raw`^\s*(?:亲爱的|親愛的|尊敬的|敬爱的)[^\n，,：:！!]{1,20}[，,：:！!]`,
    String.raw`^\s*[\p{sc=Han}]{1,4}(?:先生|女士|小姐|老师|老師|经理|經理|总|總)[，,：:\s]{0,2}(?:您好|你好)?[，,：:！!]`,
    String.raw`^\s*[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー]{1,12}(?:様|さま|さん|先生|殿)(?:[、，,：:。\s]|へ[、，,：:。\s]?|$)`,
    String.raw`^\s*[\p{sc=Hangul}]{2,8}\s?(?:님|씨|선생님|과장님|부장님|대표님)(?:께)?(?:[,，:：\s]|$)`,
  ]
    .map((source) => `(?:${source})`)
    .join('|'),
  'iu',
);
/** A greeting that stands on its line alone, whomever it greets. */
const greetingLine = new RegExp(
  String.raw`^\s*(?:(?:${greetings})(?:\s${name})?|亲爱的[^\n]{1,20}|尊敬的[^\n]{1,20}|您好|你好|[^\n]{1,16}(?:様|さん|님)|こんにちは|お世話になっております|お世話になります|안녕하세요|안녕하십니까)\s?[,，、:：!！。.]?\s*$`,
  'iu',
);
/** The line with which a letter ends, perhaps with the name behind it. */
const farewell =
  /^\s*(?:(?:(?:with )?(?:best|kind|warm|many)\s?(?:regards|wishes)?|kindest regards|regards|sincerely|yours (?:sincerely|faithfully|truly)|cheers|love|mit freundlichen grüßen|(?:viele|liebe|beste|herzliche|freundliche)\s?grüße|gruß|mfg|lg|vg|cordialement|bien cordialement|bien à vous|amicalement|meilleures salutations|un saludo|saludos(?: cordiales)?|atentamente|un abrazo|cumprimentos|atenciosamente|abraços?|com os melhores cumprimentos|cordiali saluti|distinti saluti|un saluto|saluti)(?![\p{L}])[^\n]{0,40}|(?:此致|敬礼|祝好|顺祝商祺|順頌商祺|谨上|敬上)[^\n]{0,20}|(?:敬具|よろしくお願い(?:いた|致)?します|以上)[。\s]*|(?:감사합니다|드림|올림)[.\s]*[^\n]{0,20})\s*$/iu;
/** The name below it. */
const signature = /^\s*[\p{L}][^\n.!?。！？]{0,40}$/u;
const address = /[\p{L}\p{N}._-]@[\p{L}\p{N}]|https?:|www\.|\b[A-Z]{2}\d{2}[ \dA-Z]{10,30}/u;
/** A line of a letter that is looked at. */
const LINE_CHARACTERS = 200;
/** Of what follows a greeting on its line: as far as an address is looked for. */
const OPENING_CHARACTERS = 600;

const greetedIn = (line: string): string | undefined =>
  namedGreeting.exec(line.slice(0, LINE_CHARACTERS))?.[0];

/** Whether a line begins with a greeting that names somebody. */
export const opensWithName = (line: string): boolean => greetedIn(line) !== undefined;

const isAlone = (line: string): boolean =>
  line.length <= LINE_CHARACTERS && greetingLine.test(line);

/** Whether a line may begin a letter. */
export const greetsSomebody = (line: string): boolean => opensWithName(line) || isAlone(line);

const isFarewell = (line: string): boolean => line.length <= LINE_CHARACTERS && farewell.test(line);

/** More than a name, a day or a mark. */
const words =
  /(?:[\p{L}\p{N}'’]{1,40}[^\p{L}\p{N}\]]{1,10}){2}[\p{L}\p{N}]|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]{4}/u;
export const saysSomething = (line: string): boolean => words.test(line.slice(0, LINE_CHARACTERS));

/** How many lines a letter has of which the first is a greeting: up to the name below its farewell; all where there is none. */
function lengthOf(lines: readonly string[]): number {
  const end = lines.findIndex(isFarewell);
  if (end === -1) return lines.length;
  const below = lines.slice(end + 1, end + 3).findIndex((line) => line.trim() !== '');
  const signed = lines[end + 1 + below] ?? '';
  return below !== -1 && signature.test(signed) ? end + below + 2 : end + 1;
}

/**
 * How many of these lines, from the first on, are a letter that the user shows; 0: none. A greeting that names somebody
 * begins one where it stands alone, where a farewell follows, where something stands before or behind the letter, or where
 * it goes on with an address; a greeting of nobody where a farewell follows and something else stands beside the letter.
 * `isFirst`: nothing stands before these lines. Heuristic: who greets his assistant by a name and signs shows a letter, too.
 */
export function letterLines(lines: readonly string[], isFirst: boolean): number {
  const [opening = ''] = lines;
  if (!greetsSomebody(opening)) return 0;
  const greeted = greetedIn(opening);
  const length = lengthOf(lines);
  const isSigned = lines.slice(0, length).some(isFarewell);
  const isBeside = !isFirst || lines.slice(length).some(saysSomething);
  if (greeted === undefined) return isSigned && isBeside ? length : 0;
  const goesOn = lines.slice(1, length).some((line) => line.trim() !== '');
  const isOfLetter =
    isSigned ||
    isBeside ||
    (opening.slice(greeted.length).trim() === '' && goesOn) ||
    address.test(opening.slice(0, OPENING_CHARACTERS));
  return isOfLetter ? length : 0;
}

const sentenceBorder = /[:：.!?。！？]\s+/gu;
/** Where, within a line, a greeting of somebody begins behind other words; -1: nowhere. */
export function greetingWithin(line: string): number {
  const short = line.slice(0, OPENING_CHARACTERS);
  for (const { index, 0: border } of findMatches(short, sentenceBorder)) {
    const start = index + border.length;
    if (opensWithName(short.slice(start)) && saysSomething(short.slice(0, index))) return start;
  }
  return -1;
}

/** Characters of a paragraph that nobody types below a colon. */
const LONG_PARAGRAPH = 400;
const unspaced = new RegExp(`[${unspacedScript}]`, 'gu');

/** Whether a paragraph is too long to be typed. */
export function isLongParagraph(lines: readonly string[]): boolean {
  const paragraph = lines.join(' ');
  return paragraph.length + (paragraph.match(unspaced)?.length ?? 0) >= LONG_PARAGRAPH;
}
