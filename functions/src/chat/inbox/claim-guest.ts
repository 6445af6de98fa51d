import { countConversations, runClaim } from '#functions/guests/run-claim.ts';
import { passCrashPoint } from '#functions/lib/crash-points.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { type Claim, claimRefusal, decodeClaim } from '#shared/conversation/documents/claim.ts';
import { claimPath } from '#shared/conversation/documents/paths.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { Caller, SignedInCaller } from '#shared/ports/ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { uidFault } from '../http/authenticate.ts';

/** 400, and not 401: the sign-in of the caller is good. */
const badGuestToken = (problem: string) =>
  new AppError({
    reason: 'GUEST_TOKEN_INVALID',
    publicMessage: `${problem} \`guestToken\` is the ID token of an anonymous user of this project, taken before the sign-in.`,
    metadata: { field: 'guestToken' },
  });

const refusals: Record<NonNullable<ReturnType<typeof claimRefusal>>, () => AppError> = {
  callerIsGuest: () =>
    new AppError({
      reason: 'CALLER_IS_GUEST',
      publicMessage: 'You are anonymous. Sign in, then claim what you had as a guest.',
    }),
  ownToken: () => badGuestToken('The token is your own.'),
  notAGuest: () => badGuestToken('The user of the token has signed in.'),
  claimedByAnother: () =>
    new AppError({
      reason: 'GUEST_CLAIMED',
      publicMessage: 'Another account has taken over what this guest had. Sign in to that one.',
    }),
};

/** Who the token is of. Throws GUEST_TOKEN_INVALID, ACCOUNT_LOOKUP_FAILED, KEYS_UNAVAILABLE. */
async function verifyGuest(
  { config, idTokens, revocations }: ChatDependencies,
  guestToken: string,
): Promise<SignedInCaller> {
  try {
    const guest = await idTokens.verify(guestToken);
    if (config.CHECK_REVOKED !== 'off') await revocations.check(guest);
    const fault = uidFault(guest.uid);
    if (fault !== undefined) throw badGuestToken(`Its user id ${fault}.`);
    return guest;
  } catch (error) {
    if (!(error instanceof AppError) || error.status !== 'UNAUTHENTICATED') throw error;
    throw badGuestToken(error.publicMessage);
  }
}

/** The claim of this caller, stored. Throws what `claimGuest` throws. */
function openClaim(
  dependencies: ChatDependencies,
  caller: Caller,
  guest: SignedInCaller,
): Promise<Claim> {
  const { store, clock } = dependencies;
  const path = claimPath(guest.uid);
  return retryWhenLost(clock, async () => {
    const [document] = await store.get([path]);
    const known = document && decodeClaim(document);
    const refusal = claimRefusal(caller, guest, known);
    if (refusal) throw refusals[refusal]();
    if (known) return known;
    const claim: Claim = {
      schemaVersion: 1,
      guestUid: guest.uid,
      uid: caller.uid,
      state: 'moving',
      conversations: await countConversations(store, guest.uid),
      time: clock.now(),
    };
    await store.commit([{ op: 'create', path, fields: claim }]);
    await passCrashPoint(dependencies, 'claim-begun');
    return claim;
  });
}

/**
 * Moves everything of an anonymous user to the caller. The same request again goes on where it stopped, moves what came
 * since, and answers the same; what nobody comes back for is the sweep's. Throws CALLER_IS_GUEST, GUEST_TOKEN_INVALID, GUEST_CLAIMED, which
 * change nothing, and GuardLostError, FILES_UNAVAILABLE, KEYS_UNAVAILABLE, StoreUnavailableError.
 */
export async function claimGuest(
  dependencies: ChatDependencies,
  { caller, guestToken }: { caller: Caller; guestToken: string },
): Promise<{ conversations: number }> {
  const guest = await verifyGuest(dependencies, guestToken);
  const claim = await openClaim(dependencies, caller, guest);
  // Also one that is done: the guest may have sent more since, before the app signed in.
  await runClaim(dependencies, claim);
  return { conversations: claim.conversations };
}
