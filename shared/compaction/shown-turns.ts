import { maskedContents, type MasksBySeq } from '#shared/conversation/context/assemble-context.ts';
import type { Content, Part } from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Mask } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';

/** How many of a turn's answer contents `covered` has folded already. */
export const foldedContents = (turn: Pick<Turn, 'seq'>, covered: CoveredThrough): number =>
  turn.seq === covered.seq ? covered.contentIndex : 0;

/**
 * The turn with only the answer contents from `from` up to, and without, `end`; its user content stays. The same object
 * where those are all.
 */
export function slicedTurn(turn: Turn, range: { from: number; end?: number }): Turn {
  const { from, end = turn.contents.length } = range;
  return from === 0 && end === turn.contents.length
    ? turn
    : { ...turn, contents: turn.contents.slice(from, end) };
}

/** The turn with its outputs as the masks shorten them. */
export function maskedTurn(turn: Turn, masks: MasksBySeq): Turn {
  const masksOfTurn = masks.get(turn.seq);
  if (masksOfTurn === undefined) return turn;
  const [user = turn.user, ...contents] = maskedContents(
    [turn.user, ...turn.contents],
    masksOfTurn,
  );
  return { ...turn, user, contents };
}

/** Whether a mask is of something that still stands after everything up to `covered` is folded. */
export const isShown = (mask: Pick<Mask, 'seq' | 'contentIndex'>, covered: CoveredThrough) =>
  mask.seq > covered.seq ||
  (covered.contentIndex > 0 &&
    mask.seq === covered.seq &&
    (mask.contentIndex === 0 || mask.contentIndex > covered.contentIndex));

/** Thoughts without a signature are not sent again. */
const isSent = ({ thought, thoughtSignature }: Part) =>
  thought !== true || thoughtSignature !== undefined;

/** A content as far as it is sent. */
export const sentPart = (content: Content): Content =>
  content.parts.every(isSent) ? content : { ...content, parts: content.parts.filter(isSent) };
