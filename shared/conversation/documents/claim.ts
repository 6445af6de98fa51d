import type { Caller, StoredDocument, Write } from '#shared/ports/ports.ts';
import type { Conversation, Versioned } from './conversation.ts';
import { decodeInboxEntry, firstInboxWrites, inboxWrites } from './inbox.ts';
import { claimPath, conversationPath } from './paths.ts';
import { z } from 'zod';

/** How long it is remembered who has taken a guest over, ms: longer than a token of the guest may live. */
const CLAIM_KEPT_MS = 30 * 24 * 60 * 60_000;

const claimSchema = z.object({
  schemaVersion: z.literal(1),
  guestUid: z.string(),
  uid: z.string(),
  state: z.enum(['moving', 'done']),
  /** The conversations that the guest had when it began. */
  conversations: z.number().int().nonnegative(),
  /** Since when it is in this state. */
  time: z.date(),
  /** Of one that is done: when the document goes. */
  expireTime: z.date().optional(),
});

/** `claims/{guest}`: an account takes over what an anonymous user has, whatever becomes of the process that does it. */
export type Claim = z.infer<typeof claimSchema>;

/** Throws ZodError for a shape that this version does not know. */
export const decodeClaim = ({ fields }: Pick<StoredDocument, 'fields'>): Claim =>
  claimSchema.parse(fields);

/** Why a caller may not take a guest over, from what their tokens say and what is stored; undefined: they may. */
export function claimRefusal(
  caller: Pick<Caller, 'uid' | 'tier'>,
  guest: Pick<Caller, 'uid' | 'tier'>,
  claim: Pick<Claim, 'uid'> | undefined,
): 'callerIsGuest' | 'ownToken' | 'notAGuest' | 'claimedByAnother' | undefined {
  if (caller.tier === 'anonymous') return 'callerIsGuest';
  if (guest.uid === caller.uid) return 'ownToken';
  if (guest.tier !== 'anonymous') return 'notAGuest';
  return claim && claim.uid !== caller.uid ? 'claimedByAnother' : undefined;
}

/** Ends a claim of which nothing is left to do. */
export const claimDoneWrite = ({ guestUid }: Pick<Claim, 'guestUid'>, now: Date): Write => ({
  op: 'update',
  path: claimPath(guestUid),
  fields: { state: 'done', time: now, expireTime: new Date(now.getTime() + CLAIM_KEPT_MS) },
  guard: { exists: true },
});

interface Claimed {
  conversation: Versioned<Conversation>;
  /** The entry of the guest's inbox. */
  entry: StoredDocument | undefined;
  /** The document of the turn that is being answered, or waits for the app. */
  open: StoredDocument | undefined;
  uid: string;
  now: Date;
}

/**
 * The one batch that gives a conversation to another account, with what was read of it. Whoever ends the open turn
 * relies on that turn alone, so it changes too: they read it again, and write to the inbox of the new owner.
 */
export function claimedWrites(conversationId: string, claimed: Claimed): Write[] {
  const { conversation, entry, open, uid, now } = claimed;
  const { updateTime, value } = conversation;
  const moved = { ...value, ownerUid: uid };
  const writes: Write[] = [
    {
      op: 'update',
      path: conversationPath(conversationId),
      fields: { ownerUid: uid },
      guard: { updateTime },
    },
  ];
  if (open) {
    const guard = { updateTime: open.updateTime };
    writes.push({ op: 'update', path: open.path, fields: { movedTo: uid }, guard });
  }
  if (!entry) return [...writes, ...firstInboxWrites(conversationId, moved, now)];
  const { readSeq, unread } = decodeInboxEntry(entry);
  return [
    ...writes,
    { op: 'delete', path: entry.path, guard: { updateTime: entry.updateTime } },
    ...inboxWrites(conversationId, moved, { now, read: { readSeq, unread } }),
  ];
}
