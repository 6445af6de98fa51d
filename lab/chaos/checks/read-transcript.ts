import { z } from 'zod';
import { contentText, partSchema } from '#shared/conversation/documents/content.ts';
import type { Transcript } from './check-transcripts.ts';
import { hashOf } from './ledger.ts';
import type { ShownContext } from './shown-context.ts';
import type { PhoneClient } from '../phones/phone-client.ts';

const pageSchema = z.looseObject({
  messages: z.array(
    z.looseObject({
      id: z.string(),
      role: z.enum(['user', 'model']),
      seq: z.number(),
      replaces: z.number().optional(),
      parts: z.array(partSchema),
    }),
  ),
  nextPageToken: z.string().optional(),
});
const conversationSchema = z.looseObject({ lastSeq: z.number() });
const contextSchema = z.looseObject({
  generation: z.number(),
  shrunken: z.unknown().optional(),
  items: z.array(
    z.looseObject({ kind: z.string(), seq: z.number().optional(), content: z.unknown() }),
  ),
});

const TRIES = 5;

/** `undefined` for 404. Throws Error when the service does not answer well, after several tries. */
async function get<T>(
  client: PhoneClient,
  path: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  let last: unknown;
  for (let tries = 0; tries < TRIES; tries += 1) {
    const reply = await client.ask('GET', path);
    if (reply?.status === 200) return schema.parse(reply.body);
    if (reply?.status === 404) return undefined;
    last = reply;
  }
  throw new Error(`GET ${path} does not succeed: ${JSON.stringify(last)}`);
}

/**
 * The transcript through the public interface, page by page; `undefined` when there is none, also when a
 * late request puts it into the bin between two pages.
 */
export async function readTranscript(
  client: PhoneClient,
  conversationId: string,
): Promise<Transcript | undefined> {
  const base = `/v1/conversations/${conversationId}`;
  const conversation = await get(client, base, conversationSchema);
  if (!conversation) return undefined;
  const messages: Transcript['messages'][number][] = [];
  let token: string | undefined;
  do {
    const continued = token === undefined ? '' : `&pageToken=${encodeURIComponent(token)}`;
    const page = await get(client, `${base}/messages?pageSize=100${continued}`, pageSchema);
    if (!page) return undefined;
    for (const { id, role, seq, replaces, parts } of page.messages)
      messages.push({ id, role, seq, replaces, textHash: hashOf(contentText({ role, parts })) });
    token = page.nextPageToken;
  } while (token !== undefined);
  return { conversationId, lastSeq: conversation.lastSeq, messages };
}

export function readShownContext(
  client: PhoneClient,
  conversationId: string,
): Promise<ShownContext | undefined> {
  return get(client, `/v1/conversations/${conversationId}/context`, contextSchema);
}
