import { turnId } from '../../../shared/conversation/paths.ts';
import { readTurns } from '../../../shared/conversation/read-conversation.ts';
import { isTerminal } from '../../../shared/conversation/turn.ts';
import { AppError } from '../../../shared/errors.ts';
import type { StreamFrame } from '../../../shared/wire/stream.ts';
import type { ChatDependencies } from './chat-dependencies.ts';
import type { SendHandle, SendRequest } from './send-request.ts';

/** How often a turn of another instance is looked at. */
const FOLLOW_INTERVAL_MS = 250;

type Send = (dependencies: ChatDependencies, request: SendRequest) => Promise<SendHandle>;

/** Resolves when the turn has ended or its lease has run out: then sending again replays or takes over. */
async function untilChanged(
  dependencies: ChatDependencies,
  turn: { conversationId: string; seq: number },
): Promise<void> {
  const { clock, config, store } = dependencies;
  const deadline = clock.now().getTime() + config.TURN_TIMEOUT_MS;
  while (clock.now().getTime() < deadline) {
    const [found] = await readTurns(store, turn.conversationId, [turn.seq]);
    if (!found || isTerminal(found.value.state) || found.value.leaseUntil <= clock.now()) return;
    await clock.wait(FOLLOW_INTERVAL_MS);
  }
  throw new AppError({
    status: 'DEADLINE_EXCEEDED',
    reason: 'TURN_TIMEOUT',
    message: `turn ${turn.seq} of ${turn.conversationId} did not end in ${config.TURN_TIMEOUT_MS} ms`,
    publicMessage: 'The answer takes too long. Send the same message again to look for it.',
    retryable: true,
  });
}

/**
 * Attaches to a turn that another instance is answering: waits for its end and replays it, or takes it
 * over when that instance has gone silent.
 */
export function followTurn(
  dependencies: ChatDependencies,
  request: SendRequest,
  turn: { seq: number; generation: number; sendMessage: Send },
): SendHandle {
  const { conversationId } = request;
  const next = untilChanged(dependencies, { conversationId, seq: turn.seq }).then(() =>
    turn.sendMessage(dependencies, request),
  );
  const result = next.then((handle) => handle.result);
  result.catch(() => undefined);
  async function* frames(): AsyncIterable<StreamFrame> {
    yield* (await next).frames();
  }
  return {
    turnId: turnId(turn.seq),
    conversationId,
    generation: turn.generation,
    replayed: true,
    frames,
    result,
  };
}
