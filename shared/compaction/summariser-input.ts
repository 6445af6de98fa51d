import { assembleContext, type ContextSource } from '../conversation/assemble-context.ts';
import type { Content } from '../conversation/content.ts';
import { CALIBRATION_MAX } from '../conversation/meter.ts';
import type { Turn } from '../conversation/turn.ts';
import { snapshotConstants } from './constants.ts';
import { curate } from './curate.ts';
import { neutraliseContent } from './neutralise-tags.ts';
import { withoutFrame } from './snapshot-text.ts';
import { estimatePromptTokens, type TokenCounting } from './token-estimate.ts';

/** System instruction, the request, and the critique or the list of what is missing. */
const INSTRUCTION_TOKENS = 2_000;

/**
 * Bound of one answer of a summariser: its thoughts, which models bill against the same bound, the
 * scratchpad and the snapshot.
 */
export const summaryOutputTokens = (windowTokens: number): number =>
  Math.min(
    snapshotConstants.summaryOutputTokens.value,
    Math.floor(snapshotConstants.summaryOutputWindowFraction.value * windowTokens),
  );

/** What a summariser with this window may read when everything fits, and when it does not. */
function roomsOf(windowTokens: number): { room: number; partialRoom: number } {
  // The second pass reads the first answer and writes one of its own. Where a small window cannot hold
  // both, that call is refused and the first summary stands.
  const requestTokens = 2 * summaryOutputTokens(windowTokens) + INSTRUCTION_TOKENS;
  const partialRoom = snapshotConstants.summariserPartialFraction.value * windowTokens;
  return { room: Math.max(windowTokens - requestTokens, partialRoom), partialRoom };
}

export interface SummariserSource {
  /** The context without masks, and with those that shorten its tool outputs. */
  unmasked: ContextSource;
  masked: ContextSource;
  counting: TokenCounting;
  /** From our estimate to what the model reports. */
  calibration: number;
  windowTokens: number;
}

export interface SummariserInput {
  /** Previous snapshot first. */
  contents: Content[];
  folded: Turn[];
}

function contentsOf(context: ContextSource, turns: readonly Turn[]): Content[] {
  const { history } = context;
  const unframed = history && { ...history, snapshotText: withoutFrame(history.snapshotText) };
  return assembleContext({ ...context, history: unframed, pins: [], turns }).map(
    // Our own snapshot is the one thing that may look like one.
    ({ kind, content }) => (kind === 'turn' ? neutraliseContent(content) : content),
  );
}

/**
 * What the summariser reads of `folded`: the full turns where they fit its window, else the masked
 * ones, else fewer turns, so that every compaction gets on and nothing is left out unseen. Undefined
 * when not even the first turn fits.
 */
export function summariserInput(
  source: SummariserSource,
  folded: readonly Turn[],
): SummariserInput | undefined {
  const { unmasked, masked, counting } = source;
  // Rather fewer turns than a refused call: a calibration below 1 earns no room here.
  const fitFactor = Math.min(CALIBRATION_MAX, Math.max(1, source.calibration));
  const tokensOf = (contents: readonly Content[]) =>
    Math.ceil(fitFactor * estimatePromptTokens({ contents }, counting));

  const { room, partialRoom } = roomsOf(source.windowTokens);
  const whole = contentsOf(unmasked, folded);
  if (tokensOf(whole) <= room) return { contents: curate(whole), folded: [...folded] };
  const shortened = contentsOf(masked, folded);
  if (tokensOf(shortened) <= room) return { contents: curate(shortened), folded: [...folded] };

  let tokens = tokensOf(contentsOf(masked, []));
  const turnOnly = masked.history && { ...masked.history, snapshotText: '' };
  const fitting = folded.filter((turn) => {
    tokens += tokensOf(contentsOf({ ...masked, history: turnOnly }, [turn]));
    return tokens <= partialRoom;
  });
  if (fitting.length === 0) return undefined;
  return { contents: curate(contentsOf(masked, fitting)), folded: fitting };
}
