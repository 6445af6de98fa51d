import { toDayKey, userTime } from '#shared/conversation/local-time.ts';
import type { Content, Part } from '#shared/models/content.ts';
import {
  timelineSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import type { Utterance } from '#shared/conversation/utterances.ts';
import { lineEnd } from '#shared/text/plain-text.ts';
import { engineConstants } from './constants.ts';

/** A file that somebody sent in a turn: a picture, a recording, a document. */
interface Attachment {
  seq: number;
  /** When its turn began. */
  at: Date;
  speaker: 'user' | 'model';
  mimeType: string;
  part: Part;
  /** Whether the summariser gets it to see. */
  isShown: boolean;
}

function filesIn(turn: Turn, content: Content): Omit<Attachment, 'isShown'>[] {
  return content.parts.flatMap((part) => {
    const file = part.inlineData ?? part.fileData;
    if (file === undefined) return [];
    // What a client says of its file must not break out of the line that names it.
    const mimeType = /^[\w.+-]+\/[\w.+-]+/.exec(file.mimeType ?? '')?.[0] ?? 'unknown type';
    return [{ seq: turn.seq, at: userTime(turn), speaker: content.role, mimeType, part }];
  });
}

/** What a file adds to a request: base64 has four characters for three bytes. */
const inlineCharacters = ({ inlineData, upload }: Part): number | undefined =>
  inlineData?.data.length ?? (upload && Math.ceil(upload.sizeBytes / 3) * 4);

/**
 * The files of turns in order. The newest are shown, up to the bound of what one request may carry inline;
 * older ones are named only. A file at a foreign address carries nothing and is shown unless it is `leftOut`. Text
 * files are text.
 */
export function attachmentsIn(
  turns: readonly Turn[],
  leftOut: ReadonlySet<Part> = new Set(),
): Attachment[] {
  const files = turns.flatMap((turn) =>
    [turn.user, ...turn.contents].flatMap((content) => filesIn(turn, content)),
  );
  let left = engineConstants.attachmentCharacters;
  return files
    .toReversed()
    .map((file) => {
      const characters = inlineCharacters(file.part);
      left -= characters ?? 0;
      const hasRoom = characters === undefined || left >= 0;
      return { ...file, isShown: hasRoom && !leftOut.has(file.part) };
    })
    .toReversed();
}

/** The files that are shown, each behind a line that says which it is: they follow the text that names them. */
export const attachmentParts = (attachments: readonly Attachment[]): Part[] =>
  attachments.flatMap(({ seq, part, isShown }, index) =>
    isShown ? [{ text: `attachment ${index + 1}, of turn ${seq}:` }, part] : [],
  );

/** The line of the history that names a file: `user attachment 3: image/png`. */
export const attachmentLine = (
  { speaker, mimeType, isShown }: Attachment,
  number: number,
): string => `${speaker} attachment ${number}: ${mimeType}${isShown ? '' : ', not shown'}`;

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** `name: {"a":1}`, as calls are written among the utterances, as `called name({"a":1})`. */
function callText(text: string): string {
  const end = text.indexOf(': ');
  return end === -1 ? `called ${text}` : `called ${text.slice(0, end)}(${text.slice(end + 2)})`;
}

/** So far behind the number of its turn an utterance says it again: nobody should have to look back for it. */
const NUMBER_CHARACTERS = 8_000;

/**
 * What a reader could take for a line of ours: a mark, a day, an item, a boundary. Only such lines are indented; the
 * others go on without, which spares a twentieth of a programming chat.
 */
const imitation = /^ ?(?:[[{]|(?:turn|user|model|tool|assistant|system)\b|[\w-]{16,}$)/iu;

const continuedLine = (line: string): string => (imitation.test(line) ? `  ${line}` : line);

/** Fewer equal lines are written out. */
const EQUAL_LINES = 3;

/** Runs of equal lines as one of them and their number: an answer may hold thousands. */
function withoutRuns(lines: readonly string[]): string[] {
  const short: string[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? '';
    let end = at + 1;
    while (lines[end] === line) end += 1;
    const equal = end - at;
    if (equal < EQUAL_LINES) short.push(...lines.slice(at, end));
    else short.push(line, `  [the same line ${equal - 1} more times]`);
    at = end;
  }
  return short;
}

function utteranceText({ speaker, text }: Utterance): string {
  const name = speaker === 'call' ? 'model' : speaker;
  const words = speaker === 'call' ? callText(text) : text;
  const lines = words
    .split(lineEnd)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '');
  const [first = '', ...rest] = withoutRuns(lines);
  return [`${name}: ${first.trimStart()}`, ...rest.map(continuedLine)].join('\n');
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
  const spoken = utterances
    .filter(({ text }) => text.trim() !== '')
    .map((utterance) => ({ ...utterance, text: utteranceText(utterance) }));
  const sent = attachments.map((attachment, index) => ({
    seq: attachment.seq,
    at: attachment.at,
    text: attachmentLine(attachment, index + 1),
  }));
  return [...spoken, ...sent].toSorted((a, b) => a.seq - b.seq);
}

/** The entries as lines: each day that begins, where days are known, with a line that names it, each turn with its number. */
function historyLines(entries: readonly Entry[]): string[] {
  const lines: string[] = [];
  let day: string | undefined;
  let turn = 0;
  let charactersBehind = 0;
  for (const { seq, at, text } of entries) {
    const today = toDayKey(at);
    const isNumbered = today !== day || seq !== turn || charactersBehind >= NUMBER_CHARACTERS;
    if (today !== undefined && today !== day)
      lines.push(`turn ${seq}: ${today} ${weekdays[at.getUTCDay()]}`);
    lines.push(isNumbered ? `[${seq}] ${text}` : text);
    charactersBehind = text.length + (isNumbered ? 0 : charactersBehind);
    day = today;
    turn = seq;
  }
  return lines;
}

const itemLines = (items: readonly ArchivedItem[]): string[] =>
  items.map(({ id, section, text, status, importance }) =>
    JSON.stringify({ id, section, text, status, ...(importance !== 2 && { importance }) }),
  );

/** The items of a snapshot that operations may name: all of the working layer but the timeline. */
export const nameableItems = (snapshot: Snapshot): ArchivedItem[] =>
  workingItems(snapshot).filter(({ section }) => section !== timelineSection);

/**
 * What the model reads, as one user content: the utterances between two lines of `boundary`, then the items of
 * the previous snapshot as JSON lines up to a third. A mark (`[12] user: ` at the beginning of a turn, `model: ` in it),
 * a day, a boundary or an item at the margin is always ours: a line of an utterance that looks like one stands behind
 * two blanks. The files of the turns follow as parts of their own, in the order of their lines. Linear.
 */
export function historyContents(input: {
  /** In the order of the turns. */
  utterances: readonly Utterance[];
  /** Those of the same turns. */
  attachments: readonly Attachment[];
  /** Items of the previous snapshot that operations may name. */
  previousItems: readonly ArchivedItem[];
  /** Random: nobody who wrote the history can know it. */
  boundary: string;
}): Content[] {
  const { attachments, boundary, previousItems } = input;
  const history = historyLines(entriesOf(input.utterances, attachments));
  const lines = [boundary, ...history, boundary, ...itemLines(previousItems), boundary];
  return [{ role: 'user', parts: [{ text: lines.join('\n') }, ...attachmentParts(attachments)] }];
}
