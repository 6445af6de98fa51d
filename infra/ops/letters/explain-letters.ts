import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/read-document.ts';
import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import type { DeadLetter } from './dead-letter-client.ts';
import { DEAD_LETTER_ATTRIBUTE } from './dead-letters.ts';
import { z } from 'zod';

/** A dead letter without its body: ids and a reason. */
export interface ExplainedLetter {
  messageId: string;
  publishTime: Date | undefined;
  /** Deliveries in vain, as far as Pub/Sub says it. */
  attempts: number | undefined;
  /** `compact`, `erase`, `sweep`, the type of a told event, or `unreadable`. */
  event: string;
  conversationId?: string | undefined;
  requestId?: string | undefined;
  why: string;
}

/** Ids and names alone of whatever was published. */
const eventSchema = z.object({
  kind: z.string().max(64).optional(),
  type: z.string().max(64).optional(),
  conversationId: z
    .string()
    .regex(/^[^/]{1,128}$/u)
    .optional(),
  requestId: z.string().max(128).optional(),
});

function eventOf({ data }: DeadLetter): z.infer<typeof eventSchema> | undefined {
  try {
    return eventSchema.safeParse(JSON.parse(data.toString('utf8'))).data;
  } catch {
    return undefined;
  }
}

/** What has become of what a dead letter asked for. */
function explainLetter(
  { conversationId, requestId }: z.infer<typeof eventSchema>,
  document: StoredDocument | undefined,
): string {
  if (conversationId === undefined) return 'not about one conversation';
  if (!document) return 'there is no such conversation';
  let conversation: Conversation;
  try {
    conversation = decodeConversation(document).value;
  } catch (error) {
    return error instanceof NewerDocumentError
      ? 'a later release wrote it: deploy that one, or a later one, then replay'
      : 'the conversation cannot be read';
  }
  if (conversation.state !== 'live') return `the conversation is ${conversation.state}`;
  const { auto, manual } = conversation.compactionRequests;
  const isNeeded =
    requestId !== undefined && [auto?.requestId, manual?.requestId].includes(requestId);
  return isNeeded ? 'still needed' : 'settled since';
}

const attemptsOf = ({ attributes }: DeadLetter): number | undefined => {
  const count = attributes[`${DEAD_LETTER_ATTRIBUTE}SourceDeliveryCount`];
  return count === undefined ? undefined : Number(count);
};

/** What dead letters are about, and why they may have been put aside, by the documents as they are now. */
export async function explainLetters(
  store: Pick<DocumentStore, 'get'>,
  letters: readonly DeadLetter[],
): Promise<ExplainedLetter[]> {
  return Promise.all(
    letters.map(async (letter) => {
      const { messageId, publishTime } = letter;
      const attempts = attemptsOf(letter);
      const event = eventOf(letter);
      if (!event) {
        const why = 'no event that this version knows: replaying it helps nobody';
        return { messageId, publishTime, attempts, event: 'unreadable', why };
      }
      const { kind, type, conversationId, requestId } = event;
      const [conversation] =
        conversationId === undefined ? [] : await store.get([conversationPath(conversationId)]);
      return {
        messageId,
        publishTime,
        attempts,
        event: kind ?? type ?? 'compact',
        conversationId,
        requestId,
        why: explainLetter(event, conversation),
      };
    }),
  );
}
