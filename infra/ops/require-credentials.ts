import { GoogleAuth } from 'google-auth-library';
import { ArgumentError } from './arguments.ts';

/** Google's clients end the process where there are none, in the middle of a command. Throws ArgumentError. */
export async function requireCredentials(): Promise<void> {
  try {
    await new GoogleAuth().getApplicationDefault();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ArgumentError(
      `there are no credentials for Google Cloud (${why}). Sign in: gcloud auth application-default login`,
    );
  }
}
