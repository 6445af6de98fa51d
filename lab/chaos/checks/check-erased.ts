import type { Tally } from '#lab/chaos/report.ts';
import { decodeConversation } from '#shared/conversation/documents/conversation.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore, StoredDocument } from '#shared/ports/ports.ts';
import { readableFields } from '#test/support/stores/readable-fields.ts';
import type { ChatClient } from '#lab/chat-client/client.ts';
import { canariesIn } from '../phones/message-text.ts';
import type { Finding, Ledger } from './check-transcripts.ts';
import { z } from 'zod';

export interface ErasedRun {
  store: DocumentStore;
  ledger: Ledger;
  tally: Tally;
  clientOf: (uid: string) => ChatClient;
  world: { firestoreHost: string; projectId: string };
}

type Fate = 'erased' | 'deleted';

/** What should have become of a message; `undefined` when it may stand somewhere. */
function fateOf(ledger: Ledger, target: { conversationId: string; messageId: string }) {
  if (ledger.erased.get(target.conversationId)?.state === 'told') return 'erased';
  return ledger.deleted.get(target.messageId) === 'told' ? 'deleted' : undefined;
}

/**
 * Words that must stand nowhere any more, with the message that they are of: those of erased
 * conversations and of deleted messages, unless another message has them too.
 */
export function soughtWords(
  ledger: Ledger,
): Map<string, { conversationId: string; messageId: string; fate: Fate }> {
  const sought = new Map<string, { conversationId: string; messageId: string; fate: Fate }>();
  const allowed = new Set<string>();
  for (const { conversationId, messageId } of ledger.sent.values()) {
    const fate = fateOf(ledger, { conversationId, messageId });
    for (const word of ledger.canaries.get(messageId) ?? [])
      if (fate) sought.set(word, { conversationId, messageId, fate });
      else allowed.add(word);
  }
  for (const word of allowed) sought.delete(word);
  return sought;
}

const PAGE = 300;

const pageSchema = z.array(
  z.looseObject({
    document: z
      .looseObject({ name: z.string(), fields: z.record(z.string(), z.unknown()).optional() })
      .optional(),
  }),
);

/**
 * Every document of the emulator's default database, whatever collection it stands in. Throws Error when
 * the emulator does not answer well.
 */
async function* scanDatabase(input: ErasedRun['world']) {
  const root = `projects/${input.projectId}/databases/(default)/documents`;
  for (let last: string | undefined; ;) {
    const response = await fetch(`http://${input.firestoreHost}/v1/${root}:runQuery`, {
      method: 'POST',
      headers: { authorization: 'Bearer owner', 'content-type': 'application/json' },
      body: JSON.stringify({
        structuredQuery: {
          // No collection: all of them.
          from: [{ allDescendants: true }],
          orderBy: [{ field: { fieldPath: '__name__' } }],
          limit: PAGE,
          ...(last !== undefined && {
            startAt: { values: [{ referenceValue: last }], before: false },
          }),
        },
      }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`the database cannot be read: ${text.slice(0, 300)}`);
    const documents = pageSchema
      .parse(JSON.parse(text))
      .flatMap(({ document }) => (document ? [document] : []));
    for (const { name, fields = {} } of documents)
      yield { path: name.slice(root.length + 1), fields };
    if (documents.length < PAGE) return;
    last = documents.at(-1)?.name;
  }
}

/** A tombstone says nothing of anybody. */
function checkTombstone(conversationId: string, document: StoredDocument | undefined): Finding[] {
  if (!document) return [];
  const { state, ownerUid, epoch, model, lastSeq } = decodeConversation(document).value;
  const isEmpty = state === 'erased' && !ownerUid && !epoch && !model && !lastSeq;
  const kept = ['title', 'systemInstruction', 'open', 'queue', 'pendingErasure', 'forkedFrom'];
  const left = kept.filter((name) => name in document.fields);
  if (isEmpty && left.length === 0) return [];
  const what = `its tombstone is ${state} and tells of somebody or something ${left.join(', ')}`;
  return [{ kind: 'leaked', conversationId, what }];
}

async function checkAnswers(run: ErasedRun, conversationId: string, uid: string) {
  const reply = await run.clientOf(uid).ask('GET', `/v1/conversations/${conversationId}`);
  if (reply?.status === 404) return [];
  const what = `an erased conversation is answered with ${reply?.status ?? 'nothing'}`;
  return [{ kind: 'leaked', conversationId, what }] satisfies Finding[];
}

async function checkDatabase({ ledger, tally, world }: ErasedRun): Promise<Finding[]> {
  const findings: Finding[] = [];
  const sought = soughtWords(ledger);
  const searched = { documents: 0, words: 0, sought: sought.size };
  for await (const { path, fields } of scanDatabase(world)) {
    searched.documents += 1;
    const [collection, conversationId = '', ...below] = path.split('/');
    const isErased = ledger.erased.get(conversationId)?.state === 'told';
    if (collection === 'conversations' && isErased && below.length > 0)
      findings.push({ kind: 'leaked', conversationId, what: `${path} was not erased` });
    for (const word of new Set(canariesIn(readableFields(fields)))) {
      searched.words += 1;
      const input = sought.get(word);
      if (input) {
        const { fate, ...message } = input;
        findings.push({ kind: 'leaked', ...message, what: `${fate}: its words stand in ${path}` });
      }
    }
  }
  if (searched.words === 0 && ledger.canaries.size > 0)
    throw new Error(
      'the search found no words of any message: it cannot find those of erased ones',
    );
  tally.searched = searched;
  return findings;
}

/**
 * Of erased conversations nothing is left but tombstones, of deleted messages nothing but their places,
 * and no log has words of anybody.
 */
export async function checkErased(run: ErasedRun): Promise<Finding[]> {
  const { ledger, store, tally } = run;
  const findings = await checkDatabase(run);
  for (const [conversationId, { uid, state }] of ledger.erased) {
    if (state !== 'told') continue;
    const [conversation] = await store.get([conversationPath(conversationId)]);
    findings.push(...checkTombstone(conversationId, conversation));
    findings.push(...(await checkAnswers(run, conversationId, uid)));
  }
  for (const line of tally.leaks)
    findings.push({
      kind: 'leaked',
      conversationId: '',
      what: `a log has words of a chat: ${line}`,
    });
  return findings;
}
