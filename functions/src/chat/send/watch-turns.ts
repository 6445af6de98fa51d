import { turnPath } from '../../../../shared/conversation/paths.ts';
import { readTurnDocument, type TurnDocument } from '../../../../shared/conversation/turn.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { liveTurnKey } from '../answer/live-turn.ts';

/** How often a turn that somebody waits for is looked at. */
const LOOK_INTERVAL_MS = 250;

/** Turn documents by seq, without overflow pieces. */
export async function readTurnFields(
  { store }: Pick<ChatDependencies, 'store'>,
  conversationId: string,
  seqs: readonly number[],
): Promise<(TurnDocument | undefined)[]> {
  const documents = await store.get(seqs.map((seq) => turnPath(conversationId, seq)));
  return documents.map((document) => document && readTurnDocument(conversationId, document));
}

/**
 * Resolves after a look's interval, or at once when the turn ends that this instance is answering, or the
 * process does.
 */
export async function untilNextLook(
  dependencies: Pick<ChatDependencies, 'clock' | 'liveTurns' | 'shutdown'>,
  turn: { conversationId: string; seq: number },
): Promise<void> {
  const live = dependencies.liveTurns.get(liveTurnKey(turn.conversationId, turn.seq));
  const ended = new AbortController();
  const stop = () => ended.abort();
  live?.result.then(stop, stop);
  const signal = AbortSignal.any([ended.signal, dependencies.shutdown]);
  await dependencies.clock.wait(LOOK_INTERVAL_MS, signal);
}
