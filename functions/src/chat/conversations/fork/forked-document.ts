import type { ContextMeter } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import { nothingCovered } from '#shared/conversation/writes/next-generation.ts';
import { pinnedTokens } from '#shared/conversation/pins/kept-pins.ts';
import { withoutPinsFrom } from '#shared/conversation/pins/pins.ts';
import { firstTailSeq } from '#shared/conversation/context/read-conversation.ts';
import type { CopiedTurn } from './fork-copy.ts';
import type { ForkSource } from './fork-target.ts';

/** What a fork has of its source besides the conversation document. */
export interface MadeFork {
  /** Its first generation, where something stands in for its oldest turns. */
  history: History | undefined;
  turns: readonly CopiedTurn[];
}

/** The pins that go along: not those of turns that the fork has not. */
const forkPins = ({ conversation, seq }: ForkSource) =>
  withoutPinsFrom(conversation.pins, (pinned) => pinned > seq);

/** Estimated: nothing was sent of the fork yet. */
function forkMeter(source: ForkSource, { history, turns }: MadeFork): ContextMeter {
  const { overheadTokens, calibration } = source.conversation.context;
  const coveredThrough = history?.coveredThrough ?? nothingCovered;
  const first = firstTailSeq({ ...source.conversation, coveredThrough });
  const tailTokens = turns
    .filter(({ seq }) => seq >= first)
    .reduce((sum, { tokens }) => sum + tokens, 0);
  const contentTokens =
    pinnedTokens(forkPins(source), history, source.conversation.context.memoryTokens ?? 0) +
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

/** What the document of the fork says once it is live: what its source says, for the turns that it has. */
export const liveFields = (source: ForkSource, made: MadeFork, now: Date) => {
  const { conversation, seq } = source;
  const { history } = made;
  return {
    state: 'live',
    ...(conversation.title !== undefined && { title: conversation.title }),
    ...(conversation.autoTitle && { autoTitle: conversation.autoTitle }),
    ...(conversation.systemInstruction !== undefined && {
      systemInstruction: conversation.systemInstruction,
    }),
    ...(conversation.toolsJson !== undefined && { toolsJson: conversation.toolsJson }),
    model: conversation.model,
    profile: conversation.profile,
    settings: conversation.settings,
    metadata: conversation.metadata,
    updateTime: now,
    generation: history ? 1 : 0,
    coveredThrough: { ...(history?.coveredThrough ?? nothingCovered) },
    lastSeq: seq,
    pins: forkPins(source),
    ...(conversation.memoryRevision !== undefined && {
      memoryRevision: conversation.memoryRevision,
    }),
    ...(conversation.client && { client: conversation.client }),
    context: forkMeter(source, made),
  } as const;
};
