import type { DocumentFields } from '#shared/ports/ports.ts';
import {
  type CompactionRequests,
  type Conversation,
  nothingCovered,
} from '../documents/conversation.ts';
import type { History } from '../documents/history.ts';

/** What a restore found. */
export interface RestoreFacts {
  /** The generation to go back, or forth, to; 0: none, every turn stands verbatim again. */
  generation: number;
  requestId: string | undefined;
  /** The present generation. */
  present: number;
  /** The newest histories, newest first: a repeated request is looked for among them. */
  newest: readonly History[];
  /** The history of `generation`, mended where it can be. */
  source: History | undefined;
  /** First turn that was replaced since `generation` was made. */
  changedFromSeq: number | undefined;
}

export type RestoreDecision =
  /** This request, or an equal one, was done before, or nothing is to be done. */
  | { kind: 'done'; history: History }
  /** The id of the request was that of a restore of another generation. */
  | { kind: 'reused'; history: History }
  /** Nothing was ever folded, and nothing is to be. */
  | { kind: 'nothing' }
  | { kind: 'notFound' }
  /** It cannot be read. */
  | { kind: 'unreadable' }
  /** It told of a turn that was erased. */
  | { kind: 'erased' }
  /** It tells of turns that changed since. */
  | { kind: 'outdated' }
  | { kind: 'restore'; source: History | undefined };

const restoresAmong = (histories: readonly History[]): History[] =>
  histories.filter(({ state }) => state === 'RESTORED');

/** Where nothing else was asked for than what is there. */
function findDone({ generation, present, newest }: RestoreFacts): History | undefined {
  if (present === generation) return newest.find((history) => history.generation === present);
  return restoresAmong(newest).find(
    (history) => history.generation === present && history.restoredFrom === generation,
  );
}

/** Whether an earlier generation may go on, and what of it. */
export function decideRestore(facts: RestoreFacts): RestoreDecision {
  const { generation, requestId, present, newest, source, changedFromSeq = Infinity } = facts;
  const repeated = restoresAmong(newest).find(({ requestId: id }) => id === requestId);
  if (repeated && repeated.restoredFrom !== generation)
    return { kind: 'reused', history: repeated };
  const history = repeated ?? findDone(facts);
  if (history && !history.isUnreadable) return { kind: 'done', history };
  if (generation > present) return { kind: 'notFound' };
  if (present === 0) return { kind: 'nothing' };
  if (generation === 0) return { kind: 'restore', source: undefined };
  if (!source) return { kind: 'notFound' };
  if (source.isUnreadable) return { kind: 'unreadable' };
  if (source.erased === true) return { kind: 'erased' };
  if (source.coveredThrough.seq >= changedFromSeq) return { kind: 'outdated' };
  return { kind: 'restore', source };
}

/*
 * Generations that no compaction made: an edit, a deletion, a regeneration or a restore takes the next one
 * in its own batch, so that a worker in flight always loses the creation of that document.
 */

/** What goes on unchanged; with no history nothing is folded. */
const nothingFolded = {
  coveredThrough: nothingCovered,
  from: 0,
  snapshotTokens: 0,
  boundary: '',
  snapshotText: '',
  snapshot: null,
  model: '',
  promptVersion: '',
} satisfies Partial<History>;

/** What a compaction says of itself: none was made. */
const notCompacted = {
  schemaVersion: 1,
  strategy: 'copy',
  trigger: 'manual',
  turnsFolded: 0,
  counted: undefined,
  report: {},
  modelCalls: 0,
  usage: { promptTokens: 0, outputTokens: 0 },
  // What the source cost stands in its own record.
  costMicros: 0,
  durationMs: 0,
  isPartial: undefined,
  unproductiveSwaps: undefined,
  erased: undefined,
  mended: undefined,
  isUnreadable: undefined,
} satisfies Partial<History>;

/** The history of the next generation, made of an earlier one or of none. */
export function continuedHistory(next: {
  conversation: Pick<Conversation, 'generation'>;
  /** The history that goes on; undefined: none, every turn stands verbatim again. */
  source: History | undefined;
  state: Extract<History['state'], 'RESTORED' | 'CHANGED'>;
  /** Of `CHANGED`: first turn that changed; absent: none did. */
  changedFromSeq?: number | undefined;
  /** Of a deletion: the turns that it erased. */
  erasedSeqs?: readonly number[] | undefined;
  requestId: string;
  /** Nonce of the writer: finding one's own after a lost reply is success. */
  by: string;
  now: Date;
  beforeTokens: number;
  /** Automatic compaction re-arms on tokens beyond these. */
  afterTokens: number;
  restoredFrom?: number;
}): History {
  const { conversation, source, now } = next;
  return {
    ...(source ?? nothingFolded),
    ...notCompacted,
    generation: conversation.generation + 1,
    parent: conversation.generation,
    state: next.state,
    requestId: next.requestId,
    beforeTokens: next.beforeTokens,
    afterTokens: next.afterTokens,
    requestedAt: now,
    createTime: now,
    by: next.by,
    restoredFrom: next.restoredFrom,
    changedFromSeq: next.changedFromSeq,
    erasedSeqs: next.erasedSeqs && [...next.erasedSeqs],
  };
}

/**
 * Tokens from which automatic compaction re-arms after an edit or a deletion: those that the last summary
 * left, or, if they are more, those at which a compaction of it was declined. Where an older history, or none, goes on
 * instead of the present one, turns that were folded stand verbatim again, and compaction is armed at once: 0.
 */
export function rearmsFrom(change: {
  source: Pick<History, 'generation' | 'afterTokens'> | undefined;
  present: Pick<History, 'generation'> | undefined;
  declined: CompactionRequests['declined'];
  /** Of the context after the change. */
  tokens: number;
}): number {
  const { source, present, declined, tokens } = change;
  if (source?.generation !== present?.generation) return 0;
  const isDeclined = declined?.generation === (present?.generation ?? 0);
  return Math.min(Math.max(source?.afterTokens ?? 0, isDeclined ? declined.tokens : 0), tokens);
}

/** What the conversation document says of a new generation in which finished turns changed. */
export const generationFields = (history: History): DocumentFields => ({
  generation: history.generation,
  coveredThrough: { ...history.coveredThrough },
  changedIn: history.generation,
});

/**
 * Whether a history holds nothing of the turns from `seq` on, so that it may go on as it is when one of
 * them changes.
 */
export const endsBefore = (
  history: Pick<History, 'coveredThrough' | 'erased' | 'isUnreadable'>,
  seq: number,
) => history.erased !== true && !history.isUnreadable && history.coveredThrough.seq < seq;
