import { toDayKey, userTime } from '#shared/conversation/local-time.ts';
import {
  SOURCES_MAX,
  workingItems,
  type Item,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { readUtterances } from '#shared/conversation/utterances.ts';
import { oneLine } from '#shared/text/cut.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { cutAtClause } from './apply.ts';
import { engineConstants } from './constants.ts';
import { attachmentsIn } from './history-lines.ts';
import { renderWorkingLayer } from './render.ts';
import { fitSnapshot, type SnapshotRoom } from './room.ts';
import { ownLines } from './user-words.ts';

const SECTION = 'recent_actions';

/** The beginning of what the user says himself in a turn; of what he shows, where that is all. Undefined: no words. */
function beginningOf(turn: Turn): Omit<Item, 'id'> | undefined {
  const words = readUtterances([{ ...turn, contents: [] }])
    .filter(({ speaker }) => speaker === 'user')
    .map(({ text }) => text)
    .join('\n');
  const ownText = oneLine(ownLines(words));
  const shown = oneLine(words);
  if (shown === '') return undefined;
  const label = ownText === '' ? 'Shown by the user' : 'User';
  const text = cutAtClause(
    ownText === '' ? shown : ownText,
    engineConstants.fallbackLineCharacters,
  );
  return {
    text: `${label}: "${text}"`,
    sources: [turn.seq],
    at: toDayKey(userTime(turn)),
    importance: 3,
    by: 'code',
  };
}

/** Kinds of files that are named where nobody has words for them. */
const KINDS_NAMED = 5;

/** That the user sent something, where there are no words: pictures, blanks. Undefined without turns. */
function silence(turns: readonly Turn[]): Omit<Item, 'id'> | undefined {
  const silent = turns.slice(-SOURCES_MAX);
  if (silent.length === 0) return undefined;
  const files = attachmentsIn(silent).filter(({ speaker }) => speaker === 'user');
  const kinds = [...new Set(files.map(({ mimeType }) => mimeType))].slice(0, KINDS_NAMED);
  return {
    text: `The user sent messages without words${kinds.length === 0 ? '' : ` (${kinds.join(', ')})`}.`,
    sources: silent.map(({ seq }) => seq),
    importance: 2,
    by: 'code',
  };
}

/** The newest lines that fit what the snapshot leaves free, or their share of it; in their order. */
function newestWithin(
  lines: readonly Omit<Item, 'id'>[],
  roomTokens: number,
  counting: TokenCounting,
): Omit<Item, 'id'>[] {
  let left = roomTokens;
  const end = lines.toReversed().findIndex(({ text }) => {
    left -= estimateTextTokens(`- ${text} (2026-11-21)\n`, counting);
    return left < 0;
  });
  return end === -1 ? [...lines] : lines.slice(lines.length - end);
}

/**
 * A snapshot without a model: the previous one, and the beginnings of the user's messages since, the newest that have
 * room. Where he said nothing, that he sent something. Empty only where the previous one is empty and there are no turns.
 */
export function fallbackSnapshot(
  previous: Snapshot,
  turns: readonly Turn[],
  { room, counting }: { room: SnapshotRoom; counting: TokenCounting },
): Snapshot {
  const beginnings = turns.flatMap((turn) => beginningOf(turn) ?? []);
  const usedTokens = estimateTextTokens(renderWorkingLayer(previous), counting);
  const roomTokens = Math.max(
    room.ceilingTokens - usedTokens,
    engineConstants.newShare * room.ceilingTokens,
  );
  const lines = newestWithin(beginnings, roomTokens, counting);
  const unsaid = lines.length + workingItems(previous).length === 0 ? silence(turns) : undefined;
  const added = unsaid === undefined ? lines : [unsaid];
  const items = added.map((line, index): Item => ({ ...line, id: `i${previous.nextId + index}` }));
  const snapshot: Snapshot = {
    ...previous,
    sections: {
      ...previous.sections,
      [SECTION]: [...(previous.sections[SECTION] ?? []), ...items],
    },
    nextId: previous.nextId + items.length,
    folds: (previous.folds ?? 0) + 1,
    roomCharacters: room.characters,
  };
  return fitSnapshot(snapshot, room, counting).snapshot;
}
