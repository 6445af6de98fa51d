import { z } from 'zod';
import type { Speaker } from './candidates.ts';
import { type RequestContent, textOf } from './request.ts';

/** A line of the history, with the turn that it belongs to where the history says so. */
export interface Line {
  text: string;
  saidBy: Speaker;
  seq: number | undefined;
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
  return textOf(content)
    .split('\n')
    .some((line) => numbered.test(line) && mark.test(line));
}

/**
 * The lines of a content with marked turns. A mark opens an utterance, of the same turn where it has no number; lines
 * that are indented by two blanks go on with it, any other line (a boundary, a heading, a known item) ends the turn
 * and is no history.
 */
export function markedLines(content: RequestContent): Line[] {
  const lines: Line[] = [];
  let open: Omit<Line, 'text'> | undefined;
  for (const line of textOf(content).split('\n')) {
    const found = mark.exec(line);
    const seq = found?.[1] === undefined ? open?.seq : Number(found[1]);
    if (found !== null && seq !== undefined) {
      open = { saidBy: speakers[found[2] ?? ''] ?? 'user', seq };
      lines.push({ ...open, text: toldCall(line.slice(found[0].length)) });
    } else if (open !== undefined && continuation.test(line)) {
      lines.push({ ...open, text: line.slice(2) });
    } else if (line !== '') {
      open = undefined;
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

/** What the request says is known already: JSON lines `{id, section, text}` at column 0. */
export function knownItems(contents: readonly RequestContent[]): KnownItem[] {
  return contents.flatMap((content) => textOf(content).split('\n').flatMap(readKnownItem));
}
