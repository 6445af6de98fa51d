import { z } from 'zod';
import type { Random } from '../random.ts';
import {
  type OpenedStream,
  type OutgoingMessage,
  pathOf,
  type StreamRequest,
} from '#lab/chat-client/client.ts';
import type { Phone, PhoneAction } from './phone.ts';
import { StreamAssembly } from '#lab/chat-client/stream-assembly.ts';

async function send(phone: Phone): Promise<void> {
  await phone.sendUntilKnown(phone.compose());
}

/** A library that repeats a request by itself: the same id twice at the same time. */
async function sendTwiceAtOnce(phone: Phone): Promise<void> {
  const message = phone.compose();
  await Promise.all([phone.sendUntilKnown(message), phone.sendUntilKnown(message)]);
}

/** The radio is gone in the midst of the answer, and comes back. */
async function hangUpAndComeBack(phone: Phone): Promise<void> {
  const message = phone.compose();
  const hangUp = AbortSignal.timeout(phone.options.random.integer(1, 250));
  const result = await phone.trySend(message, { transport: 'sse', signal: hangUp });
  if (result.kind === 'again') await phone.sendUntilKnown(message);
}

/** The battery is empty: nobody asks for this answer again. */
async function sendAndNeverComeBack(phone: Phone): Promise<void> {
  const hangUp = AbortSignal.timeout(phone.options.random.integer(1, 150));
  await phone.trySend(phone.compose(), { signal: hangUp });
}

/** The tab was hidden and shown: what is answered is asked for again. */
async function askAgain(phone: Phone): Promise<void> {
  if (phone.lastAnswered) await phone.trySend(phone.lastAnswered);
}

async function compact(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const body = random.chance(0.5) ? { requestId: random.uuid() } : {};
  await client.ask('POST', pathOf(random.pick(phone.conversationIds), ':compact'), body);
}

async function read(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const rest = random.pick(['', '/messages?pageSize=20&order=desc', '/context', '/compactions']);
  await client.ask('GET', pathOf(random.pick(phone.conversationIds), rest));
}

async function setThreshold(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const settings = { thresholdTokens: random.integer(1_000, 1_500) };
  await client.ask('PATCH', pathOf(conversationId), { settings });
  await phone.sendUntilKnown(phone.compose({ conversationId }));
}

/** Answers are shown here, too. */
async function markRead(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const seq = random.integer(0, 20);
  await client.ask('POST', pathOf(random.pick(phone.conversationIds), ':read'), { seq });
}

async function placeInList(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  const patch = { [random.pick(['archived', 'pinned'])]: random.chance(0.5) };
  await client.ask('PATCH', pathOf(random.pick(phone.conversationIds)), patch);
}

const conversationSchema = z.looseObject({ lastSeq: z.number(), generation: z.number() });

async function look(phone: Phone, conversationId: string) {
  const reply = await phone.options.client.ask('GET', pathOf(conversationId));
  return reply?.status === 200 ? conversationSchema.parse(reply.body) : undefined;
}

async function cancel(phone: Phone): Promise<void> {
  const { client, random } = phone.options;
  const message = phone.compose();
  const known = phone.sendUntilKnown(message);
  await phone.wait(random.integer(10, 300));
  const seq = (await look(phone, message.conversationId))?.lastSeq;
  if (seq) await client.ask('POST', pathOf(message.conversationId, `/turns/t_${seq}:cancel`), {});
  await known;
}

async function edit(phone: Phone): Promise<void> {
  const edited = phone.lastAnswered;
  if (!edited) return;
  const { conversationId, messageId } = edited;
  await phone.sendUntilKnown(phone.compose({ conversationId, replaces: messageId }));
}

async function deleteMessage(phone: Phone): Promise<void> {
  const { client, ledger } = phone.options;
  const message = phone.lastAnswered;
  if (!message) return;
  phone.lastAnswered = undefined;
  const { conversationId, messageId } = message;
  ledger.deleted.set(messageId, 'asked');
  const reply = await client.ask('DELETE', pathOf(conversationId, `/messages/${messageId}`));
  if (reply && reply.status < 300) ledger.deleted.set(messageId, 'told');
}

async function restore(phone: Phone): Promise<void> {
  const { client, random } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const current = (await look(phone, conversationId))?.generation ?? 0;
  if (current === 0) return;
  const body = { generation: random.integer(1, current) };
  await client.ask('POST', pathOf(conversationId, ':restore'), body);
}

