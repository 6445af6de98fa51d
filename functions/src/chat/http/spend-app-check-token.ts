import { spentAppCheckTokenPath } from '#shared/conversation/documents/paths.ts';
import { AppError, GuardLostError } from '#shared/errors.ts';
import type { AppCheckToken } from '#shared/ports/identity-ports.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';

/** Beyond the clock tolerance of the verifier: the record outlives the token. */
const KEPT_AFTER_EXPIRY_MS = 60_000;

const replayed = () =>
  new AppError({
    status: 'UNAUTHENTICATED',
    reason: 'APP_CHECK_REPLAYED',
    message: 'an App Check token was sent a second time where one serves once',
    publicMessage:
      'This App Check token has been used. Get a limited-use token for this request and send it once.',
  });

/**
 * Lets an App Check token through once: the first to create its record wins, whichever instance it asks.
 * The record holds nothing but when it may go (a TTL field). Throws APP_CHECK_REPLAYED (UNAUTHENTICATED),
 * StoreUnavailableError.
 */
export async function spendAppCheckToken(
  { store, sha256, randomness }: Pick<ChatDependencies, 'store' | 'sha256' | 'randomness'>,
  { tokenId, expireTime }: AppCheckToken,
): Promise<void> {
  const path = spentAppCheckTokenPath(sha256(tokenId));
  const by = randomness.uuid();
  const keptUntil = new Date(expireTime.getTime() + KEPT_AFTER_EXPIRY_MS);
  try {
    await store.commit([{ op: 'create', path, fields: { by, expireTime: keptUntil } }]);
  } catch (error) {
    if (!(error instanceof GuardLostError)) throw error;
    // The reply to our own create may have been lost and the create repeated.
    const [record] = await store.get([path]);
    if (record?.fields['by'] !== by) throw replayed();
  }
}
