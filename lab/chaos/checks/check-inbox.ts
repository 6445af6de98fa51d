import { type ChatClient, pathOf } from '#lab/chat-client/client.ts';
import { entryFaults } from '#lab/property/invariants/inbox.ts';
import { conversationPath, inboxPath, turnId } from '#shared/conversation/documents/paths.ts';
import { contentText, partSchema } from '#shared/models/content.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { conversationListResponse, type InboxEntryView } from '#shared/wire/resources/inbox.ts';
import { oneLine } from '#shared/text/cut.ts';
import { readList, type Tablet } from '../phones/tablet.ts';
import type { Tally } from '../report.ts';
import type { Finding, Ledger } from './check-transcripts.ts';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

/** A user and the device that has listened all the while. */
export interface InboxOwner {
  uid: string;
  client: ChatClient;
  tablet: Tablet;
}

const conversationSchema = z.looseObject({ lastSeq: z.number() });
const turnSchema = z.looseObject({ state: z.string() });
const messagesSchema = z.looseObject({
  messages: z.array(
    z.looseObject({
      role: z.enum(['user', 'model']),
      seq: z.number(),
      deleted: z.unknown().optional(),
      parts: z.array(partSchema),
    }),
  ),
});

type Message = z.infer<typeof messagesSchema>['messages'][number];

const wordsOf = ({ role, parts }: Message) => oneLine(contentText({ role, parts })).trim();

/** What a list should show last of these messages: the answer to the last question, where it tells something. */
function lastOf(messages: readonly Message[], lastSeq: number): Message | undefined {
  const ofLast = messages.filter(({ seq }) => seq === lastSeq);
  const answer = ofLast.find(({ role }) => role === 'model');
  const isTold = answer && (wordsOf(answer) !== '' || answer.deleted !== undefined);
  return isTold ? answer : ofLast.find(({ role }) => role === 'user');
}

function lastMessageFaults({ lastMessage }: InboxEntryView, last: Message | undefined): string[] {
  if (!lastMessage || !last) return lastMessage || last ? ['one of both has no message'] : [];
  const { seq, role, preview, deleted = false } = lastMessage;
  if (seq !== last.seq || role !== last.role)
    return [`the list shows ${role} ${seq}, the messages end with ${last.role} ${last.seq}`];
  const words = wordsOf(last);
  const isSame = preview === undefined ? words === '' || deleted : words.startsWith(preview);
  return isSame ? [] : [`the list shows a beginning that ${role} message ${seq} does not have`];
}

/** What the list says otherwise than the conversation itself. */
async function conversationFaults(client: ChatClient, entry: InboxEntryView): Promise<string[]> {
  const { id, lastSeq, state } = entry;
  const conversation = await client.read(pathOf(id), conversationSchema);
  if (!conversation) return ['it is listed, and is not there'];
  const newest = pathOf(id, '/messages?pageSize=10&order=desc');
  const { messages = [] } = (await client.read(newest, messagesSchema)) ?? {};
  const turn =
    lastSeq > 0
      ? await client.read(pathOf(id, `/turns/${turnId(lastSeq)}`), turnSchema)
      : undefined;
  const isStateTrue =
    // One that was cancelled while it waited in the queue was never the one that is told of.
    turn === undefined ||
    turn.state === 'cancelled' ||
    (turn.state === 'failed') === (state === 'failed');
  return [
    ...(conversation.lastSeq === lastSeq
      ? []
      : [`the list has lastSeq ${lastSeq}, the conversation ${conversation.lastSeq}`]),
    ...(isStateTrue ? [] : [`the list says ${state}, and the last turn is ${turn.state}`]),
    ...(state === 'idle' || state === 'failed' ? [] : [`it rests, and the list says ${state}`]),
    ...lastMessageFaults(entry, lastOf(messages, lastSeq)),
  ];
}

/** What a device was told otherwise than the list has it. */
const tabletFaults = (
  told: InboxEntryView | undefined,
  read: InboxEntryView | undefined,
): string[] =>
  isDeepStrictEqual(told, read)
    ? []
    : [`the tablet was told ${JSON.stringify(told)}, the list has ${JSON.stringify(read)}`];

async function ownerFindings(
  { store, tally }: InboxRun,
  { uid, client, tablet }: InboxOwner,
  conversationIds: readonly string[],
): Promise<Finding[]> {
  const listed = await readList(client);
  const unreadPages = await client.readPages(
    '/v1/conversations?unread=true',
    conversationListResponse,
  );
  const unread = unreadPages.flatMap(({ conversations }) => conversations.map(({ id }) => id));
  const findings: Finding[] = [];
  for (const conversationId of new Set([
    ...conversationIds,
    ...listed.keys(),
    ...tablet.list.keys(),
  ])) {
    const [conversation, document] = await store.get([
      conversationPath(conversationId),
      inboxPath(uid, conversationId),
    ]);
    const entry = listed.get(conversationId);
    const isUnread = entry !== undefined && entry.unreadCount > 0 && !entry.archived;
    const faults = [
      ...entryFaults(conversation, document),
      ...tabletFaults(tablet.list.get(conversationId), entry),
      ...(entry ? await conversationFaults(client, entry) : []),
      ...(isUnread === unread.includes(conversationId)
        ? []
        : [`${entry?.unreadCount} answers are unread, and the list of those differs`]),
    ];
    if (entry) tally.listed += 1;
    findings.push(...faults.map((what): Finding => ({ kind: 'inbox', conversationId, what })));
  }
  return findings;
}

interface InboxRun {
  store: DocumentStore;
  ledger: Pick<Ledger, 'conversations'>;
  tally: Pick<Tally, 'listed'>;
}

/** Whether every user's tablet, the list and the conversations themselves say the same, once all rests. */
export async function checkInbox(run: InboxRun, owners: readonly InboxOwner[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const owner of owners) {
    const own = [...run.ledger.conversations].filter(([, uid]) => uid === owner.uid);
    findings.push(
      ...(await ownerFindings(
        run,
        owner,
        own.map(([id]) => id),
      )),
    );
  }
  return findings;
}