/** So many messages one after the other, none of them waiting for the answer before. */
async function sendQueued(phone: Phone, count: number): Promise<void> {
  const conversationId = phone.options.random.pick(phone.conversationIds);
  const messages = Array.from({ length: count }, () =>
    phone.compose({ conversationId, onBusy: 'queue' }),
  );
  await Promise.all(messages.map((message) => phone.sendUntilKnown(message)));
}

const queue = (phone: Phone) => sendQueued(phone, phone.options.random.integer(2, 4));

/** More messages than a minute has room for. */
const burst = (phone: Phone) => sendQueued(phone, phone.options.random.integer(8, 16));

/** "No, wait": another message while the first is being answered. */
async function interrupt(phone: Phone): Promise<void> {
  const { random } = phone.options;
  const conversationId = random.pick(phone.conversationIds);
  const first = phone.sendUntilKnown(phone.compose({ conversationId }));
  await phone.wait(random.integer(10, 400));
  const next = phone.compose({ conversationId, onBusy: 'interrupt' });
  await Promise.all([first, phone.sendUntilKnown(next)]);
}

/** Gone for good, and a new one begun. */
async function erase(phone: Phone): Promise<void> {
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
  const status = await phone.deleteUntilKnown(`${pathOf(conversationId)}?permanent=true`);
  await sent;
  if (phone.lastAnswered?.conversationId === conversationId) phone.lastAnswered = undefined;
  phone.hidden.delete(conversationId);
  // Nothing there to erase, so that a message may begin it; or erased by a try whose reply was lost.
  if (status === 404) count('erase: nothing there');
  if (status !== 202) return;
  count('erase: told');
  ledger.erased.set(conversationId, { uid, state: 'told' });
  phone.erased.push(conversationId);
}

const questions = (random: Random) =>
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
      body: { message: { id: random.uuid(), parts: [{ type: 'text', text: 'Hello?' }] } },
    },
  ]);

/** Whatever is asked of an erased conversation: 404. */
async function lookForErased(phone: Phone): Promise<void> {
  const { random, client } = phone.options;
  if (phone.erased.length === 0) return;
  const conversationId = random.pick(phone.erased);
  const { method, rest, body } = questions(random);
  const reply = await client.ask(method, pathOf(conversationId, rest), body);
  const isFound = reply && reply.status !== 404 && reply.status !== 429 && reply.status < 500;
  if (!isFound) return;
  phone.report('leaked', {
    conversationId,
    what: `${method} …${rest} of an erased conversation was ${reply.status}`,
  });
}

/** Connections that one answer is read over, at most. */
const MOST_CONNECTIONS = 30;
/** Times in a row that a look at the turn brings nothing before the message itself is sent again. */
const PATIENCE = 3;
const CHAT_PROCESSES = 2;

/** How far one connection is read before the phone hangs up; far enough means to the end. */
function reach(phone: Phone): { frames: number; signal: AbortSignal } {
  const { random } = phone.options;
  const frames = random.chance(0.8) ? random.integer(0, 5) : Infinity;
  return { frames, signal: AbortSignal.timeout(random.integer(20, 6_000)) };
}

/** Reads frames until there are enough, or the connection ends. */
async function readSome(
  assembly: StreamAssembly,
  stream: Extract<OpenedStream, { kind: 'open' }>,
  frames: number,
): Promise<void> {
  let left = frames;
  try {
    for await (const event of stream.events) {
      assembly.take(event);
      left -= 1;
      if (left < 0) return;
    }
  } catch {
    // Cut, or hung up; what came before stays.
  }
}

const requestOf = (phone: Phone, assembly: StreamAssembly): StreamRequest => {
  const { random } = phone.options;
  // Now and then all over again, as an app does that kept nothing.
  const cursor = random.chance(0.85) ? assembly.lastId : undefined;
  return {
    cursor,
    cursorIn: random.pick(['header', 'query'] as const),
    ...(random.chance(0.5) && { processIndex: random.integer(0, CHAT_PROCESSES - 1) }),
  };
};

