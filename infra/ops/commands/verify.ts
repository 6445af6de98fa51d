import { inParallel } from '#shared/lib/in-parallel.ts';
import { CONVERSATIONS } from '#shared/conversation/documents/paths.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { readPages } from '#shared/store/many-documents.ts';
import { lastSegment } from '#shared/store/names.ts';
import { ArgumentError } from '#infra/command-line.ts';
import { opsCommand } from '../command.ts';
import { counted, figure, type Screen } from '../screen.ts';
import { mendInbox } from '#infra/ops/verify/inbox.ts';
import type { Reading } from '#infra/ops/verify/load.ts';
import { verifyConversation, type Verified } from '#infra/ops/verify/verify-conversation.ts';

/** Conversations that are looked at side by side; each is in memory as a whole. */
const AT_ONCE = 4;
const IDS_PER_PAGE = 200;

/** Ids of all conversations in their order, page by page. */
async function* conversationIds(store: DocumentStore, after: string | undefined) {
  const query = { collection: CONVERSATIONS, limit: IDS_PER_PAGE, after };
  for await (const page of readPages(store, query)) yield page.map(({ path }) => lastSegment(path));
}

/** Of conversations that are as they should be, those that were named. */
function tell(screen: Screen, verified: Verified, isNamed: boolean): void {
  const { conversationId, state, findings, turns, generations, isBusy } = verified;
  screen.json(verified);
  if (isBusy)
    screen.print(`${conversationId}  changed all the while it was read; look again later`);
  if (findings.length === 0 && !isNamed) return;
  screen.print(
    state === 'none'
      ? `${conversationId}  there is none`
      : `${conversationId}  ${state}, ${counted(turns, 'turn')}, ${counted(generations, 'generation')}`,
  );
  for (const { group, name, path, is, shouldBe, remedy } of findings)
    screen.print(
      `  ${group} ${name}  ${path}\n     is:        ${is}\n     should be: ${shouldBe}\n     remedy:    ${remedy}`,
    );
}

/** Undefined where a conversation cannot be read: the others are looked at all the same. */
async function verifyOne(
  reading: Reading,
  screen: Screen,
  conversationId: string,
): Promise<Verified | undefined> {
  try {
    return await verifyConversation(reading, conversationId);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    screen.note(`${conversationId} could not be read: ${text}`);
    return undefined;
  }
}

/** Writes the entry of the inbox anew where that is what is wrong, and looks again. */
async function mended(
  store: DocumentStore,
  reading: Reading,
  verified: Verified | undefined,
): Promise<Verified | undefined> {
  if (!verified?.findings.some(({ name }) => name === 'inbox-differs')) return verified;
  const { conversationId } = verified;
  await mendInbox(store, conversationId, reading.now());
  return verifyConversation(reading, conversationId);
}

/**
 * Checks what the documents of conversations say against the invariants. Changes nothing but entries of the inbox, where
 * that is asked for.
 */
export const verifyCommand = opsCommand({
  name: 'verify',
  description: 'Checks the stored documents of conversations against their invariants.',
  args: {
    conversation: { type: 'positional', required: false, description: 'id; more may follow' },
    all: { type: 'boolean', default: false, description: 'all conversations' },
    'mend-inbox': {
      type: 'boolean',
      default: false,
      description: 'write entries of the inbox anew that differ from their conversation',
    },
    after: { type: 'string', valueHint: 'ID', description: 'with --all: go on behind this one' },
  },
  takesMany: true,
  async run({ args, project, screen }) {
    const { chat, tree } = project;
    const ids = args._;
    if (ids.length > 0 === args.all)
      throw new ArgumentError('verify takes ids of conversations, or --all');
    const reading: Reading = {
      store: chat.store,
      sha256: chat.sha256,
      collectionsBelow: tree && ((path) => tree.collectionsBelow(path)),
      now: () => chat.clock.now(),
    };
    let looked = 0;
    let wrong = 0;
    let findings = 0;
    const pages = args.all ? conversationIds(chat.store, args.after) : [ids];
    for await (const page of pages) {
      const results = await inParallel(page, AT_ONCE, async (id) => {
        const verified = await verifyOne(reading, screen, id);
        return args['mend-inbox'] ? mended(chat.store, reading, verified) : verified;
      });
      for (const verified of results) {
        looked += 1;
        if (!verified || verified.findings.length > 0) wrong += 1;
        findings += verified?.findings.length ?? 0;
        if (verified) tell(screen, verified, !args.all);
      }
      screen.progress(
        `${counted(looked, 'conversation')}, ${counted(findings, 'finding')}; go on with --after ${page.at(-1)}`,
      );
    }
    screen.print(
      `${counted(looked, 'conversation')}, ${wrong === 0 ? 'all as they should be' : `${figure(wrong)} of them with ${counted(findings, 'finding')}`}`,
    );
    return wrong === 0 ? 0 : 1;
  },
});
