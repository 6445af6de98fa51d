import type { OpenedStream, OutgoingMessage, StreamRequest } from './phone-client.ts';
import type { Phone } from './phone.ts';
import { StreamAssembly } from './stream-assembly.ts';

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
export async function resume(phone: Phone): Promise<void> {
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
    phone.note(message, { kind: 'answered', seq, text: assembly.text }, true);
  }
  await phone.sendUntilKnown(message);
}
