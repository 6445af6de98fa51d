import type { Content } from '../../conversation/content.ts';
import { workingItems, type Snapshot } from '../../conversation/snapshot.ts';
import type { Utterance } from '../facts/utterance.ts';
import { dayKeyOf as dayOf } from '../facts/calendar-day.ts';
import { attachmentLine, attachmentParts, type Attachment } from './attachments.ts';
import { isUnitedList } from './united-list.ts';

/** Everything that some reader takes for the end of a line. */
const lineEnd = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** `name: {"a":1}`, as calls are written among the utterances, as `called name({"a":1})`. */
export function callText(text: string): string {
  const end = text.indexOf(': ');
  return end === -1 ? `called ${text}` : `called ${text.slice(0, end)}(${text.slice(end + 2)})`;
}

/** So far behind the number of its turn an utterance says it again: nobody should have to look back for it. */
const NUMBER_CHARACTERS = 8_000;

function utteranceText({ speaker, text }: Utterance): string {
  const name = speaker === 'call' ? 'model' : speaker;
  const said = speaker === 'call' ? callText(text) : text;
  const [first = '', ...rest] = said
    .split(lineEnd)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
  return [`${name}: ${first.trimStart()}`, ...rest.map((line) => `  ${line}`)].join('\n');
}

/** One thing that was said or sent. */
interface Entry {
  seq: number;
  at: Date;
  /** Without the number of its turn. */
  text: string;
}

/** What was said and what was sent, a turn's files behind its words. */
function entriesOf(utterances: readonly Utterance[], attachments: readonly Attachment[]): Entry[] {
  const said = utterances
    .filter(({ text }) => text.trim() !== '')
    .map((utterance) => ({ ...utterance, text: utteranceText(utterance) }));
  const sent = attachments.map((attachment, index) => ({
    seq: attachment.seq,
    at: attachment.at,
    text: attachmentLine(attachment, index + 1),
  }));
  return [...said, ...sent].toSorted((a, b) => a.seq - b.seq);
}

/** The entries as lines: each day that begins with a line that names it, each turn with its number. */
function historyLines(entries: readonly Entry[]): string[] {
  const lines: string[] = [];
  let day = '';
  let turn = 0;
  let charactersBehind = 0;
  for (const { seq, at, text } of entries) {
    const today = dayOf(at);
    const isNumbered = today !== day || seq !== turn || charactersBehind >= NUMBER_CHARACTERS;
    if (today !== day) lines.push(`turn ${seq}: ${today} ${weekdays[at.getUTCDay()]}`);
    lines.push(isNumbered ? `[${seq}] ${text}` : text);
    charactersBehind = text.length + (isNumbered ? 0 : charactersBehind);
    day = today;
    turn = seq;
  }
  return lines;
}

const knownLines = (previous: Snapshot): string[] =>
  workingItems(previous)
    .filter((item) => !isUnitedList(item))
    .map(({ id, section, text, status }) => JSON.stringify({ id, section, text, status }));

/**
 * What the model reads, as one user content: the utterances between two lines of `boundary`, then the items of
 * the previous snapshot as JSON lines up to a third. Only our own lines begin at the margin (a mark, which is
 * `[12] user: ` at the beginning of a turn and `model: ` in it, a day, a boundary, an item): the lines of an
 * utterance go on behind two blanks, so that text which imitates a mark, an item or a boundary stays text. The files of
 * the turns follow as parts of their own, in the order of their lines. Linear.
 */
export function ledgerContents(input: {
  /** In the order of the turns. */
  utterances: readonly Utterance[];
  /** Those of the same turns. */
  attachments: readonly Attachment[];
  previous: Snapshot | undefined;
  /** Random: nobody who wrote the history can know it. */
  boundary: string;
}): Content[] {
  const { attachments, boundary, previous } = input;
  const history = historyLines(entriesOf(input.utterances, attachments));
  const known = previous === undefined ? [] : knownLines(previous);
  const lines = [boundary, ...history, boundary, ...known, boundary];
  return [{ role: 'user', parts: [{ text: lines.join('\n') }, ...attachmentParts(attachments)] }];
}
