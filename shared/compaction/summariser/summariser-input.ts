import {
  assembleContext,
  masksBySeq,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import type { Content } from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Mask } from '#shared/conversation/documents/history.ts';
import { CALIBRATION_MAX } from '#shared/conversation/context/meter.ts';
import { addRepairs, type Repairs } from '#shared/conversation/repair/repairs.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { once } from '#shared/once.ts';
import { planChunks, type Piece } from '../split/chunks.ts';
import { sanitizeHistory } from './sanitize.ts';
import { policyConstants } from '../policy/policy-constants.ts';
import {
  contentsRead,
  partsOfTurn,
  readTurn,
  sliceTurn,
  tokensToRead,
  turnToRead,
  type ReadTurn,
  type WantedTurn,
} from './read-turn.ts';
import { foldedContents, maskedTurn } from './shown-turns.ts';
import { withoutFrame } from '../snapshot-sections.ts';
import { summariserRooms } from './summariser-limits.ts';
import type { TokenCounting } from '#shared/tokens/token-estimate.ts';

interface SummariserSource {
  context: ContextSource;
  /** Those that shorten the tool outputs of the context. */
  masks: readonly Mask[];
  /** What is to be folded: all up to here. */
  point: CoveredThrough;
  counting: TokenCounting;
  /** From our estimate to what the model reports. */
  calibration: number;
  windowTokens: number;
  /** The ledger is written in several calls at once; the snapshot of `gemini-cli` in one, which may not get all. */
  strategy: 'ledger' | 'gemini-cli';
}

/** What the calls of one compaction read. */
export interface Chunk {
  turns: Turn[];
}

export interface SummariserInput {
  /** How far it goes; short of the wanted point when not all could be read. */
  point: CoveredThrough;
  isPartial: boolean;
  /** The turns as they were, a turn that is folded inside with what goes of it. */
  folded: Turn[];
  /** Shortened where the whole would fill the window. */
  chunks: Chunk[];
  /** What all chunks hold, previous snapshot first; made when it is first asked for. */
  contents: () => Content[];
  /** What was mended of `folded`, where no model would have taken it as it was stored. */
  repairs?: Repairs | undefined;
}

/** What stands before the turns: our own snapshot is the one thing that may look like one. */
function memoryContents(context: ContextSource): Content[] {
  const snapshotText = withoutFrame(context.history?.snapshotText ?? '');
  const history = { snapshotText, masks: [] };
  return assembleContext({ ...context, history, memory: undefined, pins: [], turns: [] }).map(
    ({ content }) => content,
  );
}

/** The mark before what somebody says, `[12345] model: `, and its line end. */
const MARK_TOKENS = 16;
/** The two blanks before each further line. */
const LINE_TOKENS = 0.5;

