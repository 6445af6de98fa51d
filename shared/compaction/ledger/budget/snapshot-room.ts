import type { Turn } from '#shared/conversation/documents/turn.ts';
import { ledgerConstants } from '../ledger-constants.ts';

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}]/gu;
const letters = /[\p{L}\p{N}]/gu;

/** What a compaction has to say something about. */
export interface Folding {
  /** Of the policy: for one fold of the size of the threshold. */
  budgetTokens: number;
  softThresholdTokens: number | null;
  /** What this run folds. */
  foldedTokens: number;
  foldedTurns: number;
  /** All turns that snapshots stand for after it. */
  coveredTurns: number;
  /** The snapshot that is there. */
  previousTokens: number;
  /** From our estimate to what the model reports; 1 where nothing was reported yet. */
  calibration: number;
  /** Share of letters that stand for a syllable or a word, 0–1. */
  wideShare: number;
}

export interface RoomBounds {
  /** What the model is told to fill. */
  roomTokens: number;
  /** What the working layer may take before items leave it: a model that writes a little more loses nothing. */
  ceilingTokens: number;
}

/** Label, boundary, acknowledgement. */
const SNAPSHOT_FRAME_TOKENS = 250;

/** What the growth counts from where a conversation has no threshold of its own. */
const THRESHOLD_TOKENS = 24_000;

/** Without a report: the estimate takes a wide letter for 1.3 tokens, of which models count about 0.7. */
const WIDE_ESTIMATE = 0.54;

/** The budget in tokens as we estimate them. */
function estimatedBudget({ budgetTokens, calibration, wideShare }: Folding): number {
  const expected = 1 - wideShare * (1 - WIDE_ESTIMATE);
  return budgetTokens / (calibration === 1 ? expected : calibration);
}

/** So many of what was said the room is for; estimated from the turns that are folded now. */
const coveredTokens = ({ foldedTokens, foldedTurns, coveredTurns }: Folding): number =>
  foldedTokens * Math.max(1, coveredTurns / Math.max(1, foldedTurns));

/**
 * The room of a snapshot by what it stands for: the budget for one fold of about a threshold, a quarter more with each
 * doubling, at most half more. Never so much that the context would not get smaller. Estimated tokens.
 */
export function snapshotRoom(folding: Folding): RoomBounds {
  const { foldedTokens, previousTokens } = folding;
  const budgetTokens = estimatedBudget(folding);
  const { roomGrowth, roomMaximum, roomOvershoot, roomUnit, roomFloorTokens } = ledgerConstants;
  const unit = roomUnit.value * (folding.softThresholdTokens ?? THRESHOLD_TOKENS);
  const doublings = Math.log2(Math.max(1, coveredTokens(folding)) / unit);
  const growth = roomGrowth.value * Math.max(0, doublings);
  const factor = Math.min(roomMaximum.value, 1 + growth);
  const smaller = smallerThan(foldedTokens + previousTokens);
  const most = Math.max(Math.min(budgetTokens, roomFloorTokens.value), smaller);
  const roomTokens = Math.floor(Math.min(factor * budgetTokens, most));
  const ceiling = roomOvershoot.value * factor * budgetTokens;
  return { roomTokens, ceilingTokens: Math.floor(Math.min(ceiling, most)) };
}

/** What may stand for so many tokens, its frame and the acknowledgement included, so that the context gets smaller. */
const smallerThan = (tokens: number): number =>
  ledgerConstants.roomOfFolded.value * tokens - SNAPSHOT_FRAME_TOKENS;

/** Characters of notes that take one estimated token; notes have more figures and signs than talk. */
const CHARACTERS_BY_TOKEN = { spaced: 3.3, wide: 0.83 };
/** Tags, list marks, days. */
const FRAME_TOKENS = 100;
const LEAST_CHARACTERS = 300;

/** How much of what users say in turns is written in letters that stand for a syllable or a word, 0–1. */
export function measureWideShare(turns: readonly Pick<Turn, 'user'>[]): number {
  const text = turns
    .map(({ user }) => user.parts.map((part) => part.text ?? '').join(' '))
    .join(' ');
  const all = text.match(letters)?.length ?? 0;
  return all === 0 ? 0 : (text.match(wide)?.length ?? 0) / all;
}

/** The same room as characters of the texts of items: models count no tokens. */
export function roomCharacters(roomTokens: number, wideShare: number): number {
  const { spaced, wide: unspaced } = CHARACTERS_BY_TOKEN;
  const tokensByCharacter = wideShare / unspaced + (1 - wideShare) / spaced;
  const characters = Math.max(0, roomTokens - FRAME_TOKENS) / tokensByCharacter;
  return Math.max(LEAST_CHARACTERS, Math.floor(characters / 100) * 100);
}
