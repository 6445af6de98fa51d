import { type Inheritance, placeOf } from '../checks/ledger.ts';
import type { TranscriptEntry } from '../checks/check-transcripts.ts';
import type { Phone } from './phone.ts';
import { pathOf, tryTranscript } from '../checks/transcript-of-phone.ts';

/** More conversations than this a phone does not begin. */
const MOST_CONVERSATIONS = 5;
/** A source that is busy all the while is left alone. */
const FORK_TRIES = 8;

/** Another answer to the last message. */
export async function regenerate(phone: Phone): Promise<void> {
  const { ledger, random } = phone.options;
  const first = phone.compose();
  await phone.sendUntilKnown(first);
  const { conversationId, messageId: replaces, text } = first;
  if (phone.lastAnswered?.messageId !== replaces) return;
  const again = {
    conversationId,
    messageId: random.uuid(),
    text,
    replaces,
    isRegenerated: true,
  };
  ledger.send(again);
  ledger.canaries.set(again.messageId, ledger.canaries.get(replaces) ?? []);
  await phone.sendUntilKnown(again);
}

/** What the fork must have, as it is in one of the two looks at its source. */
function compareFork(
  phone: Phone,
  copy: { id: string; found: readonly TranscriptEntry[]; seq: number },
  looks: readonly (readonly TranscriptEntry[])[],
): void {
  const upTo = looks.map((messages) => messages.filter((message) => message.seq <= copy.seq));
  const asText = (entries: readonly TranscriptEntry[]) =>
    entries.map(({ id, role, seq, textHash }) => `${seq} ${role} ${id} ${textHash}`).join('\n');
  if (upTo.some((entries) => asText(entries) === asText(copy.found))) return;
  const counts = upTo.map(({ length }) => length).join(' or ');
  phone.report('mismatched', {
    conversationId: copy.id,
    what: `a fork up to turn ${copy.seq} has ${copy.found.length} messages that are not the ${counts} of its source`,
  });
}

/** A copy up to some message, which then goes on as a conversation of its own. */
export async function fork(phone: Phone): Promise<void> {
  const { random, ledger, count, uid } = phone.options;
  if (phone.conversationIds.length >= MOST_CONVERSATIONS) return;
  const source = random.pick(phone.conversationIds);
  const before = await tryTranscript(phone, source);
  if (!before || before.messages.length === 0) return;
  const { id: messageId, seq } = random.pick(before.messages);
  const id = random.uuid();
  for (const message of before.messages) if (message.seq <= seq) ledger.copied.add(message.id);
  const path = pathOf(source, ':fork');
  const call = { method: 'POST', path, body: { messageId, id } };
  const reply = await phone.askUntilKnown(call, FORK_TRIES);
  if (!reply) return;
  if (reply.status >= 300) {
    ledger.oddities.push({ conversationId: source, messageId, what: `fork: ${reply.status}` });
    return;
  }
  count('fork: made');
  const [found, after] = [await tryTranscript(phone, id), await tryTranscript(phone, source)];
  // What it should hold is not known: then nobody looks at it.
  if (!found || !after) return;
  ledger.conversations.set(id, uid);
  compareFork(phone, { id, found: found.messages, seq }, [before.messages, after.messages]);
  const texts = new Map(found.messages.map((message) => [message.id, message.textHash]));
  ledger.inherited.set(id, { source, texts } satisfies Inheritance);
  phone.conversationIds.push(id);
  await phone.sendUntilKnown(phone.compose({ conversationId: id }));
}

/** Undeletes whatever a late request has put into the bin again. */
export async function emptyBin(phone: Phone): Promise<void> {
  for (const conversationId of phone.hidden) await phone.takeOut({ conversationId });
}

