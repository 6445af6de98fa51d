import { z } from 'zod';
import { SmokeFailure } from './run-steps.ts';
import { networkFailure } from './smoke-client.ts';

const SIGN_UP = 'https://identitytoolkit.googleapis.com/v1/accounts:signUp';

const answerSchema = z.union([
  z.object({ idToken: z.string() }),
  z.object({ error: z.object({ message: z.string() }) }),
]);

function remedyOf(message: string): string {
  if (message.includes('API key') || message.includes('API_KEY'))
    return 'Take the web API key of the Firebase project (Project settings, General), one that is not restricted to another app.';
  return 'Turn on the provider Anonymous in Firebase Authentication, or give --token of a user.';
}

/**
 * A new anonymous user of the Firebase project of a key, and its ID token. `signUpUrl`: another server than
 * Google's. Throws SmokeFailure.
 */
export async function signInAnonymously(apiKey: string, signUpUrl = SIGN_UP): Promise<string> {
  const tried = `POST ${signUpUrl}`;
  const response = await fetch(`${signUpUrl}?key=${encodeURIComponent(apiKey)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ returnSecureToken: true }),
  }).catch((error: unknown) => {
    throw networkFailure(tried, error);
  });
  const answer = answerSchema.safeParse(await response.json().catch(() => undefined)).data;
  if (answer !== undefined && 'idToken' in answer) return answer.idToken;
  const message = answer?.error.message ?? 'no error of Google’s';
  throw new SmokeFailure({
    tried,
    came: `HTTP ${response.status}, ${message}`,
    remedy: remedyOf(message),
  });
}
