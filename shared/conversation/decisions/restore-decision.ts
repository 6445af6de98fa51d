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
  /** `changedSeqs`: turns whose shortened outputs must not come back. */
  | { kind: 'restore'; source: History | undefined; changedSeqs: readonly number[] };

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
  if (generation === 0) return { kind: 'restore', source: undefined, changedSeqs: [] };
  if (!source) return { kind: 'notFound' };
  if (source.isUnreadable) return { kind: 'unreadable' };
  if (source.erased === true) return { kind: 'erased' };
  if (source.coveredThrough.seq >= changedFromSeq) return { kind: 'outdated' };
  const changedSeqs = source.masks.map(({ seq }) => seq).filter((seq) => seq >= changedFromSeq);
  return { kind: 'restore', source, changedSeqs };
}
