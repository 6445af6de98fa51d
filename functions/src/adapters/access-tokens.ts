import type { AccessTokens } from '#shared/ports/ports.ts';

/**
 * Access tokens of the application default credentials: on Google Cloud the function's own account. Google's
 * library is loaded by the first call; it keeps a token until shortly before it expires.
 */
export function createAccessTokens(
  scopes: readonly string[] = ['https://www.googleapis.com/auth/cloud-platform'],
): AccessTokens {
  let loading: Promise<{ getAccessToken(): Promise<string | null | undefined> }> | undefined;
  const load = async () => {
    const { GoogleAuth } = await import('google-auth-library');
    return new GoogleAuth({ scopes: [...scopes] });
  };
  const get = async () => {
    loading ??= load();
    const token = await (await loading).getAccessToken();
    if (!token) throw new Error('the default credentials gave no access token');
    return token;
  };
  return {
    get,
    renew: async (refused) => {
      const known = await get();
      // Somebody else was refused as well, and has got another one already.
      if (known !== refused) return known;
      loading = load();
      return get();
    },
  };
}

/**
 * Google's ID tokens of the application default credentials, made out to `audience`; each is kept until shortly before it
 * expires. Gives the value of the header `Authorization`. Throws Error where there are no credentials.
 */
export function createIdTokens(audience: string): () => Promise<string> {
  let loading: Promise<{ getRequestHeaders(): Promise<Headers> }> | undefined;
  const load = async () => {
    const { GoogleAuth } = await import('google-auth-library');
    return new GoogleAuth().getIdTokenClient(audience);
  };
  return async () => {
    try {
      loading ??= load();
      const headers = await (await loading).getRequestHeaders();
      return headers.get('authorization') ?? '';
    } catch (error) {
      loading = undefined;
      throw error;
    }
  };
}
