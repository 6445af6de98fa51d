import { condensedContent } from '#shared/conversation/context/tool-calls.ts';
import { hasFunctionResponse, type Content, type Part } from '#shared/models/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { sentOutputs, type OutputForms } from '#shared/conversation/context/sent-view.ts';

/** How many of a turn's answer contents `covered` has folded already. */
export const foldedContentCount = (turn: Pick<Turn, 'seq'>, covered: CoveredThrough): number =>
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

/**
 * The turns with their tool outputs in the forms in which prompts show them; what `covered` has folded takes no part of
 * the budget. Turns in which nothing is shortened are the same objects.
 */
export function turnsAsSent(
  turns: readonly Turn[],
  covered: CoveredThrough,
  forms: OutputForms,
): Turn[] {
  const places = turns.flatMap((turn) =>
    [turn.user, ...turn.contents]
      .filter((_, index) => index === 0 || index > foldedContentCount(turn, covered))
      .filter(hasFunctionResponse)
      .map((stored) => ({ stored, content: condensedContent(stored) })),
  );
  const sent = new Map(
    sentOutputs(places, forms)
      .items.filter(({ stored, content }) => content !== stored)
      .map(({ stored, content }) => [stored, content]),
  );
  return turns.map((turn) =>
    [turn.user, ...turn.contents].some((content) => sent.has(content))
      ? {
          ...turn,
          user: sent.get(turn.user) ?? turn.user,
          contents: turn.contents.map((content) => sent.get(content) ?? content),
        }
      : turn,
  );
}

/** Thoughts without a signature are not sent again. */
const isSent = ({ thought, thoughtSignature }: Part) =>
  thought !== true || thoughtSignature !== undefined;

/** A content as far as it is sent. */
export const sentContent = (content: Content): Content =>
  content.parts.every(isSent) ? content : { ...content, parts: content.parts.filter(isSent) };
