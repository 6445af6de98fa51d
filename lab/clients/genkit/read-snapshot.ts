import { answerId } from '#shared/conversation/documents/paths.ts';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import type { CaseWorld } from './case-world.ts';
import type { ChatClient } from './chat-client.ts';
import {
  toFinishReason,
  toMessages,
  toStatus,
  type GenkitMessage,
} from './translate-transcript.ts';

/** Where a snapshot is here: a turn of a conversation. */
export interface Place {
  conversationId: string;
  turnId: string;
}

export const toSnapshotId = ({ conversationId, turnId }: Place): string =>
  `${conversationId}/${turnId}`;

export function toPlace(snapshotId: string): Place {
  const [conversationId = '', turnId = ''] = snapshotId.split('/');
  return { conversationId, turnId: turnId === '' ? 't_1' : turnId };
}

export interface Snapshot {
  status: string;
  finishReason: string | undefined;
  parentId: string | undefined;
  error: object | undefined;
  state: { sessionId: string; messages: GenkitMessage[] };
}

const placeOfTurn = (conversationId: string, seq: number) =>
  toSnapshotId({ conversationId, turnId: `t_${seq}` });

/** The turn as Genkit's snapshot: itself, and the transcript up to it. Throws Refusal. */
export async function readSnapshot(
  client: ChatClient,
  world: CaseWorld,
  place: Place,
): Promise<Snapshot> {
  const { conversationId } = place;
  const turn = await client.turn(conversationId, place.turnId);
  const { forkedFrom } = await client.conversation(conversationId);
  const refs = ({ turnId }: MessageView) =>
    world.snapshots.get(toSnapshotId({ conversationId, turnId }))?.refs ?? [];
  const transcript = await client.messages(conversationId);
  const parent =
    forkedFrom?.seq === turn.seq - 1
      ? placeOfTurn(forkedFrom.conversationId, forkedFrom.seq)
      : placeOfTurn(conversationId, turn.seq - 1);
  const status = toStatus(turn);
  return {
    status,
    finishReason:
      status === 'failed' ? 'failed' : turn.finishReason && toFinishReason(turn.finishReason),
    parentId: turn.seq > 1 ? parent : undefined,
    error: turn.error,
    state: {
      sessionId: conversationId,
      messages: transcript
        .filter(({ seq }) => seq <= turn.seq)
        .flatMap((message) => toMessages(message, refs(message))),
    },
  };
}

/** What the turn said last, when it is the model's. Throws Refusal. */
export async function readLastMessage(client: ChatClient, world: CaseWorld, place: Place) {
  const { conversationId, turnId } = place;
  const { seq } = await client.turn(conversationId, turnId);
  const messages = await client.messages(conversationId);
  const answer = messages.find(({ id }) => id === answerId(seq));
  const refs = world.snapshots.get(toSnapshotId(place))?.refs ?? [];
  return answer && toMessages(answer, refs).at(-1);
}
