import { z } from 'zod';
import {
  decodeConversation,
  type Conversation,
} from '#shared/conversation/documents/conversation.ts';
import { decodeJob, type CompactionJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath, conversationPath } from '#shared/conversation/documents/paths.ts';
import { NewerDocumentError } from '#shared/conversation/documents/schema-version.ts';
import type { StoredDocument } from '#shared/ports/ports.ts';
import { DEAD_LETTER_ATTRIBUTE } from './dead-letter-box.ts';
import type { DeadLetter } from './dead-letter-client.ts';
import type { ReadStore } from '../pages.ts';

/** A dead letter without its body: ids and a reason. */
export interface ExplainedLetter {
  messageId: string;
  publishTime: Date | undefined;
  /** Deliveries in vain, as far as Pub/Sub says it. */
  attempts: number | undefined;
  /** `compact`, `erase`, `sweep`, the type of a told event, or `unreadable`. */
  event: string;
  conversationId?: string;
  requestId?: string;
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

/** What has become of what a dead letter asked for. Pure. */
function explainLetter(facts: {
  event: { conversationId?: string | undefined; requestId?: string | undefined } | undefined;
  /** `newer`: a later release wrote it. */
  conversation: Conversation | 'newer' | undefined;
  job: CompactionJob | 'newer' | undefined;
}): string {
  const { event, conversation, job } = facts;
  if (!event) return 'no event that this version knows: replaying it helps nobody';
  const { conversationId, requestId } = event;
  if (conversationId === undefined) return 'not about one conversation';
  if (!conversation) return 'there is no such conversation, or its head cannot be read';
  if (conversation === 'newer' || job === 'newer')
    return 'a later release wrote it: deploy that one, or a later one, then replay';
  if (conversation.state !== 'live') return `the conversation is ${conversation.state}`;
  const { auto, manual } = conversation.compactionNeeded;
  const record = job?.records.findLast((each) => each.requestId === requestId);
  const outcome =
    record && `${record.state}${record.reason === undefined ? '' : ` ${record.reason}`}`;
  const isNeeded =
    requestId !== undefined && [auto?.requestId, manual?.requestId].includes(requestId);
  if (isNeeded) return `still needed${outcome === undefined ? '' : `, last outcome ${outcome}`}`;
  return outcome === undefined ? 'settled since, no record' : `settled since: ${outcome}`;
}

function decoded<T>(
  document: StoredDocument | undefined,
  decode: (document: StoredDocument) => { value: T },
): T | 'newer' | undefined {
  try {
    return document && decode(document).value;
  } catch (error) {
    return error instanceof NewerDocumentError ? 'newer' : undefined;
  }
}

const attemptsOf = ({ attributes }: DeadLetter): number | undefined => {
  const count = attributes[`${DEAD_LETTER_ATTRIBUTE}SourceDeliveryCount`];
  return count === undefined ? undefined : Number(count);
};

/** What dead letters are about, and why they may have been put aside, by the documents as they are now. */
export async function explainLetters(
  store: ReadStore,
  letters: readonly DeadLetter[],
): Promise<ExplainedLetter[]> {
  return Promise.all(
    letters.map(async (letter) => {
      const event = eventOf(letter);
      const { conversationId, requestId } = event ?? {};
      const [conversation, job] =
        conversationId === undefined
          ? []
          : await store.get([conversationPath(conversationId), compactionJobPath(conversationId)]);
      const { messageId, publishTime } = letter;
      return {
        messageId,
        publishTime,
        attempts: attemptsOf(letter),
        event: event ? (event.kind ?? event.type ?? 'compact') : 'unreadable',
        ...(conversationId !== undefined && { conversationId }),
        ...(requestId !== undefined && { requestId }),
        why: explainLetter({
          event,
          conversation: decoded(conversation, decodeConversation),
          job: decoded(job, decodeJob),
        }),
      };
    }),
  );
}
