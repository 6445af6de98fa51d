import {
  assembleContext,
  masksBySeq,
  type ContextItem,
  type ContextSource,
} from '../conversation/assemble-context.ts';
import type { Content } from '../conversation/content.ts';
import type { CoveredThrough } from '../conversation/head.ts';
import type { Mask } from '../conversation/history.ts';
import { CALIBRATION_MAX } from '../conversation/meter.ts';
import { withoutSurroundings } from '../conversation/shown-user.ts';
import { nothingCovered } from '../conversation/next-generation.ts';
import { addRepairs, type Repairs } from '../conversation/repairs.ts';
import type { Turn } from '../conversation/turn.ts';
import { planChunks, type Piece } from './chunks.ts';
import { curate } from './curate.ts';
import { neutraliseContent } from './neutralise-tags.ts';
import { policyConstants } from './policy-constants.ts';
import { foldedContents, maskedTurn, slicedTurn } from './shown-turns.ts';
import { withoutFrame } from './snapshot-text.ts';
import { blocksOf, type Block } from './split-sizes.ts';
import { summariserRooms } from './summariser-rooms.ts';
import {
  estimateContentTokens,
  estimatePromptTokens,
  type TokenCounting,
} from './token-estimate.ts';

export interface SummariserSource {
  context: ContextSource;
  /** Those that shorten the tool outputs of the context. */
  masks: readonly Mask[];
  /** What is to be folded: all up to here. */
  point: CoveredThrough;
  counting: TokenCounting;
  /** From our estimate to what the model reports. */
  calibration: number;
  windowTokens: number;
  /** The ledger is written in several calls at once; a rewrite in one, which may not get all. */
  strategy: 'ledger' | 'rewrite';
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
  /** What all chunks hold, previous snapshot first. */
  contents: Content[];
  /** What was mended of `folded`, where no model would have taken it as it was stored. */
  repairs?: Repairs | undefined;
}

function itemsOf(context: ContextSource, turns: readonly Turn[]): ContextItem[] {
  const snapshotText = withoutFrame(context.history?.snapshotText ?? '');
  return assembleContext({
    ...context,
    history: { snapshotText, masks: [] },
    coveredThrough: nothingCovered,
    memory: undefined,
    pins: [],
    turns: turns.map(withoutSurroundings),
  });
}

// Our own snapshot is the one thing that may look like one.
const readContent = ({ kind, content }: ContextItem): Content =>
  kind === 'turn' ? neutraliseContent(content) : content;

const contentsOf = (context: ContextSource, turns: readonly Turn[]): Content[] =>
  itemsOf(context, turns).map(readContent);

/** The mark before what somebody says, `[12345] (model): `, and its line end. */
const MARK_TOKENS = 16;
/** The two blanks before each further line. */
const LINE_TOKENS = 0.5;

/** What the ledger writes around contents: much beside short messages. An upper bound, before calibration. */
function marginTokens(contents: readonly Content[]): number {
  let tokens = 0;
  for (const { parts } of contents)
    for (const { text = '' } of parts) tokens += MARK_TOKENS + LINE_TOKENS * linesIn(text);
  return tokens;
}

function linesIn(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** Blocks with what stands around their contents. */
const withMargins = (
  blocks: readonly Block[],
  { contents, from }: { contents: readonly Content[]; from: number },
): Block[] =>
  blocks.map((block, index) => ({
    ...block,
    tokens: block.tokens + marginTokens(contents.slice(blocks[index - 1]?.end ?? from, block.end)),
  }));

/** One turn that is to be folded, with the answer contents that go. */
interface WantedTurn {
  turn: Turn;
  from: number;
  end: number;
}

function wantedTurns({ context, point }: SummariserSource): WantedTurn[] {
  return context.turns
    .filter(({ inContext, seq }) => inContext && seq <= point.seq)
    .map((turn) => ({
      turn,
      from: foldedContents(turn, context.coveredThrough),
      end:
        turn.seq === point.seq && point.contentIndex > 0
          ? point.contentIndex
          : turn.contents.length,
    }));
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

const sliceOf = (turn: Turn, { from, end }: { from: number; end: number }): Turn =>
  from === 0 && end === turn.contents.length ? turn : slicedTurn(turn, { from, end });

/** What of the turns goes, and the prompt that it makes. */
function readOf(context: ContextSource, wanted: readonly WantedTurn[]) {
  const slices = wanted.map(({ turn, ...range }) => sliceOf(turn, range));
  const items = itemsOf(context, slices);
  const repairs = items.reduce<Repairs | undefined>(
    (sum, item) => addRepairs(sum, item.repairs),
    undefined,
  );
  return { slices, contents: items.map(readContent), repairs };
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
    return item ? [sliceOf(item.turn, range)] : [];
  });
}

