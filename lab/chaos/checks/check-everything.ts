import { parseConfig } from '#functions/config.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { checkErased } from './check-erased.ts';
import { checkStored } from './check-stored.ts';
import { checkTranscripts, type Transcript } from './check-transcripts.ts';
import { type Finding, type Ledger, placeOf } from './ledger.ts';
import type { PhoneClient } from '../phones/phone-client.ts';
import { readShownContext, readTranscript } from './read-transcript.ts';
import { readStoredConversation } from './stored-conversation.ts';
import type { Tally } from './tally.ts';
import { verifyStored } from './verify-stored.ts';

/** The load balancer gives each chat process one of two requests. */
const LOOKS_AT_CONTEXT = 2;

interface CheckedRun {
  store: DocumentStore;
  ledger: Ledger;
  tally: Tally;
  clientOf: (uid: string) => PhoneClient;
  world: { firestoreHost: string; projectId: string };
  /** Threshold of the deployment, tokens. */
  thresholdTokens: number;
  onTranscript: (transcript: Transcript) => void;
}

async function checkDocuments(
  run: CheckedRun,
  conversationId: string,
  client: PhoneClient,
): Promise<Finding[]> {
  const stored = await readStoredConversation(run.store, conversationId);
  if (!stored) return [];
  const config = parseConfig({
    GOOGLE_CLOUD_PROJECT: 'demo-chaos',
    THRESHOLD_TOKENS: String(run.thresholdTokens),
  });
  const findings = checkStored(stored);
  for (let look = 0; look < LOOKS_AT_CONTEXT; look += 1) {
    // Nobody answering is another context than any.
    const shown = (await readShownContext(client, conversationId)) ?? { generation: -1, items: [] };
    const found = await verifyStored({ store: run.store, config, shown }, conversationId);
    findings.push(...found.filter(({ what }) => findings.every((known) => known.what !== what)));
  }
  if (stored.conversation.generation < run.tally.highestGeneration(conversationId))
    findings.push({ kind: 'lost', conversationId, what: 'the generation went back' });
  return findings;
}

/** Everything that is wrong once all rests: transcripts, documents, contexts, generations. */
export async function checkEverything(run: CheckedRun): Promise<Finding[]> {
  const { ledger, tally, clientOf } = run;
  const findings: Finding[] = tally.doubledGenerations.map(({ conversationId, generation }) => ({
    kind: 'doubled',
    conversationId,
    what: `two workers made generation ${generation}`,
  }));
  const transcripts: Transcript[] = [];
  for (const [conversationId, uid] of ledger.conversations) {
    const client = clientOf(uid);
    const transcript = await readTranscript(client, conversationId);
    if (transcript) transcripts.push(transcript);
    findings.push(...(await checkDocuments(run, conversationId, client)));
  }
  for (const transcript of transcripts) {
    const ids = transcript.messages.map(({ id }) => id);
    run.onTranscript({
      ...transcript,
      deleted: ids.filter((messageId) => ledger.deleted.has(placeOf({ ...transcript, messageId }))),
    });
  }
  return [
    ...findings,
    ...ledger.findings,
    ...checkTranscripts(transcripts, ledger),
    ...(await checkErased(run)),
  ];
}