/** Into the bin, where nobody finds it, and out again. */
export async function binAndUndelete(phone: Phone): Promise<void> {
  const { random, client, count } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const before = await tryTranscript(phone, conversationId);
  if (!before) return;
  phone.hidden.add(conversationId);
  const message = random.chance(0.4) ? phone.compose({ conversationId }) : undefined;
  const sent = message && phone.trySend(message);
  if (message) await phone.wait(random.integer(0, 200));
  const path = pathOf(conversationId);
  const reply = await phone.askUntilKnown({ method: 'DELETE', path });
  await sent;
  if (reply?.status === 200) {
    const seen = await client.ask('GET', path);
    if (seen?.status === 200)
      phone.report('mismatched', { conversationId, what: 'it is in the bin and found by GET' });
    count('bin: in');
  }
  if (await phone.takeOut({ conversationId })) count('bin: out');
  else if (!phone.options.deadline.aborted)
    phone.report('lost', { conversationId, what: 'it cannot be taken out of the bin' });
  const after = await tryTranscript(phone, conversationId);
  const now = new Map(after?.messages.map((entry) => [entry.id, entry.textHash]));
  for (const entry of after ? before.messages : [])
    if (entry.role === 'user' && now.get(entry.id) !== entry.textHash)
      phone.report('lost', {
        conversationId,
        messageId: entry.id,
        what: 'the bin took or changed it',
      });
  if (message) await phone.sendUntilKnown(message);
}

/** Gone for good, and a new one begun. */
export async function erase(phone: Phone): Promise<void> {
  const { random, ledger, uid, count } = phone.options;
  const index = random.integer(0, phone.conversationIds.length - 1);
  const conversationId = phone.conversationIds[index] ?? '';
  phone.hidden.add(conversationId);
  const isTalking = random.chance(0.5);
  const sent = isTalking ? phone.trySend(phone.compose({ conversationId })) : undefined;
  if (isTalking) await phone.wait(random.integer(0, 200));
  ledger.erase(conversationId, uid);
  const fresh = random.uuid();
  phone.conversationIds[index] = fresh;
  ledger.conversations.set(fresh, uid);
  if (phone.lastAnswered?.conversationId === conversationId) phone.lastAnswered = undefined;
  const path = `${pathOf(conversationId)}?permanent=true`;
  const reply = await phone.askUntilKnown({ method: 'DELETE', path });
  await sent;
  if (phone.lastAnswered?.conversationId === conversationId) phone.lastAnswered = undefined;
  phone.hidden.delete(conversationId);
  // Nothing there to erase, so that a message may begin it; or erased by a try whose reply was lost.
  if (reply?.status === 404) count('erase: nothing there');
  if (reply?.status !== 202) return;
  count('erase: told');
  ledger.erased.set(conversationId, { uid, state: 'told' });
  phone.erased.push(conversationId);
  await lookFor(phone, conversationId);
}

const looks = (random: Phone['options']['random']) =>
  random.pick([
    { method: 'GET', rest: '' },
    { method: 'GET', rest: '/messages' },
    { method: 'GET', rest: '/context' },
    { method: 'GET', rest: '/turns/t_1' },
    { method: 'GET', rest: '/stream' },
    { method: 'POST', rest: ':undelete', body: {} },
    { method: 'POST', rest: ':compact', body: {} },
    { method: 'POST', rest: ':fork', body: { messageId: 'm_1', id: random.uuid() } },
    { method: 'GET', rest: ':export' },
    {
      method: 'POST',
      rest: '/messages',
      body: {
        message: { id: random.uuid(), parts: [{ type: 'text', text: 'Is anybody there?' }] },
      },
    },
  ]);

/** Whatever is asked of an erased conversation: 404. */
async function lookFor(phone: Phone, conversationId: string): Promise<void> {
  const { method, rest, body } = looks(phone.options.random);
  const reply = await phone.options.client.ask(method, pathOf(conversationId, rest), body);
  const isFound = reply && reply.status !== 404 && reply.status !== 429 && reply.status < 500;
  if (!isFound) return;
  phone.report('leaked', {
    conversationId,
    what: `${method} …${rest} of an erased conversation was ${reply.status}`,
  });
}

export async function lookForErased(phone: Phone): Promise<void> {
  if (phone.erased.length > 0) await lookFor(phone, phone.options.random.pick(phone.erased));
}

/** Marks a message as one that is to be deleted; how it stands is told by the caller. */
export const markDeleted = (
  phone: Phone,
  target: { conversationId: string; messageId: string },
  state: 'asked' | 'told',
): void => {
  phone.options.ledger.deleted.set(placeOf(target), state);
};
