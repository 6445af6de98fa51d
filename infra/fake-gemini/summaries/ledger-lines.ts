import { z } from 'zod';
import { type RequestContent, contentText } from '../server/request.ts';
import { isSettled, namesPath, tellsOfOneself } from '../answers/facts.ts';

const calling = /^called (\w+)/;
const changing = /write|edit|create|delete|move|update|replace|patch/i;

/** The section of a statement that is no file: a profile without it has it among what is known. */
function talkSection({ saidBy, text }: Candidate): string {
  if (saidBy === 'model' && isSettled(text)) return 'decisions';
  return saidBy === 'user' && tellsOfOneself(text) ? 'user_profile' : 'key_knowledge';
}

/** The section of a ledger in which a statement belongs. */
export function ledgerSection(item: Candidate): string {
  if (item.isGoal === true) return 'overall_goal';
  if (item.isRule) return 'active_constraints';
  if (item.section !== undefined) return item.section;
  if (!namesPath(item.text)) return talkSection(item);
  const called = calling.exec(item.text)?.[1];
  if (called !== undefined && !changing.test(called)) return 'recent_actions';
  return item.saidBy === 'tool' ? 'file_system_state' : 'artifact_trail';
}

/** A line of the history, with the turn that it belongs to where the history says so. */
export interface Line {
  text: string;
  saidBy: Speaker;
  seq: number | undefined;
  /** ISO date on which it was said, where the history tells. */
  day?: string | undefined;
}

/** An item of the previous snapshot, as the request lists it. */
export interface KnownItem {
  id: string;
  section: string;
  text: string;
}

/** Only at the very beginning of a line: text of a turn stands behind it or is indented. */
const mark = /^(?:\[(\d+)\] )?(user|model|tool): /;
const numbered = /^\[\d+\] /;
const continuation = /^ {2}/;
/** `turn 12: 2026-11-21 Saturday`, or the day alone. */
const dayLine = /^(?:turn (\d+):? )?(\d{4}-\d{2}-\d{2})(?:,? \(?\p{L}+\)?)?:?$/u;
const attachment = /^(?:\[(\d+)\] )?(?:user|model|tool) attachment \d+: /;

const speakers: Readonly<Record<string, Speaker>> = { user: 'user', model: 'model', tool: 'tool' };

const knownItemSchema = z.looseObject({ id: z.string(), section: z.string(), text: z.string() });

const call = /^called ([\w.:-]+)\((\{.*\})\)$/;

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return value.map(wordsOf).join(' and ');
  return Object.entries(value)
    .map(([name, each]) => `${name} ${wordsOf(each)}`)
    .join(', ');
}

/** `called f({"day":"Monday"})` as people tell it: `called f with day Monday`. */
function toldCall(text: string): string {
  const found = call.exec(text);
  if (found === null) return text;
  try {
    const words = wordsOf(JSON.parse(found[2] ?? ''));
    return words === '' ? `called ${found[1]}` : `called ${found[1]} with ${words}`;
  } catch {
    return text;
  }
}

/** Whether a content holds history whose turns are marked: `[12] user: …`. */
export function hasTurnMarks(content: RequestContent): boolean {
  return contentText(content)
    .split('\n')
    .some((line) => numbered.test(line) && mark.test(line));
}

/** Where history and known items stand in a content: between two lines that are equal, and behind the second. */
interface Parts {
  isBounded: boolean;
  history: string[];
  known: string[];
}

function splitParts(content: RequestContent): Parts {
  const lines = contentText(content).split('\n');
  const boundary = lines[0] ?? '';
  const end = /^\S+$/.test(boundary) ? lines.indexOf(boundary, 1) : -1;
  return end < 0
    ? { isBounded: false, history: lines, known: lines }
    : { isBounded: true, history: lines.slice(1, end), known: lines.slice(end + 1) };
}

/** What a line of the history is, to somebody who reads on from `open`. */
interface Reading {
  open: Omit<Line, 'text'> | undefined;
  seq: number | undefined;
  day: string | undefined;
}

function readDay(line: string, before: Reading): Reading | undefined {
  const found = dayLine.exec(line);
  if (found === null) return undefined;
  const day = found[2];
  const open = before.open && { ...before.open, day };
  return { open, seq: found[1] === undefined ? before.seq : Number(found[1]), day };
}

function readAttachment(line: string, before: Reading): Reading | undefined {
  const found = attachment.exec(line);
  if (found === null) return undefined;
  const seq = found[1] === undefined ? before.seq : Number(found[1]);
  return { ...before, open: undefined, seq };
}

/**
 * The lines of a content with marked turns. A mark opens an utterance, of the same turn where it has no number; a line
 * with a day holds for what follows. Between boundaries all other lines go on with the utterance, whether they are
 * indented by two blanks or not; without boundaries only those that are, and any other line (a heading, a known item)
 * ends the turn and is no history.
 */
export function markedLines(content: RequestContent): Line[] {
  const { isBounded, history } = splitParts(content);
  const lines: Line[] = [];
  let reading: Reading = { open: undefined, seq: undefined, day: undefined };
  for (const line of history) {
    const found = mark.exec(line);
    const seq = found?.[1] === undefined ? reading.seq : Number(found[1]);
    if (found !== null && seq !== undefined) {
      const { day } = reading;
      const open = { saidBy: speakers[found[2] ?? ''] ?? 'user', seq, day };
      lines.push({ ...open, text: toldCall(line.slice(found[0].length)) });
      reading = { open, seq, day };
      continue;
    }
    const next = readDay(line, reading) ?? readAttachment(line, reading);
    if (next !== undefined) {
      reading = next;
    } else if (reading.open !== undefined && (isBounded || continuation.test(line))) {
      if (line !== '') lines.push({ ...reading.open, text: line.replace(continuation, '') });
    } else if (line !== '') {
      reading = { ...reading, open: undefined, seq: undefined };
    }
  }
  return lines;
}

function readKnownItem(line: string): KnownItem[] {
  if (!line.startsWith('{')) return [];
  try {
    const parsed = knownItemSchema.safeParse(JSON.parse(line));
    return parsed.success ? [parsed.data] : [];
  } catch {
    return [];
  }
}

/** What the request says is known already: JSON lines `{id, section, text}` at column 0, behind the history. */
export function knownItems(contents: readonly RequestContent[]): KnownItem[] {
  return contents.flatMap((content) => splitParts(content).known.flatMap(readKnownItem));
}

export type Speaker = 'user' | 'model' | 'tool' | 'snapshot';
/** A sentence of the folded history that is worth keeping. */
export interface Candidate {
  /** As it stands in the history; what a snapshot will say, unless a vice changes it. */
  text: string;
  /** The history's own words, for quotes. */
  quote: string;
  saidBy: Speaker;
  /** Numbers of the turns that the history marks (`[12] user: …`); none without marks. */
  sources: number[];
  facts: number;
  isRule: boolean;
  /** What the user wants to reach. */
  isGoal?: boolean;
  /** A known item that this statement changes or ends. */
  changes?: { op: 'update' | 'remove'; id: string; reason?: string };
  /** Where it belongs, if that is not to be told from the text. */
  section?: string;
}
