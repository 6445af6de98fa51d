import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import {
  checkCovered,
  checkInContext,
  checkMasks,
  checkOnce,
  checkShown,
  checkStanding,
} from './check-context.ts';
import { checkErasedTurns, checkRemains } from './check-erasure.ts';
import { checkHistories } from './check-histories.ts';
import { checkIndex } from './check-index.ts';
import { checkJob } from './check-job.ts';
import { checkCrossing, checkWaiting } from './check-requests.ts';
import { checkAnswers, checkGuards, checkOpen, checkTurns } from './check-transcript.ts';
import { finding, type Finding } from './finding.ts';
import type { Loaded } from './load/loaded.ts';

/** What the checks depend on beside the documents. */
export interface Checking {
  policyOf: (conversation: Conversation) => CompactionPolicy;
  /** How long a need may wait. */
  overdueMs?: number | undefined;
}

const unreadable = ({ unreadable: found }: Loaded): Finding[] =>
  found.map(({ path, of, problem, isNewer }) =>
    finding(isNewer ? 'newer-version' : `${of}-unreadable`, path, problem),
  );

function checkLive(
  loaded: Loaded & { conversation: Conversation },
  { policyOf }: Checking,
): Finding[] {
  const { context, conversation } = loaded;
  if (!context) return [];
  const { history } = context;
  return [
    ...checkOnce({ ...loaded, context }),
    ...checkMasks({ ...loaded, context }),
    ...checkStanding({ ...loaded, context }),
    ...checkShown({ ...loaded, context }),
    ...checkCrossing({ ...loaded, history, policy: policyOf(conversation) }),
  ];
}

/** All that is wrong with one conversation, in the order of the invariants. Pure. */
export function checkAll(loaded: Loaded, checking: Checking): Finding[] {
  const { conversation } = loaded;
  const shape = unreadable(loaded);
  // What is below a conversation document that cannot be read, and what a later release meant, nobody here can judge.
  if (loaded.unreadable.some(({ of, isNewer }) => of === 'head' || isNewer)) return shape;
  if (!conversation || conversation.state === 'erased') return [...shape, ...checkRemains(loaded)];
  const { overdueMs } = checking;
  const input = { ...loaded, conversation, ...(overdueMs !== undefined && { overdueMs }) };
  if (conversation.state === 'erasing') return [...shape, ...checkErasedTurns(input)];
  // A fork is copied turn by turn: only a finished one is whole.
  if (conversation.state === 'forking') return shape;
  return [
    ...shape,
    ...checkTurns(input),
    ...checkGuards(input),
    ...checkOpen(input),
    ...checkCovered(input),
    ...checkInContext(input),
    ...checkHistories(input),
    ...checkJob(input),
    ...checkAnswers(input),
    ...checkWaiting(input),
    ...checkErasedTurns(input),
    ...checkIndex(input),
    ...checkLive(input, checking),
  ].toSorted((one, other) =>
    one.invariant < other.invariant ? -1 : one.invariant > other.invariant ? 1 : 0,
  );
}
