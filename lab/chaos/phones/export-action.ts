import { z } from 'zod';
import { contentText, partSchema } from '#shared/conversation/documents/content.ts';
import type { Transcript, TranscriptEntry } from '../checks/check-transcripts.ts';
import { hashOf } from '../checks/ledger.ts';
import type { Phone } from './phone.ts';
import { pathOf, tryTranscript } from '../checks/transcript-of-phone.ts';

const TRIES = 4;

const lineSchema = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('conversation'), id: z.string() }),
  z.looseObject({
    type: z.literal('message'),
    conversationId: z.string(),
    id: z.string(),
    role: z.enum(['user', 'model']),
    seq: z.number(),
    parts: z.array(partSchema),
  }),
]);

/** Messages of one conversation in an export of JSON lines. Throws ZodError, SyntaxError. */
function messagesIn(text: string, conversationId: string): TranscriptEntry[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => lineSchema.parse(JSON.parse(line)))
    .flatMap((line) =>
      line.type === 'message' && line.conversationId === conversationId
        ? [{ ...line, textHash: hashOf(contentText({ role: line.role, parts: line.parts })) }]
        : [],
    );
}

/** Every message of the export as it was before or after it, and none left out that was there before. */
export function compareExport(
  found: readonly TranscriptEntry[],
  { before, after }: { before: Transcript; after: Transcript },
): string[] {
  const textsOf = ({ messages }: Transcript) =>
    new Map(messages.map(({ id, textHash }) => [id, textHash]));
  const [earlier, later] = [textsOf(before), textsOf(after)];
  const exported = new Set(found.map(({ id }) => id));
  return [
    ...(exported.size === found.length ? [] : ['a message stands twice in the export']),
    ...found
      .filter(({ id, textHash }) => earlier.get(id) !== textHash && later.get(id) !== textHash)
      .map(({ id }) => `${id} is another in the export than in the transcript`),
    // An answer that was being given may have ended as a failure meanwhile.
    ...before.messages
      .filter(({ id }) => later.has(id) && !exported.has(id))
      .map(({ id }) => `${id} is missing in the export`),
  ];
}

/** The transcript as a file, compared with the transcript page by page. */
export async function compareWithExport(phone: Phone): Promise<void> {
  const { client, random, count } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const before = await tryTranscript(phone, conversationId);
  if (!before) return;
  const [method, path] = random.chance(0.3)
    ? ['POST', '/v1/users/me:export']
    : ['GET', pathOf(conversationId, ':export?format=jsonl')];
  for (let tries = 0; tries < TRIES; tries += 1) {
    const reply = await client.askText(method, path);
    if (reply?.status !== 200) continue;
    const after = await tryTranscript(phone, conversationId);
    if (!after) return;
    count('export: compared');
    const found = messagesIn(reply.text, conversationId);
    for (const what of compareExport(found, { before, after }))
      phone.report('mismatched', { conversationId, what });
    return;
  }
}
