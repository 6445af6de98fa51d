import { z } from 'zod';
import type { Content, Part } from '#shared/models/content.ts';
import type { Recording } from '../replay/recording.ts';

/** A turn made of recorded contents: one of the user, and all that answer it. */
export interface RecordedTurn {
  user: Content;
  contents: Content[];
  /** Index of its first content in the recording. */
  firstIndex: number;
  at: Date;
  /** When its last content was said. */
  finishedAt: Date;
}

/** What stands for the user where a recording begins with the model. */
const opening: Content = { role: 'user', parts: [{ text: '(the conversation begins)' }] };

const firstDay = new Date('2026-01-01T09:00:00.000Z');
const turnMs = 60_000;

const sessionsSchema = z.looseObject({
  meta: z.looseObject({
    sessions: z.array(z.looseObject({ date: z.string(), firstTurn: z.number().int() })),
  }),
});

/** `1:56 pm on 8 May, 2023` → that day; undefined for what is no date. */
function readDay(text: string): Date | undefined {
  const found = /(\d{1,2}) (\p{L}{3,}),? (\d{4})/u.exec(text);
  const time = Date.parse(found ? `${found[1]} ${found[2]} ${found[3]} 12:00 UTC` : text);
  return Number.isNaN(time) ? undefined : new Date(time);
}

/** When each content was said: on the day of its session where the recording tells, else a minute apart. */
function timesOf(recording: Recording): (index: number) => Date {
  const parsed = sessionsSchema.safeParse(recording);
  const sessions = parsed.success ? parsed.data.meta.sessions : [];
  return (index) => {
    const session = sessions.findLast(({ firstTurn }) => firstTurn <= index);
    const start = (session && readDay(session.date)) ?? firstDay;
    const since = index - (session?.firstTurn ?? 0);
    return new Date(start.getTime() + since * turnMs);
  };
}

const isResponse = (part: Part): boolean => part.functionResponse !== undefined;

/**
 * The turns of a recording. Every content of the user that answers no call begins one, so that any place
 * where a compaction can cut is an index of the recording; what follows belongs to it.
 */
export function turnsOf(recording: Recording): RecordedTurn[] {
  const timeAt = timesOf(recording);
  const turns: RecordedTurn[] = [];
  for (const [index, { role, parts }] of recording.turns.entries()) {
    const content = { role, parts };
    const at = timeAt(index);
    const place = { firstIndex: index, at, finishedAt: at };
    const current = turns.at(-1);
    if (role === 'user' && !parts.some(isResponse))
      turns.push({ user: content, contents: [], ...place });
    else if (current) {
      current.contents.push(content);
      current.finishedAt = at;
    } else turns.push({ user: opening, contents: [content], ...place });
  }
  return turns;
}

function partLength({ text, functionCall, functionResponse, ...rest }: Part): number {
  if (text !== undefined) return text.length;
  return JSON.stringify(functionCall?.args ?? functionResponse?.response ?? rest).length;
}

const lengthOf = ({ user, contents }: RecordedTurn): number =>
  [user, ...contents].reduce(
    (sum, content) => sum + content.parts.reduce((length, part) => length + partLength(part), 0),
    0,
  );

/** How many of the turns go so that the newest `keepFraction` of the text stays; at least one stays. */
function foldedCount(turns: readonly RecordedTurn[], keepFraction: number): number {
  const lengths = turns.map(lengthOf);
  const target = (1 - keepFraction) * lengths.reduce((sum, length) => sum + length, 0);
  let before = 0;
  for (const [index, length] of lengths.entries()) {
    if (before >= target) return index;
    before += length;
  }
  return Math.max(0, turns.length - 1);
}

/** When a growing conversation is compacted: with `stored` turns, of which the first `folded` go. */
interface Slice {
  stored: number;
  folded: number;
}

/**
 * Cuts the part of a conversation that is folded at last into `count` slices of about the same length,
 * each of at least one turn; there are fewer where there are fewer turns. Each is folded as soon as
 * `keepFraction` of the text stands behind it, the last one when all is stored.
 */
export function slicesOf(
  turns: readonly RecordedTurn[],
  { count, keepFraction }: { count: number; keepFraction: number },
): Slice[] {
  const foldedAtLast = Math.max(1, foldedCount(turns, keepFraction));
  const folding = turns.slice(0, foldedAtLast);
  const slices: Slice[] = [];
  let stored = 1;
  for (let slice = 1; slice <= count; slice += 1) {
    const before = slices.at(-1)?.folded ?? 0;
    const wanted = slice === count ? foldedAtLast : foldedCount(folding, 1 - slice / count);
    const folded = Math.max(wanted, before + 1);
    if (folded > foldedAtLast) break;
    stored = Math.max(stored, folded + 1);
    while (stored < turns.length && foldedCount(turns.slice(0, stored), keepFraction) < folded)
      stored += 1;
    slices.push({ stored: Math.min(stored, turns.length), folded });
  }
  const last = slices.at(-1);
  if (last?.folded === foldedAtLast) last.stored = turns.length;
  return slices;
}
