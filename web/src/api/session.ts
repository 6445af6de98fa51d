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
  uid: string;
  /** An ID token, a new one if forced. Rejects where there is none. */
  token: (isForced: boolean) => Promise<string>;
}

/** What a guest is remembered by. */
type SessionStorage = Pick<Storage, 'getItem' | 'setItem'>;

const REFRESH_TOKEN_KEY = 'recap.refreshToken';
const UID_KEY = 'recap.uid';

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

const post = ({ firebase, fetch: send }: GuestParts, url: string, init: RequestInit) =>
  send(`${url}?key=${encodeURIComponent(firebase.apiKey)}`, { method: 'POST', ...init });

async function readTokens<T>(response: Response): Promise<T> {
  if (!response.ok) throw new Error(`sign-in failed: HTTP ${response.status}`);
  return JSON.parse(await response.text());
}

/** https://cloud.google.com/identity-platform/docs/use-rest-api#section-sign-in-anonymously */
async function signUp(parts: GuestParts): Promise<Tokens> {
  const base = parts.firebase.authUrl ?? 'https://identitytoolkit.googleapis.com';
  const response = await post(parts, `${base}/v1/accounts:signUp`, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ returnSecureToken: true }),
  });
  return readTokens(response);
}

/** https://cloud.google.com/identity-platform/docs/use-rest-api#section-refresh-token */
async function refresh(parts: GuestParts, refreshToken: string): Promise<Tokens> {
  const base = parts.firebase.tokenUrl ?? 'https://securetoken.googleapis.com';
  const body = new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken });
  const response = await post(parts, `${base}/v1/token`, { body });
  // Only a refusal makes a new guest: without a network the old one still has conversations.
  if (response.status === 400) return signUp(parts);
  const answer = await readTokens<{
    id_token: string;
    refresh_token: string;
    expires_in: string;
  }>(response);
  const { id_token: idToken, refresh_token: renewed, expires_in: expiresIn } = answer;
  return { idToken, refreshToken: renewed, expiresIn };
}

/** The tokens of a guest who is known again by a refresh token; one that is no longer taken makes a new guest. */
export function guestTokens(parts: GuestParts): Session['token'] {
  const { storage } = parts;
  let current: Promise<{ idToken: string; expiresAt: number }> | undefined;

  async function signIn() {
    const known = storage.getItem(REFRESH_TOKEN_KEY);
    const tokens = known ? await refresh(parts, known) : await signUp(parts);
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

  return async (isForced) => {
    const signedIn = await (isForced ? begin() : (current ?? begin()));
    if (signedIn.expiresAt - RENEWAL_MARGIN_MS > parts.now()) return signedIn.idToken;
    return (await begin()).idToken;
  };
}

const userOf = (token: string): string =>
  JSON.parse(atob((token.split('.')[1] ?? '').replaceAll('-', '+').replaceAll('_', '/'))).sub;

/** The session of a guest, who is known without a network from the second visit on. */
async function guestSession(parts: GuestParts, restart: () => void): Promise<Session> {
  const token = guestTokens(parts);
  const uid = parts.storage.getItem(UID_KEY) ?? userOf(await token(false));
  parts.storage.setItem(UID_KEY, uid);
  return {
    uid,
    token: async (isForced) => {
      const given = await token(isForced);
      const user = userOf(given);
      if (user === uid) return given;
      // What the page shows, and what it has not sent, is of the guest of before.
      parts.storage.setItem(UID_KEY, user);
      restart();
      throw new Error('another guest is signed in');
    },
  };
}

/** The session of a deployment; `restart` begins anew as another guest. Rejects when its configuration names no way to sign in. */
export async function createSession(
  config: PageConfig,
  storage: SessionStorage,
  restart: () => void,
): Promise<Session> {
  const { token, firebase } = config;
  if (token !== undefined) return { uid: userOf(token), token: () => Promise.resolve(token) };
  if (firebase === undefined)
    throw new Error('/config.json has neither a token nor firebase.apiKey');
  const parts = { firebase, storage, fetch: fetch.bind(globalThis), now: Date.now };
  return guestSession(parts, restart);
}
