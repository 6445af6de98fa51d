import { markErasing } from '#functions/erasure/erase-conversation.ts';
import {
  eraseUserDocuments,
  type EraseUserDependencies,
} from '#functions/erasure/erase-user-documents.ts';
import { publishErase } from '#functions/events/publish-request.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { type Claim, claimDoneWrite, claimedWrites } from '#shared/conversation/documents/claim.ts';
import {
  type Conversation,
  decodeAnyConversation,
} from '#shared/conversation/documents/conversation.ts';
import {
  claimPath,
  CONVERSATIONS,
  conversationPath,
  inboxPath,
  turnPath,
} from '#shared/conversation/documents/paths.ts';
import { inParallel } from '#shared/lib/in-parallel.ts';
import type { DocumentStore, EventPublisher, Logger, StoredDocument } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { lastSegment } from '#shared/store/names.ts';
import { checkClaim, copyUserDocuments } from './copy-user-documents.ts';

/** What a claim works with, in chat and in the sweep. */
interface ClaimDependencies extends EraseUserDependencies {
  publisher: EventPublisher;
  logger: Logger;
}

/** Conversations of one read. */
const PAGE = 100;
/** Conversations that are moved side by side: ten thousand of them within the time of a request. */
const MOVED_AT_ONCE = 10;
/** A pass finds what was begun behind the one before it; a guest who begins more all the while is not waited for. */
const PASSES_MAX = 20;

const conversationPages = (store: Pick<DocumentStore, 'query'>, uid: string) =>
  readPages(store, {
    collection: CONVERSATIONS,
    where: [{ field: 'ownerUid', op: '==', value: uid }],
    limit: PAGE,
  });

/** The conversations that a user finds, in the bin or not. */
export async function countConversations(
  store: Pick<DocumentStore, 'query'>,
  uid: string,
): Promise<number> {
  let count = 0;
  const isFound = ({ fields: { state } }: StoredDocument) =>
    state === 'live' || state === 'deleted';
  for await (const page of conversationPages(store, uid)) count += page.filter(isFound).length;
  return count;
}

/** Gives one conversation to the account. False: it is not the guest's any more, or the claim was dropped. */
async function moveConversation(
  dependencies: ClaimDependencies,
  { guestUid, uid }: Claim,
  conversationId: string,
): Promise<boolean> {
  const { store, clock } = dependencies;
  const isForkOfGuest = ({ state, ownerUid }: Conversation) =>
    state === 'forking' && ownerUid === guestUid;
  return retryWhenLost(clock, async () => {
    const [document, entry, claim] = await store.get([
      conversationPath(conversationId),
      inboxPath(guestUid, conversationId),
      claimPath(guestUid),
    ]);
    if (claim?.fields['uid'] !== uid) return false;
    const conversation = document && decodeAnyConversation(document);
    if (conversation?.value.ownerUid !== guestUid) return false;
    if (isForkOfGuest(conversation.value)) {
      // Whoever is copying it asks as the guest, who has no source of it any more. It moves with the next pass, to be erased.
      await markErasing(dependencies, conversationId, isForkOfGuest);
      await publishErase(dependencies, conversationId);
      return true;
    }
    const { seq } = conversation.value.open ?? {};
    const [open] = seq === undefined ? [] : await store.get([turnPath(conversationId, seq)]);
    const now = clock.now();
    await store.commit(claimedWrites(conversationId, { conversation, entry, open, uid, now }));
    await passCrashPoint(dependencies, 'conversation-claimed');
    return true;
  });
}

/**
 * Moves every conversation of the guest, those that are being erased too: what erases them looks for their files at
 * their owner. Once a pass finds nothing, no fork of one can become the guest's: its source is not (`finishFork`).
 */
async function moveConversations(
  dependencies: ClaimDependencies,
  claim: Claim,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let pass = 1; pass <= PASSES_MAX; pass++) {
    let moved = 0;
    for await (const page of conversationPages(dependencies.store, claim.guestUid)) {
      signal?.throwIfAborted();
      const results = await inParallel(page, MOVED_AT_ONCE, ({ path }) =>
        moveConversation(dependencies, claim, lastSegment(path)),
      );
      moved += results.filter(Boolean).length;
    }
    if (moved === 0) return;
  }
}

/**
 * Moves everything of a guest to the account that has claimed them, and erases what is left of the guest; the bare
 * figures of the day's quota stay the guest's. May stop anywhere and be repeated, also by two at once. Throws the
 * signal's reason, GuardLostError, FILES_UNAVAILABLE, StoreUnavailableError.
 */
export async function runClaim(
  dependencies: ClaimDependencies,
  claim: Claim,
  signal?: AbortSignal,
): Promise<void> {
  const { store, clock } = dependencies;
  await moveConversations(dependencies, claim, signal);
  await copyUserDocuments(dependencies, claim);
  await checkClaim(store, claim);
  await eraseUserDocuments(dependencies, claim.guestUid);
  await store.commit([claimDoneWrite(claim, clock.now())]);
  await passCrashPoint(dependencies, 'claim-done');
}
