import { parseConfig } from '#functions/config.ts';
import { verifyConversation } from '#infra/ops/verify/verify-conversation.ts';
import { readConversation } from '#shared/conversation/context/read-conversation.ts';
import { contentText, partSchema } from '#shared/models/content.ts';
import { decodeJob } from '#shared/conversation/documents/job.ts';
import { compactionJobPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import type { ChatClient } from '#lab/chat-client/client.ts';
import { sha256 } from '#test/support/signing.ts';
import { checkErased, type ErasedRun } from './check-erased.ts';
import { checkTranscripts, type Transcript, type Finding, hashOf } from './check-transcripts.ts';
import { z } from 'zod';

interface CheckedRun extends ErasedRun {
  /** Threshold of the deployment, tokens. */
  thresholdTokens: number;
  onTranscript: (transcript: Transcript) => void;
}

/** What keeps a conversation from being at rest, in words; empty when it is, or when nobody managed to create it. */
export async function readUnrest(store: DocumentStore, conversationId: string): Promise<string[]> {
  const [conversation, [jobDocument]] = await Promise.all([
    readConversation(store, conversationId),
    store.get([compactionJobPath(conversationId)]),
  ]);
  if (!conversation) return [];
  const { compactionRequests, open, pendingErasure, state } = conversation.value;
  const { auto, manual } = compactionRequests;
  const job = jobDocument && decodeJob(jobDocument).value;
  return [
    ...(auto ? [`an automatic request waits since ${auto.since.toISOString()}`] : []),
    ...(manual ? [`a manual request waits since ${manual.since.toISOString()}`] : []),
    ...(job && job.owner !== '' ? [`a worker holds the lease, step ${job.step}`] : []),
    ...(state === 'erasing' ? ['it is being erased'] : []),
    ...(pendingErasure ? ['deleted turns are not erased yet'] : []),
    ...(open ? [`turn ${open.seq} is open`] : []),
  ];
}

/** What a run calls it when an invariant of the documents does not hold. */
const kinds: Readonly<Record<`I${number}`, Finding['kind']>> = {
  I1: 'lost',
  I2: 'mismatched',
  I3: 'lost',
  I4: 'doubled',
  I5: 'doubled',
  I6: 'unfinished',
  I7: 'leaked',
  I8: 'lost',
};

/** What is unfinished in the documents of a conversation, and what `npm run ops -- verify` finds in them. */
async function checkDocuments(run: CheckedRun, conversationId: string): Promise<Finding[]> {
  const { store, thresholdTokens } = run;
  const config = parseConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-chaos',
    THRESHOLD_TOKENS: String(thresholdTokens),
  });
  const reading = { store, config, sha256, now: () => new Date() };
  const unrest = await readUnrest(store, conversationId);
  const { findings, isBusy } = await verifyConversation(reading, conversationId);
  if (isBusy) unrest.push('it changes, and should rest');
  const conversation = await readConversation(store, conversationId);
  const highest = run.tally.highestGeneration(conversationId);
  const isBack = conversation !== undefined && conversation.value.generation < highest;
  return [
    ...unrest.map((what): Finding => ({ kind: 'unfinished', conversationId, what })),
    ...findings.map(({ group, name, path, is }): Finding => ({
      kind: kinds[group] ?? 'mismatched',
      conversationId,
      what: `${group} ${name} ${path}: ${is}`,
    })),
    ...(isBack
      ? [{ kind: 'lost' as const, conversationId, what: 'the generation went back' }]
      : []),
  ];
}

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

/** The transcript through the public interface, page by page; `undefined` when there is none. */
async function readTranscript(
  client: ChatClient,
  conversationId: string,
): Promise<Transcript | undefined> {
  const base = `/v1/conversations/${conversationId}`;
  const conversation = await client.read(base, conversationSchema);
  if (!conversation) return undefined;
  const pages = await client.readPages(`${base}/messages`, pageSchema);
  const messages = pages.flatMap((page) =>
    page.messages.map(({ id, role, seq, replaces, parts }) => {
      const textHash = hashOf(contentText({ role, parts }));
      return { id, role, seq, replaces, textHash };
    }),
  );
  return { conversationId, lastSeq: conversation.lastSeq, messages };
}

/** Everything that is wrong once all rests: transcripts, documents, generations, what was erased. */
export async function checkEverything(run: CheckedRun): Promise<Finding[]> {
  const { ledger, tally, clientOf } = run;
  const findings: Finding[] = tally.doubledGenerations.map(({ conversationId, generation }) => ({
    kind: 'doubled',
    conversationId,
    what: `two workers made generation ${generation}`,
  }));
  const transcripts: Transcript[] = [];
  for (const [conversationId, uid] of ledger.conversations) {
    const transcript = await readTranscript(clientOf(uid), conversationId);
    findings.push(...(await checkDocuments(run, conversationId)));
    if (!transcript) continue;
    transcripts.push(transcript);
    const ids = transcript.messages.map(({ id }) => id);
    run.onTranscript({ ...transcript, deleted: ids.filter((id) => ledger.deleted.has(id)) });
  }
  return [
    ...findings,
    ...ledger.findings,
    ...checkTranscripts(transcripts, ledger),
    ...(await checkErased(run)),
  ];
}
