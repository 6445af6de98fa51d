import type { ContextMeter } from '#shared/conversation/documents/head.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { nothingCovered } from '#shared/conversation/writes/next-generation.ts';
import { pinnedTokens } from '#shared/conversation/pins/kept-pins.ts';
import { withoutPinsFrom } from '#shared/conversation/pins/pins.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import type { CopiedTurn } from './fork-copy.ts';
import type { ForkSource } from './fork-target.ts';

/** What a fork has of its source besides the head. */
export interface MadeFork {
  /** Its first generation, where something stands in for its oldest turns. */
  history: History | undefined;
  turns: readonly CopiedTurn[];
}

/** The pins that go along: not those of turns that the fork has not. */
const forkPins = ({ head, seq }: ForkSource) =>
  withoutPinsFrom(head.pins, (pinned) => pinned > seq);

/** Estimated: nothing was sent of the fork yet. */
function forkMeter(source: ForkSource, { history, turns }: MadeFork): ContextMeter {
  const { overheadTokens, calibration } = source.head.context;
  const coveredThrough = history?.coveredThrough ?? nothingCovered;
  const first = firstTailSeq({ ...source.head, coveredThrough });
  const tailTokens = turns
    .filter(({ seq }) => seq >= first)
    .reduce((sum, { tokens }) => sum + tokens, 0);
  const contentTokens =
    pinnedTokens(forkPins(source), history, source.head.context.memoryTokens ?? 0) +
    (history?.snapshotTokens ?? 0) +
    Math.max(0, tailTokens - (history?.maskedTokensSaved ?? 0));
  return {
    tokens: Math.ceil(overheadTokens + calibration * contentTokens),
    overheadTokens,
    calibration,
    source: 'estimated',
    generation: history ? 1 : 0,
    seq: source.seq,
  };
}

/** What the head of the fork says once it is live: what its source says, for the turns that it has. */
export const liveFields = (source: ForkSource, made: MadeFork, now: Date) => {
  const { head, seq } = source;
  const { history } = made;
  return {
    state: 'live',
    ...(head.title !== undefined && { title: head.title }),
    ...(head.autoTitle && { autoTitle: head.autoTitle }),
    ...(head.systemInstruction !== undefined && { systemInstruction: head.systemInstruction }),
    ...(head.toolsJson !== undefined && { toolsJson: head.toolsJson }),
    model: head.model,
    profile: head.profile,
    settings: head.settings,
    metadata: head.metadata,
    updateTime: now,
    generation: history ? 1 : 0,
    coveredThrough: { ...(history?.coveredThrough ?? nothingCovered) },
    lastSeq: seq,
    pins: forkPins(source),
    ...(head.memoryRevision !== undefined && { memoryRevision: head.memoryRevision }),
    ...(head.client && { client: head.client }),
    context: forkMeter(source, made),
  } as const;
};
