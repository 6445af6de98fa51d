import {
  constraintSection,
  everyItem,
  lastSource,
  timelineSection,
  workingItems,
  type ArchivedItem,
  type Snapshot,
} from '#shared/conversation/documents/snapshot.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { escapeXml } from '#shared/text/escape-xml.ts';
import { countWideLetters } from '#shared/text/plain-text.ts';
import { estimateTextTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { engineConstants } from './constants.ts';
import type { PromptRoom } from './prompt.ts';
import { renderWorkingLayer } from './render.ts';
import { useOf } from './sections.ts';

// How large a snapshot may be

/** What a compaction has to say something about, and what there was before it. */
export interface Folding {
  /** Of the policy: tokens of a snapshot, as the model counts them. */
  budgetTokens: number;
  /** What this run folds. */
  foldedTokens: number;
  /** The snapshot that is there, as text and as such. */
  previousTokens: number;
  previous: Snapshot | undefined;
  /** From our estimate to what the model reports; 1 where nothing was reported yet. */
  calibration: number;
  /** Share of letters that stand for a syllable or a word, 0–1. */
  wideShare: number;
}

/** What a snapshot may take. */
export interface SnapshotRoom {
  /** For the texts of all items, the timeline included. */
  characters: number;
  /** The same, rendered: what the archive may fill up. Estimated tokens. */
  roomTokens: number;
  /** For the working layer as it is rendered: models write a little more than they are told. Estimated tokens. */
  ceilingTokens: number;
  /** What rules may take of it, also where a fold is small. Estimated tokens. */
  constraintTokens: number;
}

/** Label, boundary, acknowledgement. */
const SNAPSHOT_FRAME_TOKENS = 250;

/**
 * The room of a snapshot: the budget for the first fold, a quarter more for each of the next two, and then as it was, so
 * that nobody has to reword what is known because the room has shrunk. Never so much that the context would not get
 * smaller, nor more than a changed budget allows.
 */
export function snapshotRoom(folding: Folding): SnapshotRoom {
  const { wideShare, previous } = folding;
  const { roomGrowth, roomGrowthFolds, roomOvershoot, roomOfFolded, roomFloorTokens } =
    engineConstants;
  const budget = estimatedBudget(folding);
  const folds = previous?.folds ?? 0;
  const replaced = folding.foldedTokens + folding.previousTokens;
  const most = Math.max(
    Math.min(budget, roomFloorTokens),
    roomOfFolded * replaced - SNAPSHOT_FRAME_TOKENS,
  );
  const factor = 1 + roomGrowth * Math.min(folds, roomGrowthFolds);
  const fresh = charactersFor(factor * budget, wideShare);
  const before = previous?.roomCharacters ?? 0;
  const isGrown = folds > roomGrowthFolds;
  const wanted = isGrown && before > 0 ? before : Math.max(fresh, before);
  const largest = charactersFor(
    (1 + roomGrowth * roomGrowthFolds) * roomOvershoot * budget,
    wideShare,
  );
  const characters = Math.min(wanted, largest, charactersFor(most, wideShare));
  const tokens = characters * tokensByCharacter(wideShare) + FRAME_TOKENS;
  const ceilingTokens = Math.floor(Math.min(roomOvershoot * tokens, most));
  return {
    characters,
    roomTokens: Math.floor(Math.min(tokens, most)),
    ceilingTokens,
    constraintTokens: engineConstants.constraintRoomFraction * Math.max(ceilingTokens, budget),
  };
}

/** Without a report: the estimate takes a wide letter for 1.3 tokens, of which models count about 0.7. */
const WIDE_ESTIMATE = 0.54;

/** The budget in tokens as we estimate them. */
function estimatedBudget({ budgetTokens, calibration, wideShare }: Folding): number {
  const expected = 1 - wideShare * (1 - WIDE_ESTIMATE);
  return budgetTokens / (calibration === 1 ? expected : calibration);
}

/** Characters of notes that take one estimated token; notes have more figures and signs than talk. */
const CHARACTERS_BY_TOKEN = { spaced: 3.3, wide: 0.83 };

/** Tags, list marks, days. */
const FRAME_TOKENS = 100;

const LEAST_CHARACTERS = 300;

const tokensByCharacter = (wideShare: number): number =>
  wideShare / CHARACTERS_BY_TOKEN.wide + (1 - wideShare) / CHARACTERS_BY_TOKEN.spaced;

/** Models count no tokens: the room as characters of the texts of items. */
const charactersFor = (tokens: number, wideShare: number): number =>
  Math.max(
    LEAST_CHARACTERS,
    Math.floor(Math.max(0, tokens - FRAME_TOKENS) / tokensByCharacter(wideShare) / 100) * 100,
  );

const letters = /[\p{L}\p{N}]/gu;

/** How much of what users say in turns is written in letters that stand for a syllable or a word, 0–1. */
export function measureWideShare(turns: readonly Pick<Turn, 'user'>[]): number {
  const text = turns
    .map(({ user }) => user.parts.map((part) => part.text ?? '').join(' '))
    .join(' ');
  const all = text.match(letters)?.length ?? 0;
  return all === 0 ? 0 : countWideLetters(text) / all;
}

const charactersIn = (items: readonly { text: string }[]): number =>
  items.reduce((sum, { text }) => sum + text.length, 0);

/**
 * What one of `chunks` answers may say: what is free, and where little is a share of all, for which old items leave.
 * Nobody has to shorten what is known.
 */
export function promptRoom(
  { characters }: Pick<SnapshotRoom, 'characters'>,
  {
    previousItems,
    folds,
    chunks,
  }: { previousItems: readonly { text: string }[]; folds: number; chunks: number },
): PromptRoom {
  const { timelineRoomFraction, newShare, topicCharacters, topicMinimum } = engineConstants;
  const forItems = (1 - timelineRoomFraction) * characters;
  const share = Math.max(newShare, 1 / (folds + 1));
  const free = Math.max(forItems - charactersIn(previousItems), share * forItems);
  const topics = Math.max(topicMinimum, Math.floor(characters / topicCharacters));
  return {
    characters: Math.max(LEAST_CHARACTERS, Math.floor(free / chunks / 100) * 100),
    topics: Math.max(1, Math.ceil(topics / chunks)),
  };
}

// What leaves for the archive

export interface FittedSnapshot {
  snapshot: Snapshot;
  /** Items that went from the working layer to the archive. */
  archived: ArchivedItem[];
  /** Items that left the archive: the transcript alone says what they said. */
  dropped: ArchivedItem[];
  /** The constraints took more than their share of the room: the least important and oldest went. */
  constraintsOverBudget: boolean;
}

/** Of a small room rules take at most so much: a snapshot of rules alone remembers nothing. */
const CONSTRAINT_CEILING = 0.75;

/**
 * A snapshot whose working layer has room, rendered: rules beyond their share go to the archive, then the oldest lines
 * of the timeline beyond theirs, then what is worth least, the oldest first. Nothing is reworded.
 */
export function fitSnapshot(
  snapshot: Snapshot,
  room: Pick<SnapshotRoom, 'ceilingTokens' | 'constraintTokens'>,
  counting: TokenCounting,
): FittedSnapshot {
  const rules = beyondShare(snapshot, constraintSection, {
    tokens: Math.min(room.constraintTokens, CONSTRAINT_CEILING * room.ceilingTokens),
    counting,
    order: longestFirst,
  });
  const lines = beyondShare(snapshot, timelineSection, {
    tokens: engineConstants.timelineRoomFraction * room.ceilingTokens,
    counting,
    order: oldestFirst,
  });
  const within = withoutItems(snapshot, [...rules, ...lines]);
  const archived = [
    ...rules,
    ...lines,
    ...beyondCeiling(within, { ceilingTokens: room.ceilingTokens, counting }),
  ];
  const fitting = withoutItems(snapshot, archived);
  const { archive, dropped } = boundArchive({
    ...fitting,
    archive: [...snapshot.archive, ...archived],
  });
  return {
    snapshot: { ...fitting, archive },
    archived,
    dropped,
    constraintsOverBudget: rules.length > 0,
  };
}

const oldestFirst = (a: ArchivedItem, b: ArchivedItem): number => lastSource(a) - lastSource(b);

const leastFirst = (a: ArchivedItem, b: ArchivedItem): number =>
  a.importance - b.importance || oldestFirst(a, b);

/** Rules are short: what is long is a text that somebody pasted, and must not drive them out. */
const longestFirst = (a: ArchivedItem, b: ArchivedItem): number =>
  a.importance - b.importance || b.text.length - a.text.length || oldestFirst(a, b);

/** The items of a section beyond what it may take, the first to go first in `order`. */
function beyondShare(
  snapshot: Snapshot,
  section: string,
  share: {
    tokens: number;
    counting: TokenCounting;
    order: (a: ArchivedItem, b: ArchivedItem) => number;
  },
): ArchivedItem[] {
  const items = (snapshot.sections[section] ?? []).map((item) => ({ ...item, section }));
  const tokensOf = ({ text }: ArchivedItem): number =>
    estimateTextTokens(`- ${escapeXml(text)}\n`, share.counting);
  let left = items.reduce((sum, item) => sum + tokensOf(item), 0);
  return items.toSorted(share.order).filter((item) => {
    if (left <= share.tokens) return false;
    left -= tokensOf(item);
    return true;
  });
}

/** The fewest items, in the order in which they leave, without which the working layer fits. */
function beyondCeiling(
  snapshot: Snapshot,
  { ceilingTokens, counting }: { ceilingTokens: number; counting: TokenCounting },
): readonly ArchivedItem[] {
  const order = leavingOrder(snapshot);
  const fitsWithout = (count: number): boolean =>
    estimateTextTokens(
      renderWorkingLayer(withoutItems(snapshot, order.slice(0, count))),
      counting,
    ) <= ceilingTokens;
  let low = 0;
  let high = order.length;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (fitsWithout(middle)) high = middle;
    else low = middle + 1;
  }
  return order.slice(0, low);
}