/**
 * What the summariser reads of everything up to `point`: the full turns where they fit its window, else the
 * masked ones. Of what is more than it should read at once the ledger gets chunks, so that all is folded in
 * one compaction; a rewrite gets the beginning, so that every compaction gets on and nothing is left out
 * unseen. Undefined when not even the first piece fits, or there is none.
 */
export function summariserInput(source: SummariserSource): SummariserInput | undefined {
  const { context, counting, point, strategy } = source;
  // Rather fewer turns than a refused call: a calibration below 1 earns no room here.
  const fitFactor = Math.min(CALIBRATION_MAX, Math.max(1, source.calibration));
  const marginOf = strategy === 'ledger' ? marginTokens : () => 0;
  const tokensOf = (contents: readonly Content[]) =>
    Math.ceil(fitFactor * (estimatePromptTokens({ contents }, counting) + marginOf(contents)));
  const { room, partialRoom } = summariserRooms(source.windowTokens);

  const wanted = wantedTurns(source);
  const whole = readOf(context, wanted);
  const wholeTokens = tokensOf(whole.contents);
  const masks = masksBySeq(source.masks);
  const isMasked = wholeTokens > room && masks.size > 0;
  const read = isMasked
    ? wanted.map((item) => ({ ...item, turn: maskedTurn(item.turn, masks) }))
    : wanted;
  const { slices, contents } = isMasked ? readOf(context, read) : whole;
  const tokens = isMasked ? tokensOf(contents) : wholeTokens;
  if (tokens <= (strategy === 'ledger' ? partialRoom : room))
    return {
      point,
      isPartial: false,
      folded: whole.slices,
      chunks: [{ turns: slices }],
      contents: curate(contents),
      repairs: whole.repairs,
    };

  const memoryTokens = tokensOf(contentsOf(context, []));
  const blocksAsRead = (all: readonly Content[], from: number): Block[] => {
    const blocks = blocksOf(all, { from, counting });
    return strategy === 'ledger' ? withMargins(blocks, { contents: all, from }) : blocks;
  };
  const { chunks, isWhole } = planChunks({
    turns: read.map(({ turn, from, end }) => ({
      userTokens: estimateContentTokens(turn.user, counting) + marginOf([turn.user]),
      blocks: blocksAsRead(turn.contents.slice(0, end), from),
    })),
    from: wanted[0]?.from ?? 0,
    roomTokens: (partialRoom - memoryTokens) / fitFactor,
    maximumChunks: strategy === 'ledger' ? policyConstants.maximumChunks.value : 1,
  });
  const pieces = chunks.flat();
  const last = pieces.at(-1);
  if (last === undefined) return undefined;
  const turnsOf = (chunk: readonly Piece[]) =>
    chunk.flatMap((piece) => {
      const item = read[piece.turn];
      return item ? [sliceOf(item.turn, piece)] : [];
    });
  // Every turn in one piece: what they hold together is known already.
  const isUncut = isWhole && pieces.length === wanted.length;
  return {
    point: pointBehind(wanted, last, point),
    isPartial: !isWhole,
    folded: isUncut ? whole.slices : foldedBy(wanted, pieces),
    chunks: chunks.map((chunk) => ({ turns: turnsOf(chunk) })),
    contents: curate(isUncut ? contents : contentsOf(context, turnsOf(pieces))),
    repairs: whole.repairs,
  };
}
