import { findFaults } from '#infra/ops/verify/invariants.ts';
import type { Invariant } from '#infra/ops/verify/invariant.ts';
import { historyPath, messageGuardPath, turnPath } from '#shared/conversation/documents/paths.ts';
import type { Documents } from './documents.ts';
import { CONVERSATION } from '../initial-state.ts';

/** What `npm run ops -- verify` would find in the documents of a run, of one group of invariants. */
export function storedFaults(documents: Documents, wanted: Invariant['group']): string[] {
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
      brokenBlobs: [],
    })),
    index: [],
    unreadable: [],
    remains: [],
  });
  return findings
    .filter(({ group }) => group === wanted)
    .map(({ name, path, is }) => `${name} ${path}: ${is}`);
}