/** The items that may leave the working layer, the first to go first: what is worth least, then the oldest. */
const leavingOrder = (snapshot: Snapshot): ArchivedItem[] =>
  workingItems(snapshot)
    .filter(({ section }) => section !== constraintSection && section !== timelineSection)
    .toSorted((a, b) => worthOf(a) - worthOf(b) || lastSource(a) - lastSource(b));

const isFinished = ({ status }: ArchivedItem): boolean => status === 'done' || status === 'tried';

const worthOf = (item: ArchivedItem): number =>
  item.importance + (isFinished(item) ? 0 : (useOf(item.section)?.worth ?? 1));

/** A snapshot whose working layer is without these items. */
export function withoutItems(snapshot: Snapshot, gone: readonly { id: string }[]): Snapshot {
  if (gone.length === 0) return snapshot;
  const ids = new Set(gone.map(({ id }) => id));
  const sections = Object.entries(snapshot.sections).map(
    ([section, items]) => [section, items.filter(({ id }) => !ids.has(id))] as const,
  );
  return { ...snapshot, sections: Object.fromEntries(sections) };
}

/** The archive within its bounds, and what no longer has a place in it. */
function boundArchive(snapshot: Snapshot): { archive: ArchivedItem[]; dropped: ArchivedItem[] } {
  const superseded = new Set(everyItem(snapshot).map(({ supersedes }) => supersedes));
  const isReplaced = ({ id }: ArchivedItem): number => Number(superseded.has(id));
  const { archiveItemLimit, archiveCharacters } = engineConstants;
  let left = archiveCharacters;
  const kept = new Set(
    snapshot.archive
      .toSorted((a, b) => isReplaced(a) - isReplaced(b) || leastFirst(b, a))
      .slice(0, archiveItemLimit)
      .filter((item) => {
        left -= JSON.stringify(item).length + 1;
        return left >= 0;
      }),
  );
  // What a dropped item took the place of would hold again without it.
  const byId = new Map(snapshot.archive.map((item) => [item.id, item]));
  for (const dropped of snapshot.archive.filter((item) => !kept.has(item)))
    for (
      let replaced = byId.get(dropped.supersedes ?? '');
      replaced !== undefined && kept.delete(replaced);
      replaced = byId.get(replaced.supersedes ?? '')
    );
  return {
    archive: snapshot.archive.filter((item) => kept.has(item)),
    dropped: snapshot.archive.filter((item) => !kept.has(item)),
  };
}
