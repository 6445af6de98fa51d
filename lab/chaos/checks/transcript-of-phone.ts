import type { Transcript } from './check-transcripts.ts';
import type { Phone } from '../phones/phone.ts';
import { readTranscript } from './read-transcript.ts';

export const pathOf = (conversationId: string, rest = '') =>
  `/v1/conversations/${conversationId}${rest}`;

/** The transcript as a phone gets it in the midst of chaos; `undefined` when it does not. */
export async function tryTranscript(
  phone: Phone,
  conversationId: string,
): Promise<Transcript | undefined> {
  try {
    return await readTranscript(phone.options.client, conversationId);
  } catch {
    return undefined;
  }
}