/** What the wire does not allow of a reply to a cursor. */
function strangeReply(stream: OpenedStream, assembly: StreamAssembly): string | undefined {
  if (stream.kind === 'empty' && assembly.lastId === undefined)
    return 'a stream without a cursor was 204';
  if (stream.kind === 'empty') return `204 after frame ${assembly.lastId}, before the finish`;
  if (stream.kind === 'refused' && stream.status < 500 && stream.status !== 429)
    return `${stream.status} ${stream.reason} for the cursor ${assembly.lastId}`;
  return undefined;
}

/** Goes on with a stream, connection by connection, until the answer has finished. */
async function goOn(
  phone: Phone,
  turn: { message: OutgoingMessage; seq: number },
  assembly: StreamAssembly,
): Promise<void> {
  const { client, random, deadline, count } = phone.options;
  const { message, seq } = turn;
  const { conversationId } = message;
  let fruitless = 0;
  for (let tries = 0; tries < MOST_CONNECTIONS && !deadline.aborted; tries += 1) {
    if (assembly.isFinished) return;
    const { frames, signal } = reach(phone);
    const request = { ...requestOf(phone, assembly), signal };
    const isSentAgain = fruitless >= PATIENCE || random.chance(0.1);
    const before = assembly.lastId;
    const stream = isSentAgain
      ? await client.openSend(message, request)
      : await client.openTurn({ conversationId, seq }, request);
    const strange =
      isSentAgain && stream.kind !== 'empty' ? undefined : strangeReply(stream, assembly);
    if (strange !== undefined) {
      assembly.problems.push(strange);
      return;
    }
    if (stream.kind === 'open') {
      count(request.cursor === undefined ? 'resume: from the start' : 'resume: with a cursor');
      if (request.processIndex !== undefined) count('resume: at a process of choice');
      assembly.connect(request.cursor);
      await readSome(assembly, stream, frames);
    }
    fruitless = assembly.lastId === before ? fruitless + 1 : 0;
    await phone.wait(random.integer(5, 150));
  }
}

/** The connection is cut, again and again, and the phone goes on each time after the last frame it has. */
async function resume(phone: Phone): Promise<void> {
  const { client, count } = phone.options;
  const message = phone.compose();
  const { conversationId, messageId } = message;
  const assembly = new StreamAssembly();
  const { frames, signal } = reach(phone);
  const first = await client.openSend(message, { signal });
  if (first.kind !== 'open' || first.seq === undefined) return phone.sendUntilKnown(message);
  const { seq } = first;
  phone.options.ledger.promised.set(messageId, seq);
  assembly.connect(undefined);
  await readSome(assembly, first, frames);
  await goOn(phone, { message, seq }, assembly);
  for (const problem of assembly.problems)
    phone.report('torn', {
      conversationId,
      messageId,
      what: `torn stream of turn ${seq}: ${problem}`,
    });
  if (assembly.restarts > 0) count('resume: restarted');
  if (assembly.isFinished && !assembly.hasFailed) {
    count('resume: assembled');
    const { text, generation } = assembly;
    phone.note(message, { kind: 'answered', seq, text, generation }, true);
  }
  await phone.sendUntilKnown(message);
}

export const phoneActions: readonly PhoneAction[] = [
  { name: 'send', weight: 50, run: send },
  { name: 'send twice at once', weight: 8, run: sendTwiceAtOnce },
  { name: 'hang up and come back', weight: 10, run: hangUpAndComeBack },
  { name: 'send and never come back', weight: 2, run: sendAndNeverComeBack },
  { name: 'ask again', weight: 6, run: askAgain },
  { name: 'compact', weight: 4, run: compact },
  { name: 'read', weight: 8, run: read },
  { name: 'set threshold', weight: 4, run: setThreshold },
  { name: 'mark read', weight: 4, run: markRead },
  { name: 'archive or pin', weight: 3, run: placeInList },
  { name: 'cancel', weight: 4, run: cancel },
  { name: 'edit', weight: 6, run: edit },
  { name: 'delete a message', weight: 2, run: deleteMessage },
  { name: 'restore', weight: 1, run: restore },
  { name: 'resume', weight: 20, run: resume },
  { name: 'queue', weight: 6, run: queue },
  { name: 'burst', weight: 3, run: burst },
  { name: 'interrupt', weight: 6, run: interrupt },
  { name: 'erase', weight: 3, run: erase },
  { name: 'look for an erased one', weight: 3, run: lookForErased },
];
