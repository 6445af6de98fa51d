import {
  type InboxEntry,
  inboxEntrySchema,
  unreadCount,
} from '#shared/conversation/documents/inbox.ts';
import type { LastMessage } from '#shared/conversation/documents/last-message.ts';
import { flag, pageQuery, time } from '../fields.ts';
import { z } from 'zod';

export const listConversationsQuery = z.strictObject({
  ...pageQuery,
  list: z
    .enum(['active', 'archived', 'deleted'])
    .default('active')
    .describe('`deleted`: those in the bin.'),
  pinned: flag.describe('true: only those.'),
  unread: flag.describe('true: only those.'),
});

export const readBody = z.strictObject({
  seq: z
    .number()
    .int()
    .min(0)
    .max(9_999_999_999)
    .describe(
      'Turn of the last answer that was shown. More than there are answers means all of them; less than before changes nothing.',
    ),
});

/** More than any ID token has. */
const TOKEN_MAX_CHARACTERS = 16_384;

export const claimBody = z.strictObject({
  guestToken: z
    .string()
    .min(1)
    .max(TOKEN_MAX_CHARACTERS)
    .describe('Firebase ID token of the anonymous user, taken before the sign-in.'),
});

export const claimResponse = z.object({
  conversations: z.number().int().describe('As many as the guest had when the claim began.'),
});

const lastMessageResponse = z.object({
  seq: z.number().int(),
  role: z.enum(['user', 'model']),
  time,
  preview: z
    .string()
    .optional()
    .describe('Its first 120 characters on one line; absent: it has no words, or was deleted.'),
  deleted: z.boolean().optional(),
});

/** A conversation as a list shows it. */
export const inboxEntryResponse = z.object({
  id: z.string(),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.string()),
  archived: z.boolean(),
  pinned: z.boolean(),
  state: inboxEntrySchema.shape.state.describe(
    '`waiting`: for the app, which has to answer calls. `failed`: the last turn did.',
  ),
  lastMessage: lastMessageResponse.optional(),
  lastSeq: z.number().int().describe('Number of turns so far.'),
  readSeq: z.number().int().describe('The answers up to this turn were read.'),
  unreadCount: z
    .number()
    .int()
    .describe(
      'Answers that were not read: those after `readSeq`, or one that came again for a turn up to it.',
    ),
  createTime: time,
  activeTime: time.describe('Of the user’s last message, else of the creation.'),
  deleteTime: time.optional().describe('Since when it is in the bin.'),
  purgeTime: time.optional().describe('When it is erased for good unless it is taken back.'),
});
export type InboxEntryView = z.infer<typeof inboxEntryResponse>;

export const conversationListResponse = z.object({
  conversations: z.array(inboxEntryResponse),
  nextPageToken: z.string().optional(),
});

const messageView = (
  role: 'user' | 'model',
  { seq, time: sent, preview, isErased }: LastMessage,
): z.infer<typeof lastMessageResponse> => ({
  seq,
  role,
  time: sent.toISOString(),
  ...(preview !== undefined && { preview }),
  ...(isErased && { deleted: true }),
});

/** The answer where it came after the question and tells something; a failed one tells nothing. */
function lastMessageView({ asked, answered }: InboxEntry) {
  const isTold = answered && (answered.preview !== undefined || answered.isErased === true);
  if (answered && isTold && answered.seq >= (asked?.seq ?? 0))
    return messageView('model', answered);
  return asked && messageView('user', asked);
}

export function inboxEntryView(id: string, entry: InboxEntry): InboxEntryView {
  const lastMessage = lastMessageView(entry);
  return {
    id,
    ...(entry.title !== undefined && { title: entry.title }),
    metadata: entry.metadata ?? {},
    archived: entry.list === 'archived',
    pinned: entry.pinned,
    state: entry.state,
    ...(lastMessage && { lastMessage }),
    lastSeq: entry.lastSeq,
    readSeq: entry.readSeq,
    unreadCount: unreadCount(entry),
    createTime: entry.createTime.toISOString(),
    activeTime: entry.activeTime.toISOString(),
    ...(entry.deleteTime && { deleteTime: entry.deleteTime.toISOString() }),
    ...(entry.purgeTime && { purgeTime: entry.purgeTime.toISOString() }),
  };
}
