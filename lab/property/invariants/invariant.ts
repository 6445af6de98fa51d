import type { Invariant as StoredInvariant } from '#infra/ops/verify/load.ts';
import { findFaults } from '#infra/ops/verify/verify-conversation.ts';
import { CONVERSATION } from '#lab/property/initial-state.ts';
import type { RunRecord } from '#lab/property/run-program.ts';
import { historyPath, messageGuardPath, turnPath } from '#shared/conversation/documents/paths.ts';
import type { Documents } from './documents.ts';

/** Says what is wrong with a run, one text for each fault; none: it holds. Pure. */
export interface Invariant {
  name: string;
  violations: (record: RunRecord) => string[];
}

/** One text if something is wrong, else none. */
export const when = (isWrong: boolean, text: string): string[] => (isWrong ? [text] : []);

/** What `npm run ops -- verify` would find in the documents of a run, of one group of invariants. */
export function storedFaults(documents: Documents, wanted: StoredInvariant['group']): string[] {
  const { conversation } = documents;
  if (!conversation || conversation.state === 'erased' || conversation.state === 'erasing')
    return [];
  const findings = findFaults({
    conversationId: CONVERSATION,
    // Times of a run are its own; what waits for too long is asked for elsewhere.
    now: conversation.updateTime,
    conversation,
    fields: {},
    job: documents.job,
    inbox: undefined,
    turns: documents.turns.map((turn) => ({
      path: turnPath(CONVERSATION, turn.seq),
      turn,
      missingPieces: [],
      below: [],
    })),
    guards: [...documents.messages].map(([messageId, seq]) => ({
      path: messageGuardPath(CONVERSATION, messageId),
      messageId,
      seq,
      bodyHash: '',
    })),
    histories: documents.histories.map((history) => ({
      path: historyPath(CONVERSATION, history.generation),
      history,
    })),
    index: [],
    unreadable: [],
    remains: [],
  });
  return findings
    .filter(({ group }) => group === wanted)
    .map(({ name, path, is }) => `${name} ${path}: ${is}`);
}
