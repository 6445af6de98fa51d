import { checkCovered, checkInContext } from '#infra/ops/verify/check-context.ts';
import { checkErasedTurns } from '#infra/ops/verify/check-erasure.ts';
import { checkHistories } from '#infra/ops/verify/check-histories.ts';
import { checkJob } from '#infra/ops/verify/check-job.ts';
import {
  checkAnswers,
  checkGuards,
  checkOpen,
  checkTurns,
} from '#infra/ops/verify/check-transcript.ts';
import type { Finding } from '#infra/ops/verify/finding.ts';
import { toStoredGuards, toStoredHistory, toStoredTurn } from '#infra/ops/verify/load/loaded.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { Documents } from './documents.ts';
import { CONVERSATION } from '../initial-state.ts';

/** What the checks look at, of the documents of a run. */
function loaded(documents: Documents, conversation: Conversation) {
  return {
    conversationId: CONVERSATION,
    // Times of a run are its own; what waits for too long is asked for elsewhere.
    now: conversation.updateTime,
    conversation,
    job: documents.job,
    turns: documents.turns.map((turn) => toStoredTurn(CONVERSATION, turn)),
    guards: toStoredGuards(CONVERSATION, documents.messages),
    histories: documents.histories.map((history) => toStoredHistory(CONVERSATION, history)),
  };
}

/** The checks of `npm run ops -- verify`, by the invariant that they belong to. */
const checks = {
  transcript: checkTurns,
  open: checkOpen,
  context: (input) => [...checkCovered(input), ...checkInContext(input)],
  histories: checkHistories,
  lease: checkJob,
  messages: (input) => [...checkGuards(input), ...checkAnswers(input)],
  erasure: checkErasedTurns,
} satisfies Record<string, (returnType: ReturnType<typeof loaded>) => Finding[]>;

/** What an operator would be told of the documents of a run. */
export function storedFaults(documents: Documents, name: keyof typeof checks): string[] {
  const { conversation } = documents;
  if (!conversation || conversation.state === 'erased' || conversation.state === 'erasing')
    return [];
  return checks[name](loaded(documents, conversation)).map(
    (found) => `${found.name} ${found.path}: ${found.is}`,
  );
}