/** What the ledger writes around a content: much beside a short message. An upper bound, before calibration. */
function marginTokens({ parts }: Content): number {
  let tokens = 0;
  for (const { text = '' } of parts) tokens += MARK_TOKENS + LINE_TOKENS * linesIn(text);
  return tokens;
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

function repairsOf(reads: readonly ReadTurn[]): Repairs | undefined {
  let repairs: Repairs | undefined;
  for (const read of reads) repairs = addRepairs(repairs, read.repairs);
  return repairs;
}

function wantedTurns({ context, point }: SummariserSource): WantedTurn[] {
  const wanted: WantedTurn[] = [];
  for (const turn of context.turns) {
    if (!turn.inContext || turn.seq > point.seq) continue;
    const isCut = turn.seq === point.seq && point.contentIndex > 0;
    wanted.push({
      turn,
      from: foldedContents(turn, context.coveredThrough),
      end: isCut ? point.contentIndex : turn.contents.length,
    });
  }
  return wanted;
}

/** The fold point behind `piece`. */
function pointBehind(wanted: readonly WantedTurn[], piece: Piece, point: CoveredThrough) {
  const own = wanted[piece.turn];
  const next = wanted[piece.turn + 1];
  if (own === undefined) return point;
  if (piece.end < own.end) return { seq: own.turn.seq, contentIndex: piece.end };
  // Turns outside of the context in between go silently.
  return next === undefined ? point : { seq: next.turn.seq - 1, contentIndex: 0 };
}

/** What the pieces cover of each turn, as one; they come in order, so those of a turn are neighbours. */
function foldedBy(wanted: readonly WantedTurn[], pieces: readonly Piece[]): Turn[] {
  const ranges: { turn: number; from: number; end: number }[] = [];
  for (const { turn, from, end } of pieces) {
    const last = ranges.at(-1);
    if (last?.turn === turn) last.end = end;
    else ranges.push({ turn, from, end });
  }
  return ranges.flatMap(({ turn, ...range }) => {
    const item = wanted[turn];
    return item ? [sliceTurn(item.turn, range)] : [];
  });
}

/** What pieces of turns hold, to be read by itself. */
const wantedPieces = (pieces: readonly Piece[], reads: readonly ReadTurn[]): WantedTurn[] =>
  pieces.flatMap(({ turn, from, end }) => {
    const read = reads[turn];
    return read ? [{ turn: read.turn, from, end }] : [];
  });

/** The same as turns; a whole one is the same object that was read. */
const slicedPieces = (pieces: readonly Piece[], reads: readonly ReadTurn[]): Turn[] =>
  pieces.flatMap((piece) => {
    const read = reads[piece.turn];
    if (read === undefined) return [];
    const isAll = piece.from === read.from && piece.end === read.end;
    return isAll ? read.slice : sliceTurn(read.turn, piece);
  });

/** How turns are read and weighed: rather too heavy, with what the ledger writes around each content. */
function createReader({ context, counting, calibration, strategy }: SummariserSource) {
  // Rather fewer turns than a refused call: a calibration below 1 earns no room here.
  const fitFactor = Math.min(CALIBRATION_MAX, Math.max(1, calibration));
  const weighing = { counting, marginOf: strategy === 'ledger' ? marginTokens : () => 0 };
  const memory = memoryContents(context);
  return {
    fitFactor,
    weighing,
    readAll: (all: readonly WantedTurn[]) => all.map((item) => readTurn(item, weighing)),
    tokensOf: (reads: readonly ReadTurn[]) =>
      Math.ceil(fitFactor * tokensToRead(memory, reads, weighing)),
    contentsOf: (reads: readonly ReadTurn[]) =>
      once(() => sanitizeHistory([...memory, ...reads.flatMap(contentsRead)])),
  };
}

/**
 * What the summariser reads of everything up to `point`: the full turns where they fit its window, else the
 * masked ones. Of what is more than it should read at once the ledger gets chunks, so that all is folded in
 * one compaction; `gemini-cli` gets the beginning, so that every compaction gets on and nothing is left out
 * unseen. Undefined when not even the first piece fits, or there is none.
 */
export function summariserInput(source: SummariserSource): SummariserInput | undefined {
  const { point, strategy } = source;
  const { fitFactor, weighing, readAll, tokensOf, contentsOf } = createReader(source);
  const { room, partialRoom } = summariserRooms(source.windowTokens);
  const wanted = wantedTurns(source);
  const whole = readAll(wanted);
  const folded = whole.map(({ slice }) => slice);
  const repairs = repairsOf(whole);
  const wholeTokens = tokensOf(whole);
  const masks = masksBySeq(source.masks);
  const isMasked = wholeTokens > room && masks.size > 0;
  const reads = isMasked
    ? readAll(wanted.map((item) => ({ ...item, turn: maskedTurn(item.turn, masks) })))
    : whole;
  const tokens = isMasked ? tokensOf(reads) : wholeTokens;
  if (tokens <= (strategy === 'ledger' ? partialRoom : room))
    return {
      point,
      isPartial: false,
      folded,
      chunks: [{ turns: reads.map(({ slice }) => slice) }],
      contents: contentsOf(reads),
      repairs,
    };

  const { chunks, isWhole } = planChunks({
    turns: reads.map((read) => ({ read, ...turnToRead(read, weighing) })),
    partsOf: ({ read }) => partsOfTurn(read, weighing),
    from: wanted[0]?.from ?? 0,
    roomTokens: (partialRoom - tokensOf([])) / fitFactor,
    maximumChunks: strategy === 'ledger' ? policyConstants.maximumChunks.value : 1,
  });
  const last = chunks.at(-1)?.at(-1);
  if (last === undefined) return undefined;
  const pieces = once(() => chunks.flat());
  // Every turn in one piece: what they hold together is known already.
  const count = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
  const isUncut = isWhole && count === wanted.length;
  return {
    point: pointBehind(wanted, last, point),
    isPartial: !isWhole,
    folded: isUncut ? folded : foldedBy(wanted, pieces()),
    chunks: chunks.map((chunk) => ({ turns: slicedPieces(chunk, reads) })),
    contents: isUncut
      ? contentsOf(reads)
      : once(() => contentsOf(readAll(wantedPieces(pieces(), reads)))()),
    repairs,
  };
}
