import type { Conversation, Versioned } from '#shared/conversation/documents/conversation.ts';
import { queueAfter, type QueuedDecision } from '#shared/conversation/decisions/queue-decision.ts';
import { beginQueuedWrites } from '#shared/conversation/writes/queue-writes.ts';
import type { Replacement } from '#shared/conversation/writes/replacement-writes.ts';
import { takeOverWrites } from '#shared/conversation/writes/take-over-writes.ts';
import {
  startWrites,
  type KeptRounds,
  type Lease,
} from '#shared/conversation/writes/turn-writes.ts';
import type { Write } from '#shared/ports/ports.ts';
import { abandonedTurns, type StartState } from './read-start.ts';
import { resumeWrites } from '#shared/conversation/writes/resume-writes.ts';
import type { Beginning } from './kept-rounds.ts';
import type { SendRequest } from '../send/send-request.ts';
import { newsOfClient, type TurnContext } from './turn-context.ts';
import { regeneratedBy, type Message } from './stored-message.ts';

export interface Draft extends TurnContext {
  request: SendRequest;
  state: StartState;
  decision: Beginning;
  conversation: Versioned<Conversation> | { create: Conversation };
  message: Message;
  replacement: Replacement | undefined;
  lease: Lease;
  /** Of the conversation, as the turn keeps it. */
  model: string;
  userTokens: number;
  foldedInContext: boolean | undefined;
  now: Date;
  /** Of a turn that is taken over. */
  kept?: KeptRounds | undefined;
}

/** A turn that is there already, with the conversation document that it belongs to. */
function stored({ conversation, state, foldedInContext }: Draft) {
  if ('create' in conversation || !state.known) throw new Error('a stored turn has a conversation');
  return { conversation, turnUpdateTime: state.known.updateTime, foldedInContext };
}

/** What still waits once a turn has begun that did, and those before it that are abandoned are closed. */
const queueBehind = (
  { facts }: StartState,
  { seq, abandoned }: Extract<QueuedDecision, { kind: 'beginQueued' }>,
) =>
  queueAfter(
    facts.queue.filter((turn) => !abandoned.includes(turn.seq)),
    seq,
  );

const clientNews = ({ conversation, request }: Draft) =>
  newsOfClient(
    'create' in conversation ? conversation.create.client : conversation.value.client,
    request,
  );

/** Of a turn that no document stands for yet. */
const newTurnWrites = (
  draft: Draft,
  { seq, replaces, abandoned }: Extract<Beginning, { kind: 'start' }>,
): Write[] => {
  const { request, state, surroundings, describedClient } = draft;
  const { userTokens, model, lease, now, replacement } = draft;
  return startWrites({
    conversationId: request.conversationId,
    messageId: request.message.id,
    bodyHash: state.facts.bodyHash,
    seq,
    ...draft.message,
    surroundings,
    describedClient,
    client: clientNews(draft),
    replaces,
    regenerates: regeneratedBy(request, replaces),
    userTokens,
    model,
    lease,
    now,
    conversation: draft.conversation,
    abandoned: abandonedTurns(state, abandoned),
    replacement,
  });
};

/** The one batch with which a turn begins. */
export function beginWrites(draft: Draft): Write[] {
  const { request, state, decision, lease, now, userTokens, model, replacement } = draft;
  const begun = { conversationId: request.conversationId, seq: decision.seq, lease, now, model };
  switch (decision.kind) {
    case 'takeOver':
      return takeOverWrites({
        ...begun,
        attempt: decision.attempt,
        routing: draft.message.routing,
        kept: draft.kept,
        ...stored(draft),
        ...(decision.abandoned && { abandoned: abandonedTurns(state, decision.abandoned) }),
      });
    case 'resume':
      return resumeWrites({
        ...begun,
        attempt: decision.attempt,
        kept: draft.kept ?? decision.kept,
        // Of a turn that nobody noted a model of, nobody knows who signed its calls.
        model: state.known?.value.model && model,
        obsolete: state.known?.piecePaths.slice(state.known.value.userPieces) ?? [],
        ...stored(draft),
      });
    case 'beginQueued':
      return beginQueuedWrites({
        ...begun,
        attempt: decision.attempt,
        userTokens,
        replacement,
        ...stored(draft),
        queue: queueBehind(state, decision),
        abandoned: abandonedTurns(state, decision.abandoned),
      });
    case 'start':
      return newTurnWrites(draft, decision);
  }
}
