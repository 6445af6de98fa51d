import { isTerminal } from '#shared/conversation/documents/turn.ts';
import type { Finding } from './ledger.ts';
import { type StoredConversation, unrest } from './stored-conversation.ts';

const checkTurns = ({ conversationId, turns }: StoredConversation): Finding[] =>
  turns
    .filter(({ state }) => !isTerminal(state))
    .map(({ seq, state }) => ({
      kind: 'unfinished',
      conversationId,
      what: `turn ${seq} is ${state}`,
    }));

/** One message is answered at a time, in the order of seq; one that failed at first, when it is sent again. */
function checkOrder({ conversationId, turns }: StoredConversation): Finding[] {
  let latest: { seq: number; atMs: number } | undefined;
  const findings: Finding[] = [];
  for (const { seq, state, finishTime, attempt } of turns) {
    if (state !== 'done' || !finishTime || attempt > 1) continue;
    const atMs = finishTime.getTime();
    if (latest && atMs < latest.atMs) {
      const what = `turn ${seq} was answered before turn ${latest.seq}`;
      findings.push({ kind: 'mismatched', conversationId, what });
    }
    latest = { seq, atMs };
  }
  return findings;
}

/** What keeps the documents of one conversation from being at rest, or was not done in order. */
export function checkStored(stored: StoredConversation): Finding[] {
  const { conversationId } = stored;
  return [
    ...unrest(stored).map((what): Finding => ({ kind: 'unfinished', conversationId, what })),
    ...checkTurns(stored),
    ...checkOrder(stored),
  ];
}
