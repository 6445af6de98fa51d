import { readBytes } from '#functions/lib/read-bytes.ts';
import { AppError } from '#shared/lib/errors.ts';
import type { AccessTokens, RevocationCheck, SignedInCaller, Clock } from '#shared/ports/ports.ts';
import { googleFetch } from './google-fetch.ts';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';

export interface AccountLookupOptions {
  projectId: string;
  /** Where the Identity Toolkit API is served, without a slash at the end. */
  baseUrl: string;
  accessTokens: AccessTokens;
  clock: Pick<Clock, 'now'>;
  /** Accounts that are remembered. Default 10,000. */
  maxAccounts?: number;
}

/** How long an answer is believed: for so long a revoked sign-in may still be let in. */
const CACHE_MS = 60_000;
/** Accounts that an instance remembers; those that it was asked about last. */
const CACHE_ACCOUNTS = 10_000;
/** Identity Toolkit answers in some tens of milliseconds; the caller waits for it. */
const LOOKUP_TIMEOUT_MS = 5_000;
/** An account is some hundred bytes; with many linked providers some thousand. */
const ANSWER_MAX_BYTES = 256 * 1_024;

/** `accounts:lookup` of Identity Toolkit; fields that are not needed are left unread. */
const answerSchema = z.object({
  users: z
    .array(
      z.object({
        localId: z.string(),
        disabled: z.boolean().optional(),
        /** Seconds; what was signed in before it is revoked. */
        validSince: z.coerce.number().optional(),
      }),
    )
    .optional(),
});

/** What is known of an account; undefined: there is none. */
type Account = { isDisabled: boolean; validSinceSeconds: number } | undefined;

const failed = (problem: string, cause?: unknown) =>
  new AppError({
    reason: 'ACCOUNT_LOOKUP_FAILED',
    message: `an account could not be looked up: ${problem}`,
    publicMessage: 'Sign-in cannot be checked right now. Try again in a moment.',
    retryAfterMs: 1_000,
    cause,
  });

const revoked = () =>
  new AppError({
    reason: 'ID_TOKEN_REVOKED',
    publicMessage: 'The sign-in has been revoked. Sign in again.',
  });

const disabled = () =>
  new AppError({
    reason: 'USER_DISABLED',
    publicMessage: 'The account is disabled. Ask whoever runs this app.',
  });

type Holder = Pick<SignedInCaller, 'uid' | 'tenant'>;

/** Accounts of a tenant stand below it, and are found nowhere else. */
function addressFor({ baseUrl, projectId }: AccountLookupOptions, { tenant }: Holder): string {
  const below = tenant === undefined ? '' : `/tenants/${encodeURIComponent(tenant)}`;
  return `${baseUrl}/v1/projects/${projectId}${below}/accounts:lookup`;
}

async function lookUp(options: AccountLookupOptions, holder: Holder): Promise<Account> {
  const { accessTokens } = options;
  const { uid } = holder;
  const json = { localId: [uid] };
  const request = { method: 'POST', url: addressFor(options, holder), json } as const;
  const response = await googleFetch(accessTokens, request, LOOKUP_TIMEOUT_MS);
  if (!response.ok || !response.body) {
    await response.body?.cancel();
    throw failed(`Identity Toolkit answered ${response.status}`);
  }
  const bytes = await readBytes(response.body, ANSWER_MAX_BYTES);
  const { users = [] } = answerSchema.parse(JSON.parse(bytes.toString('utf8')));
  const user = users.find(({ localId }) => localId === uid);
  return user && { isDisabled: user.disabled === true, validSinceSeconds: user.validSince ?? 0 };
}

/**
 * Asks Identity Toolkit whether an account still stands, at most once a minute for each. An account that
 * cannot be looked up is nobody's pass: ACCOUNT_LOOKUP_FAILED. The service account needs the permission
 * `firebaseauth.users.get`.
 */
export function createAccountRevocationCheck(options: AccountLookupOptions): RevocationCheck {
  const { clock } = options;
  const known = new LRUCache<string, { account: Promise<Account>; atMs: number }>({
    max: options.maxAccounts ?? CACHE_ACCOUNTS,
  });

  function accountOf(holder: Holder): Promise<Account> {
    const nowMs = clock.now().getTime();
    const key = JSON.stringify([holder.tenant, holder.uid]);
    const kept = known.get(key);
    if (kept && nowMs - kept.atMs < CACHE_MS) return kept.account;
    const account = lookUp(options, holder).catch((error: unknown) => {
      known.delete(key);
      throw error instanceof AppError && error.reason === 'ACCOUNT_LOOKUP_FAILED'
        ? error
        : failed('no answer that can be read', error);
    });
    known.set(key, { account, atMs: nowMs });
    return account;
  }

  return {
    check: async (caller) => {
      const { signedInAt } = caller;
      const account = await accountOf(caller);
      if (!account) throw revoked();
      if (account.isDisabled) throw disabled();
      if (signedInAt.getTime() / 1_000 < account.validSinceSeconds) throw revoked();
    },
  };
}
