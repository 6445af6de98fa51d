import { unknownTime } from '#shared/conversation/local-time.ts';
import {
  contentSchema,
  hasFunctionResponse,
  type Content,
  type Part,
} from '#shared/models/content.ts';
import { AppError } from '#shared/lib/errors.ts';
import { canonicalJson } from '#shared/lib/json-text.ts';
import { ACKNOWLEDGEMENT } from '#shared/conversation/context/assemble-context.ts';
import { snapshotSchema } from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { estimateContentTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { createHash } from 'node:crypto';
import { z } from 'zod';

/* A history that somebody else keeps: contents as turns, and what a snapshot stands for in them. */

/** What one compaction leaves for the next: plain JSON, to be kept beside the history. */
export const compactionSnapshotSchema = z.strictObject({
  schemaVersion: z.literal(1),
  /** What is known: statements, each with the numbers of the turns that say so, counted from 1. */
  statements: snapshotSchema,
  /** As the model reads it: the first content of a compacted history. */
  text: z.string().min(1),
  /** Estimated tokens of `text` and its acknowledgement. */
  tokens: z.number().nonnegative(),
  /** Number of the first turn that stays, whole or in part. */
  nextTurn: z.number().int().positive(),
  /** How many contents of the whole history, from its first, it stands for. */
  contents: z.number().int().positive(),
  /** Index of the one among them that stays word for word: the message of a turn whose answer is folded in part. */
  keptContent: z.number().int().nonnegative().optional(),
  /** Names those contents, so that a snapshot is never taken for one of another history. */
  hash: z.string(),
});
export type CompactionSnapshot = z.infer<typeof compactionSnapshotSchema>;

/** The two contents that stand for what is folded. */
export const snapshotContents = ({ text }: Pick<CompactionSnapshot, 'text'>): Content[] => [
  { role: 'user', parts: [{ text }] },
  { role: 'model', parts: [{ text: ACKNOWLEDGEMENT }] },
];

// Which contents a snapshot stands for

/** Thoughts and signatures are not kept by everybody; they say nothing of what was said. */
function saidPart(whole: Part): Part[] {
  const { thought, thoughtSignature: _, ...part } = whole;
  return thought === true || Object.keys(part).length === 0 || part.text === '' ? [] : [part];
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The name of the contents that `before` names and one more behind them. Canonical: stores bring keys back in another
 * order.
 */
const hashWith = (before: string, { role, parts }: Content): string =>
  sha256(`${before}${role}${canonicalJson(parts.flatMap(saidPart))}`);

const hashOf = (contents: readonly Content[], before = ''): string => {
  let hash = before;
  for (const content of contents) hash = hashWith(hash, content);
  return hash;
};

/** A mark that nobody who wrote the contents can have put into them: it would have to name itself. */
export const drawMark = (contents: readonly Content[], count: number): string =>
  sha256(`${hashOf(contents)} ${count}`).slice(0, 32);

const startsWithSnapshot = (
  contents: readonly Content[],
  snapshot: CompactionSnapshot,
): boolean => {
  const ours = snapshotContents(snapshot);
  return ours.every(({ role, parts }, index) => {
    const given = contents[index];
    const isAlone = given?.role === role && given.parts.length === parts.length;
    return isAlone && given.parts[0]?.text === parts[0]?.text;
  });
};

/** Whether a history begins with what the snapshot stands for: with its two contents, or with those that were folded. */
export const matchesSnapshot = (
  contents: readonly Content[],
  snapshot: CompactionSnapshot,
): boolean =>
  startsWithSnapshot(contents, snapshot) ||
  (contents.length >= snapshot.contents &&
    hashOf(contents.slice(0, snapshot.contents)) === snapshot.hash);

/** What follows the snapshot, each content with its place in the whole history. */
export interface Tail {
  contents: readonly Content[];
  places: readonly number[];
  /** Whether the history came with the snapshot's contents before it. */
  isRendered: boolean;
}

/**
 * The contents that no snapshot stands for. Takes a history as `compact` returned it with what came since, and a whole one.
 * Throws AppError SNAPSHOT_OF_ANOTHER_HISTORY for any other.
 */
export function readTail(
  contents: readonly Content[],
  snapshot: CompactionSnapshot | undefined,
): Tail {
  if (!snapshot) return { contents, places: [...contents.keys()], isRendered: false };
  const { contents: covered, keptContent } = snapshot;
  const keptPlaces = keptContent === undefined ? [] : [keptContent];
  if (startsWithSnapshot(contents, snapshot)) {
    const tail = contents.slice(2);
    const later = tail.length - keptPlaces.length;
    const places = [...keptPlaces, ...Array.from({ length: later }, (_, at) => covered + at)];
    return { contents: tail, places, isRendered: true };
  }
  if (!matchesSnapshot(contents, snapshot))
    throw new AppError({
      status: 'INVALID_ARGUMENT',
      reason: 'SNAPSHOT_OF_ANOTHER_HISTORY',
      message: `contents: they begin neither with the two contents of the snapshot nor with the ${covered} contents that it stands for; after a change of those, leave the snapshot out`,
      publicMessage: 'The snapshot belongs to another history.',
      metadata: { field: 'contents' },
    });
  const places = [...keptPlaces, ...[...contents.keys()].slice(covered)];
  return {
    contents: places.flatMap((place) => contents[place] ?? []),
    places,
    isRendered: false,
  };
}

// Contents as turns

/** When a content was said; undefined: nobody knows. */
export type ContentTime = (content: Content, index: number) => Date | undefined;

/** A turn, and where its contents stand in the tail: of its message first, if there is one. */
export interface KeptTurn {
  turn: Turn;
  first: number;
  hasMessage: boolean;
}

/** A message of the user begins a turn; what the model says and tools return belongs to it. */
const beginsTurn = (content: Content): boolean =>
  content.role === 'user' && !hasFunctionResponse(content);

/** The tail as turns, numbered from `nextTurn`. */
export function readTurns(
  { contents, places }: Tail,
  {
    nextTurn,
    timeOf,
    counting,
  }: { nextTurn: number; timeOf: ContentTime; counting: TokenCounting },
): KeptTurn[] {
  const turns: KeptTurn[] = [];
  for (const [index, content] of contents.entries()) {
    const at = timeOf(content, places[index] ?? index) ?? unknownTime;
    const tokens = estimateContentTokens(content, counting);
    const last = turns.at(-1);
    if (last && !beginsTurn(content)) {
      const { turn } = last;
      turn.contents.push(content);
      turn.finishTime = at;
      turn.tokens.answer += tokens;
      continue;
    }
    const hasMessage = beginsTurn(content);
    turns.push({
      first: index,
      hasMessage,
      turn: {
        schemaVersion: 1,
        seq: nextTurn + turns.length,
        messageId: '',
        state: 'done',
        attempt: 1,
        producer: '',
        leaseUntil: unknownTime,
        createTime: at,
        finishTime: at,
        tokens: hasMessage ? { user: tokens, answer: 0 } : { user: 0, answer: tokens },
        inContext: true,
        user: hasMessage ? content : { role: 'user', parts: [] },
        contents: hasMessage ? [] : [content],
      },
    });
  }
  return turns;
}

/** What a fold leaves of a tail. */
interface Fold {
  /** Of the turns that are folded inside, the message too: it stays as well. */
  folded: Content[];
  kept: Content[];
  /** What the next snapshot says of its place. */
  place: Pick<CompactionSnapshot, 'nextTurn' | 'contents' | 'keptContent' | 'hash'>;
}

/** The tail without what is folded up to `point`. */
export function foldTail(
  tail: Tail,
  turns: readonly KeptTurn[],
  {
    point,
    previous,
  }: {
    point: { seq: number; contentIndex: number };
    previous: CompactionSnapshot | undefined;
  },
): Fold {
  const { contents, places } = tail;
  const current = turns.find(({ turn }) => turn.seq === point.seq);
  const isInside = point.contentIndex > 0 && current !== undefined;
  const next = turns.find(({ turn }) => turn.seq > point.seq)?.first ?? contents.length;
  const messages = current?.hasMessage ? 1 : 0;
  const end = isInside ? current.first + messages + point.contentIndex : next;
  const message = isInside && current.hasMessage ? current.first : undefined;
  const folded = contents.slice(0, end);
  // The message that the last fold kept is among those that it stands for.
  const isKnown = previous?.keptContent !== undefined;
  return {
    folded,
    kept: contents.filter((_, index) => index >= end || index === message),
    place: {
      nextTurn: isInside ? point.seq : point.seq + 1,
      contents: Math.max(previous?.contents ?? 0, (places[end - 1] ?? 0) + 1),
      ...(message !== undefined && { keptContent: places[message] ?? message }),
      hash: hashOf(folded.slice(isKnown ? 1 : 0), previous?.hash),
    },
  };
}

/** A schema for contents as Gemini has them; what else stands in them is kept. */
export const contentsSchema = z.array(contentSchema);
