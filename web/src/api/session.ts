import { ApiError, offline } from './api-error.ts';

/** What the page is told of its deployment, from `/config.json` beside it. */
export interface PageConfig {
  /** Address of the chat function, without a slash at its end. */
  chatUrl: string;
  /** An ID token as it is, where the deployment takes unsigned ones: the local stack. */
  token?: string;
  /** Where guests sign in, with the web key of the project. */
  firebase?: { apiKey: string; authUrl?: string; tokenUrl?: string };
}

/** Reads the configuration. Throws an Error that names the address when there is none. */
export async function readPageConfig(): Promise<PageConfig> {
  const response = await fetch('/config.json', { cache: 'no-store' });
  if (!response.ok) throw new Error(`/config.json: HTTP ${response.status}`);
  const config: PageConfig = JSON.parse(await response.text());
  return { ...config, chatUrl: config.chatUrl.replace(/\/$/, '') };
}

/** Who the page acts for. */
export interface Session {
  /** An ID token; signs a guest in when nobody is. Throws ApiError. */
  token(): Promise<string>;
  /** After a 401: whether another token is worth a try. */
  renew(): Promise<boolean>;
}

/** What a guest is remembered by: the refresh token alone. */
type SessionStorage = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

const REFRESH_TOKEN_KEY = 'recap.refreshToken';

/** Before the end of a token's hour, so that none expires on its way. */
const RENEWAL_MARGIN_MS = 60_000;

interface Tokens {
  idToken: string;
  refreshToken: string;
  /** Seconds. */
  expiresIn: string;
}

interface GuestParts {
  firebase: NonNullable<PageConfig['firebase']>;
  storage: SessionStorage;
  fetch: typeof fetch;
  now: () => number;
}

const given = (token: string): Session => ({
  token: () => Promise.resolve(token),
  renew: () => Promise.resolve(false),
});

async function post<T>(parts: GuestParts, url: string, init: RequestInit): Promise<T> {
  const asked = `${url}?key=${encodeURIComponent(parts.firebase.apiKey)}`;
  const response = await parts.fetch(asked, { method: 'POST', ...init }).catch((error: unknown) => {
    throw offline(error);
  });
  if (!response.ok)
    throw new ApiError({
      code: response.status,
      reason: 'SIGN_IN_FAILED',
      message: `sign-in failed: HTTP ${response.status}`,
    });
  return JSON.parse(await response.text());
}

/** https://cloud.google.com/identity-platform/docs/use-rest-api#section-sign-in-anonymously */
function signUp(parts: GuestParts): Promise<Tokens> {
  const base = parts.firebase.authUrl ?? 'https://identitytoolkit.googleapis.com';
  return post(parts, `${base}/v1/accounts:signUp`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ returnSecureToken: true }),
  });
}

/** https://cloud.google.com/identity-platform/docs/use-rest-api#section-refresh-token */
async function refresh(parts: GuestParts, refreshToken: string): Promise<Tokens> {
  const base = parts.firebase.tokenUrl ?? 'https://securetoken.googleapis.com';
  const answer = await post<{ id_token: string; refresh_token: string; expires_in: string }>(
    parts,
    `${base}/v1/token`,
    { body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }) },
  );
  const { id_token: idToken, refresh_token: renewed, expires_in: expiresIn } = answer;
  return { idToken, refreshToken: renewed, expiresIn };
}

/** A guest who is known again by a refresh token; one that is no longer taken makes a new guest. */
export function guestSession(parts: GuestParts): Session {
  const { storage } = parts;
  let current: Promise<{ idToken: string; expiresAt: number }> | undefined;

  async function signIn() {
    const known = storage.getItem(REFRESH_TOKEN_KEY);
    const tokens = known
      ? await refresh(parts, known).catch((error: unknown) => {
          // Only a refusal makes a new guest: without a network the old one still has conversations.
          if (error instanceof ApiError && error.code === 400) return signUp(parts);
          throw error;
        })
      : await signUp(parts);
    storage.setItem(REFRESH_TOKEN_KEY, tokens.refreshToken);
    return { ...tokens, expiresAt: parts.now() + Number(tokens.expiresIn) * 1_000 };
  }

  /** Calls at the same time share one sign-in; one that failed is tried again by the next. */
  const begin = () => {
    const started = signIn();
    current = started;
    started.catch(() => {
      if (current === started) current = undefined;
    });
    return started;
  };

  return {
    token: async () => {
      const signedIn = await (current ?? begin());
      if (signedIn.expiresAt - RENEWAL_MARGIN_MS > parts.now()) return signedIn.idToken;
      return (await begin()).idToken;
    },
    renew: async () => {
      await begin();
      return true;
    },
  };
}

/** The session of a deployment. Throws an Error when its configuration names no way to sign in. */
export function createSession(config: PageConfig, storage: SessionStorage): Session {
  if (config.token !== undefined) return given(config.token);
  if (config.firebase === undefined)
    throw new Error('/config.json has neither a token nor firebase.apiKey');
  const { firebase } = config;
  return guestSession({ firebase, storage, fetch: fetch.bind(globalThis), now: Date.now });
}
