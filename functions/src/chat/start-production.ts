import { turnId } from '../../../shared/conversation/paths.ts';
import type { BegunTurn } from './begin-turn.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import { createFrameLog, liveTurnKey, type LiveTurn } from './live-turn.ts';
import { produceTurn } from './produce-turn.ts';
import { orFailure, settled } from './replay-turn.ts';
import type { SendHandle, SendRequest } from './send-request.ts';
import { userContent } from './send-request.ts';

/** A turn that this instance is answering, as its readers get it. */
export function liveHandle(
  request: SendRequest,
  live: LiveTurn,
  turn: { seq: number; generation: number },
): SendHandle {
  return {
    turnId: turnId(turn.seq),
    conversationId: request.conversationId,
    generation: turn.generation,
    replayed: false,
    frames: () => live.frames(),
    result: settled(live.result.then(orFailure)),
  };
}

/** Answers a turn that was begun here; whoever reads may come and go. */
export function startProduction(
  dependencies: ChatDependencies,
  request: SendRequest,
  begun: BegunTurn,
): SendHandle {
  const { conversationId, seq, attempt } = begun.attempt;
  const key = liveTurnKey(conversationId, seq);
  const log = createFrameLog();
  const result = produceTurn(dependencies, {
    begun,
    messageId: request.message.id,
    user: userContent(request),
    locale: request.locale,
    live: log,
  }).finally(() => {
    if (dependencies.liveTurns.get(key)?.attempt === attempt) dependencies.liveTurns.delete(key);
  });
  const live: LiveTurn = { ...log, attempt, result: settled(result) };
  dependencies.liveTurns.set(key, live);
  return liveHandle(request, live, { seq, generation: begun.head.generation });
}
